import type { StateView } from '#evm/ports'
import { bytesFromBigint, trimLeft } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256, keccak256Text } from '#lib/keccak'
import { encodeRlp, rlpScalar } from '#lib/rlp'
import { buildTrie } from '#test/harness/chain/buildTrie'
import type { NodeSource } from '#trie/ports'
import type { Account } from '#types/account'
import { emptyCodeHash, type Hash, hashFromBytes } from '#types/ids'
import type { StateTest } from './stateTestCases.ts'

/** State before a test; every trie is built from scratch. */
export type World = { readonly root: Hash; readonly view: StateView; readonly nodes: NodeSource }

type Slots = ReadonlyMap<string, Uint8Array>

function hashedSlots(storage: Readonly<Record<string, string>>): Map<string, Uint8Array> {
  const slots = new Map<string, Uint8Array>()
  for (const [number, value] of Object.entries(storage)) {
    if (BigInt(value) !== 0n) slots.set(toHex(keccak256(bytesFromBigint(BigInt(number), 32))), bytesFromBigint(BigInt(value), 32))
  }
  return slots
}

/** Tries whose nodes are stored by owner and path. */
function createForest(): { plant(owner: string, leaves: ReadonlyMap<string, Uint8Array>): Hash; nodes: NodeSource } {
  const kept = new Map<string, Uint8Array>()
  return {
    plant(owner, leaves): Hash {
      const entries = [...leaves].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => ({ key: fromHex(key), value }))
      const { root, changes } = buildTrie(entries)
      for (const { path, node } of changes) if (node) kept.set(`${owner}/${toHex(path)}`, node)
      return root
    },
    nodes: { get: (owner, path) => kept.get(`${owner ? toHex(owner) : ''}/${toHex(path)}`) },
  }
}

const slotLeaf = (word: Uint8Array): Uint8Array => encodeRlp(trimLeft(word))
const accountLeaf = ({ nonce, balance, storageRoot, codeHash }: Account): Uint8Array =>
  encodeRlp([rlpScalar(nonce), rlpScalar(balance), fromHex(storageRoot), fromHex(codeHash)])

/** Creates a state. The hash of block n is the keccak of n in decimal digits, as the public format requires. */
export function createWorld(pre: StateTest['pre']): World {
  const forest = createForest()
  const accounts = new Map<string, { readonly account: Account; readonly slots: Slots }>()
  const codes = new Map<Hash, Uint8Array>()
  for (const [address, { nonce, balance, code, storage }] of Object.entries(pre)) {
    const key = toHex(keccak256(fromHex(address)))
    const slots = hashedSlots(storage)
    const storageRoot = forest.plant(key, new Map([...slots].map(([slot, word]) => [slot, slotLeaf(word)])))
    const bytes = fromHex(code)
    const codeHash = bytes.length === 0 ? emptyCodeHash : hashFromBytes(keccak256(bytes))
    codes.set(codeHash, bytes)
    accounts.set(key, { account: { nonce: BigInt(nonce), balance: BigInt(balance), codeHash, storageRoot }, slots })
  }
  const root = forest.plant('', new Map([...accounts].map(([key, { account }]) => [key, accountLeaf(account)])))
  const view: StateView = {
    account: (key) => accounts.get(toHex(key))?.account,
    slot: (addressKey, slotKey) => accounts.get(toHex(addressKey))?.slots.get(toHex(slotKey)),
    code(codeHash): Uint8Array {
      const code = codes.get(codeHash)
      if (!code) throw new Error(`code ${codeHash} not found`)
      return code
    },
    blockHash: (number) => hashFromBytes(keccak256Text(`${number}`)),
  }
  return { root, view, nodes: forest.nodes }
}
