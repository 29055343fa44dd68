import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { keccak256 } from '#lib/keccak'
import { openLmdbKv } from '#store/lmdbKv'
import type { Kv, KvWriter } from '#store/ports'
import { tables } from '#store/tables'
import { longStateContract, stateContract } from '#test/contract/state'
import { stateStackContract } from '#test/contract/stateStack'
import { sampleOf } from '#test/harness/sample'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { isLeafRlp } from '#trie/node'
import { emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import type { StateDiff, StateDiffParts } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'
import { latestState, stateAt, writeGenesis, writeState } from './chainState.ts'
import { computeStateRoot } from './stateRoot.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-state-'))
let dirs = 0
const newDir = (): string => join(base, String(dirs++))

afterAll(() => rmSync(base, { recursive: true, force: true }))

const openLmdb = (): Kv => openLmdbKv(newDir(), Object.values(tables))
stateContract('memory', createMemoryKv, sampleOf(5, 25))
stateContract('lmdb', openLmdb, sampleOf(2, 6))
longStateContract('memory', createMemoryKv)
for (const open of sampleOf([], [openLmdb])) longStateContract('lmdb', open)
stateStackContract('memory', createMemoryKv, sampleOf(8, 15))
stateStackContract('lmdb', openLmdb, sampleOf(3, 5))

it('state/chainState: reads states between blocks that change many rows and blocks that change few', () => {
  const kv = createMemoryKv()
  const noHash = (): undefined => undefined
  const keyOf = (index: number): Uint8Array => keccak256(Uint8Array.of(index >> 8, index & 0xff))
  const diffOf = (accounts: number, nonce: bigint): StateDiff => {
    const change = { nonce, balance: 1n, codeHash: emptyCodeHash }
    const sorted = Array.from({ length: accounts }, (_, index) => keyOf(index)).sort(Buffer.compare)
    return createStateDiff({ accounts: sorted.map((key) => ({ key, change, wiped: false })), slots: [], codes: [] })
  }
  let root: Hash = emptyRoot
  const append = (number: number, diff: StateDiff): void => {
    using reader = kv.snapshot()
    const { nodes } = latestState(reader, noHash)
    const result = computeStateRoot(nodes, root, diff)
    root = result.root
    kv.write((tx) => (number === 0 ? writeGenesis(tx, diff, result) : writeState(tx, number, diff, result)))
  }
  const sizes = [1, 10, 20, 512, 3, 520, 2]
  for (const [number, size] of sizes.entries()) append(number, diffOf(size, BigInt(number)))
  using reader = kv.snapshot()
  const noncesAt = (index: number): (bigint | undefined)[] =>
    sizes.map((_, number) => stateAt(reader, number, noHash).view.account(keyOf(index))?.nonce)
  expect(noncesAt(0)).toEqual([0n, 1n, 2n, 3n, 4n, 5n, 6n])
  expect(noncesAt(15)).toEqual([undefined, undefined, 2n, 3n, 3n, 5n, 5n])
  expect(noncesAt(450)).toEqual([undefined, undefined, undefined, 3n, 3n, 5n, 5n])
  // many reads of one state switch to loading all changes of the next block
  const allAt = sizes.map((_, number) => {
    const { view } = stateAt(reader, number, noHash)
    return Array.from({ length: 520 }, (_, index) => view.account(keyOf(index))?.nonce)
  })
  const lastChange = (index: number, number: number): number => sizes.findLastIndex((size, at) => at <= number && size > index)
  const nonceOf = (last: number): bigint | undefined => (last < 0 ? undefined : BigInt(last))
  expect(allAt).toEqual(sizes.map((_, number) => Array.from({ length: 520 }, (_, index) => nonceOf(lastChange(index, number)))))
})

/** Chain of states that are given as diffs. Keys of accounts and slots are bytes repeated. */
class Chain {
  readonly #kv: Kv = createMemoryKv()
  #root: Hash = emptyRoot
  #next = 0

  /** @returns the changed nodes, and how many rows of nodes the writer read */
  append({ accounts = [], slots = [] }: Partial<StateDiffParts>): {
    readonly nodes: readonly (Uint8Array | null)[]
    readonly reads: number
  } {
    using reader = this.#kv.snapshot()
    const diff = createStateDiff({ accounts, slots, codes: [] })
    const result = computeStateRoot(latestState(reader, () => undefined).nodes, this.#root, diff)
    const number = this.#next++
    let reads = 0
    this.#root = result.root
    this.#kv.write((tx) => {
      if (number === 0) return writeGenesis(tx, diff, result)
      const peek: KvWriter['peek'] = (table, key, use) => {
        if (table === tables.accountNodes.id || table === tables.storageNodes.id) reads++
        return tx.peek(table, key, use)
      }
      const counting: KvWriter = { ...memberwise(tx), peek }
      writeState(counting, number, diff, result)
    })
    return { nodes: Array.from(result.nodes, ({ node }) => node), reads }
  }

  rows(table: { readonly id: number }): number {
    using reader = this.#kv.snapshot()
    return [...reader.keys(table.id, {})].length
  }
}

const memberwise = (tx: KvWriter): KvWriter => ({
  get: (table, key) => tx.get(table, key),
  look: (table, key, use) => tx.look(table, key, use),
  peek: (table, key, use) => tx.peek(table, key, use),
  range: (table, range) => tx.range(table, range),
  keys: (table, range) => tx.keys(table, range),
  put: (table, key, value) => tx.put(table, key, value),
  delete: (table, key) => tx.delete(table, key),
})

const key32 = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
const account = (byte: number, isThere = true): StateDiffParts['accounts'][number] => {
  const change = isThere ? { nonce: 1n, balance: 1n, codeHash: emptyCodeHash } : null
  return { key: key32(byte), change, wiped: !isThere }
}
const slot = (owner: number, byte: number, value: number): StateDiffParts['slots'][number] => {
  return { addressKey: key32(owner), slotKey: key32(byte), value: key32(0).fill(value, 31) }
}

it('state/chainState: removes the row of a branch that a leaf replaces, in the account trie and in storage tries', () => {
  const chain = new Chain()
  chain.append({ accounts: [account(0x11), account(0x21)], slots: [0x11, 0x21].map((byte) => slot(0x11, byte, 5)) })
  expect([chain.rows(tables.accountNodes), chain.rows(tables.storageNodes)]).toEqual([1, 1])
  chain.append({ accounts: [], slots: [slot(0x11, 0x11, 0)] })
  expect([chain.rows(tables.accountNodes), chain.rows(tables.storageNodes)]).toEqual([1, 0])
  chain.append({ accounts: [account(0x21, false)], slots: [] })
  expect([chain.rows(tables.accountNodes), chain.rows(tables.storageNodes)]).toEqual([0, 0])
})

it('state/chainState: reads no rows at the places of leaves in a trie that lost no key', () => {
  const chain = new Chain()
  const bytes = Array.from({ length: 100 }, (_, at) => 1 + at)
  chain.append({ accounts: bytes.map((byte) => account(byte)), slots: bytes.map((byte) => slot(1, byte, 5)) })
  const { nodes, reads } = chain.append({ accounts: [account(200)], slots: [slot(1, 0x11, 6), slot(1, 200, 6), slot(2, 1, 6)] })
  const branches = nodes.filter((node) => node !== null && !isLeafRlp(node))
  expect([branches.length > 3, nodes.length > branches.length + 3, reads]).toEqual([true, true, branches.length])
})
