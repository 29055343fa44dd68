import type { Account, StateView } from '#evm/ports'
import { bytesFromBigint } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256, keccak256Text } from '#lib/keccak'
import { encodeRlp, rlpScalar } from '#lib/rlp'
import { buildTrie } from '#trie/buildTrie'
import { emptyCodeHash, type Hash, hashFromBytes } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import type { StateTest } from './stateTestCases.ts'

type Slots = ReadonlyMap<string, Uint8Array>
type WorldAccount = { readonly account: Account; readonly slots: Slots }

/** A whole state in memory, by hashed keys in hex. */
export type World = { readonly accounts: ReadonlyMap<string, WorldAccount>; readonly codes: ReadonlyMap<Hash, Uint8Array> }

const isZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0)
const scalar = (word: Uint8Array): Uint8Array => rlpScalar(BigInt(toHex(word)))

function rootOf(entries: Iterable<readonly [string, Uint8Array]>): Hash {
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
  return buildTrie(sorted.map(([key, value]) => ({ key: fromHex(key), value }))).root
}

function storageRootOf(slots: Slots): Hash {
  return rootOf([...slots].map(([key, word]) => [key, encodeRlp(scalar(word))] as const))
}

/** The state root of a world, every node built from scratch. */
export function worldRoot(world: World): Hash {
  const leaf = ({ nonce, balance, storageRoot, codeHash }: Account): Uint8Array =>
    encodeRlp([rlpScalar(nonce), rlpScalar(balance), fromHex(storageRoot), fromHex(codeHash)])
  return rootOf([...world.accounts].map(([key, { account }]) => [key, leaf(account)] as const))
}

export function createWorld(pre: StateTest['pre']): World {
  const accounts = new Map<string, WorldAccount>()
  const codes = new Map<Hash, Uint8Array>()
  for (const [address, { nonce, balance, code, storage }] of Object.entries(pre)) {
    const slots = new Map<string, Uint8Array>()
    for (const [number, value] of Object.entries(storage)) {
      const word = bytesFromBigint(BigInt(value), 32)
      if (!isZero(word)) slots.set(toHex(keccak256(bytesFromBigint(BigInt(number), 32))), word)
    }
    const bytes = fromHex(code)
    const codeHash = bytes.length === 0 ? emptyCodeHash : hashFromBytes(keccak256(bytes))
    codes.set(codeHash, bytes)
    const account = { nonce: BigInt(nonce), balance: BigInt(balance), codeHash, storageRoot: storageRootOf(slots) }
    accounts.set(toHex(keccak256(fromHex(address))), { account, slots })
  }
  return { accounts, codes }
}

/** The hash of block n is keccak of n in decimal digits: so the public format has it. */
export function worldView(world: World): StateView {
  return {
    account: (key) => world.accounts.get(toHex(key))?.account,
    slot: (addressKey, slotKey) => world.accounts.get(toHex(addressKey))?.slots.get(toHex(slotKey)),
    code(codeHash): Uint8Array {
      const code = world.codes.get(codeHash)
      if (!code) throw new Error(`no code ${codeHash}`)
      return code
    },
    blockHash: (number) => hashFromBytes(keccak256Text(`${number}`)),
  }
}

/** The world after a diff. */
export function applyDiff(world: World, diff: StateDiff): World {
  const slotsOf = new Map<string, Map<string, Uint8Array>>()
  for (const { addressKey, slotKey, value } of diff.slots()) {
    const key = toHex(addressKey)
    let slots = slotsOf.get(key)
    if (!slots) {
      slots = new Map(diff.isWiped(addressKey) ? [] : world.accounts.get(key)?.slots)
      slotsOf.set(key, slots)
    }
    if (isZero(value)) slots.delete(toHex(slotKey))
    else slots.set(toHex(slotKey), value)
  }
  const accounts = new Map(world.accounts)
  for (const { key: keyBytes, change, wiped } of diff.accounts()) {
    const key = toHex(keyBytes)
    const before = wiped ? undefined : world.accounts.get(key)
    if (change === null) accounts.delete(key)
    else
      accounts.set(key, {
        account: { ...change, storageRoot: before?.account.storageRoot ?? storageRootOf(new Map()) },
        slots: before?.slots ?? new Map(),
      })
  }
  for (const [key, slots] of slotsOf) {
    const kept = accounts.get(key)
    if (!kept) throw new Error(`slots of ${key}, which is not there`)
    accounts.set(key, { account: { ...kept.account, storageRoot: storageRootOf(slots) }, slots })
  }
  return { accounts, codes: new Map([...world.codes, ...[...diff.codes()].map(({ hash, code }) => [hash, code] as const)]) }
}
