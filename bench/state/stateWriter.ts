import { messagePasser } from '#chainspec/addresses'
import type { GenesisAccount } from '#chainspec/genesis'
import { bytesFromBigint, compareBytes, trimLeft } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { emptyCodeHash, emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import { StateBuilder } from '../../src/snapshot/load/stateBuilder.ts'
import type { BulkWriter } from '../../src/store/bulk/bulkWriter.ts'
import { HashOrder } from './hashOrder.ts'
import type { Code, StateModel } from './model.ts'

export type StateRoots = { readonly stateRoot: Hash; readonly messagePasserStorageRoot: Hash }

/** An account and its slots, ascending by key. */
type SortedAccount = {
  readonly key: Uint8Array
  readonly nonce: bigint
  readonly balance: bigint
  readonly code: Code
  readonly slots: Iterable<{ readonly key: Uint8Array; readonly value: Uint8Array }>
}

/**
 * Writes the accounts of a model, and others, with slots, codes and trie nodes, in the order of their keys.
 * @param others accounts that are not in the model: predeploys, senders
 * @param onDone called after each account with its number of slots
 */
export function writeModel(
  rows: BulkWriter,
  model: StateModel,
  others: readonly GenesisAccount[],
  onDone: (slots: number) => void,
): StateRoots {
  const codes = new Set<Hash>()
  const builder = new StateBuilder({
    onRows: (packed) => {
      rows.putPacked(packed)
      if (rows.isDue) rows.flush()
    },
  })
  const passerKey = keccak256(fromHex(messagePasser))
  let messagePasserStorageRoot = emptyRoot
  for (const { key, nonce, balance, code, slots } of sortedAccounts(model, others)) {
    const hasCode = code.hash !== emptyCodeHash
    if (hasCode && !codes.has(code.hash)) {
      codes.add(code.hash)
      builder.code(code.code)
    }
    builder.account(key, nonce, balance, hasCode ? fromHex(code.hash) : undefined)
    let count = 0
    for (const slot of slots) {
      builder.slot(slot.key, slot.value)
      count++
    }
    const storageRoot = builder.endAccount()
    if (storageRoot && compareBytes(key, passerKey) === 0) messagePasserStorageRoot = hashFromBytes(storageRoot)
    onDone(count)
  }
  const stateRoot = builder.end()
  return { stateRoot, messagePasserStorageRoot }
}

function* sortedAccounts(model: StateModel, others: readonly GenesisAccount[]): Generator<SortedAccount> {
  const waiting = others.map(sortedOther).sort((a, b) => compareBytes(b.key, a.key))
  const slotOrder = new HashOrder()
  for (const { index, key } of new HashOrder().of(model.spec.accounts, (at) => keccak256(model.addressOf(at)))) {
    for (let next = waiting.at(-1); next !== undefined && compareBytes(next.key, key) < 0; next = waiting.at(-1)) {
      waiting.pop()
      yield next
    }
    const { nonce, balance, code, rank } = model.account(index)
    yield { key, nonce, balance, code, slots: rank === undefined ? [] : sortedSlots(model, rank, slotOrder) }
  }
  for (const next of waiting.reverse()) yield next
}

function* sortedSlots(
  model: StateModel,
  rank: number,
  order: HashOrder,
): Generator<{ readonly key: Uint8Array; readonly value: Uint8Array }> {
  for (const { index, key } of order.of(model.slotsOf(rank), (at) => keccak256(model.slotNumber(rank, at)))) {
    yield { key, value: model.slotValue(rank, index) }
  }
}

function sortedOther({ address, nonce, balance, code, storage }: GenesisAccount): SortedAccount {
  const slots = Array.from(storage, ([slot, value]) => ({ key: keccak256(fromHex(slot)), value: trimLeft(bytesFromBigint(value, 32)) }))
  return {
    key: keccak256(fromHex(address)),
    ...{ nonce, balance },
    code: { code, hash: code.length === 0 ? emptyCodeHash : hashFromBytes(keccak256(code)) },
    slots: slots.sort((a, b) => compareBytes(a.key, b.key)),
  }
}
