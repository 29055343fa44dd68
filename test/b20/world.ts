import type { StateView } from '#evm/ports'
import { bytesFromBigint, trimLeft } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp, rlpScalar } from '#lib/rlp'
import { buildTrie } from '#test/harness/chain/buildTrie'
import { emptyCodeHash, emptyRoot, type Hash, hashFromBytes, zeroHash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import type { VectorAccount, VectorState } from './vectors.ts'

type Entry = { nonce: bigint; balance: bigint; codeHash: Hash; readonly slots: Map<string, Uint8Array> }

const newEntry = (): Entry => ({ nonce: 0n, balance: 0n, codeHash: emptyCodeHash, slots: new Map() })

export const addressKeyOf = (address: string): string => toHex(keccak256(fromHex(address)))
export const slotKeyOf = (slot: string): string => toHex(keccak256(bytesFromBigint(BigInt(slot), 32)))
export const codeHashOf = (code: string): Hash => (code === '0x' ? emptyCodeHash : hashFromBytes(keccak256(fromHex(code))))

/** A small state by hashed keys, changed by the diff of each transaction. */
export class VectorWorld {
  readonly #entries = new Map<string, Entry>()
  readonly #codes = new Map<Hash, Uint8Array>()

  constructor(pre: VectorState) {
    for (const [address, account] of Object.entries(pre)) this.#put(addressKeyOf(address), account)
  }

  #put(key: string, { balance, nonce, code, storage }: VectorAccount): void {
    const bytes = fromHex(code ?? '0x')
    const codeHash = codeHashOf(code ?? '0x')
    this.#codes.set(codeHash, bytes)
    const slots = Object.entries(storage ?? {}).map(([slot, value]) => [slotKeyOf(slot), bytesFromBigint(BigInt(value), 32)] as const)
    this.#entries.set(key, { nonce: BigInt(nonce ?? 0), balance: BigInt(balance ?? 0), codeHash, slots: new Map(slots) })
  }

  /** Returns a view that is valid until the next `apply`. */
  view(): StateView {
    return {
      account: (key) => {
        const entry = this.#entries.get(toHex(key))
        return entry && { nonce: entry.nonce, balance: entry.balance, codeHash: entry.codeHash, storageRoot: rootMark(entry) }
      },
      slot: (addressKey, slotKey) => this.#entries.get(toHex(addressKey))?.slots.get(toHex(slotKey)),
      code: (hash) => {
        const code = this.#codes.get(hash)
        if (code === undefined) throw new RangeError(`no code ${hash}`)
        return code
      },
      blockHash: () => undefined,
    }
  }

  /** Applies a diff. @returns the changed fields and slots, as text by hashed key */
  apply(diff: StateDiff): string[] {
    const changes: string[] = []
    for (const { hash, code } of diff.codes()) this.#codes.set(hash, code)
    for (const { key, change } of diff.accounts()) {
      const entry = this.#entryOf(toHex(key))
      const { nonce, balance, codeHash } = change ?? newEntry()
      if (nonce !== entry.nonce) changes.push(`${toHex(key)} nonce ${nonce}`)
      if (balance !== entry.balance) changes.push(`${toHex(key)} balance ${balance}`)
      if (codeHash !== entry.codeHash) changes.push(`${toHex(key)} code ${codeHash}`)
      Object.assign(entry, { nonce, balance, codeHash })
    }
    for (const { addressKey, slotKey, value } of diff.slots()) {
      changes.push(`${toHex(addressKey)} ${toHex(slotKey)} ${toHex(trimLeft(value))}`)
      const { slots } = this.#entryOf(toHex(addressKey))
      if (trimLeft(value).length === 0) slots.delete(toHex(slotKey))
      else slots.set(toHex(slotKey), value)
    }
    return changes.toSorted()
  }

  /** Returns the slots of a diff as text, without applying it. */
  changesIn(diff: StateDiff): string[] {
    return [...diff.slots()].map(({ addressKey, slotKey, value }) => `${toHex(addressKey)} ${toHex(slotKey)} ${toHex(value)}`)
  }

  #entryOf(key: string): Entry {
    const known = this.#entries.get(key)
    if (known) return known
    const entry = newEntry()
    this.#entries.set(key, entry)
    return entry
  }

  /** Computes the state root; empty accounts are not part of it. */
  root(): Hash {
    const leaves = new Map<string, Uint8Array>()
    for (const [key, { nonce, balance, codeHash, slots }] of this.#entries) {
      if (nonce === 0n && balance === 0n && codeHash === emptyCodeHash && slots.size === 0) continue
      const storageRoot = trieRoot(new Map([...slots].map(([slot, value]) => [slot, encodeRlp(trimLeft(value))])))
      leaves.set(key, encodeRlp([rlpScalar(nonce), rlpScalar(balance), fromHex(storageRoot), fromHex(codeHash)]))
    }
    return trieRoot(leaves)
  }
}

/** Sessions only compare the root with the empty one. */
const rootMark = ({ slots }: Entry): Hash => (slots.size === 0 ? emptyRoot : zeroHash)

function trieRoot(leaves: ReadonlyMap<string, Uint8Array>): Hash {
  const sorted = [...leaves].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => ({ key: fromHex(key), value }))
  return buildTrie(sorted).root
}
