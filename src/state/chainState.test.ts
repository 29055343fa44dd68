import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { keccak256 } from '#lib/keccak'
import { openLmdbKv } from '#store/lmdbKv'
import { tables } from '#store/tables'
import { stateContract } from '#test/contract/state'
import { stateStackContract } from '#test/contract/stateStack'
import { sampleOf } from '#test/harness/sample'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'
import { latestState, stateAt, writeGenesis, writeState } from './chainState.ts'
import { computeStateRoot } from './stateRoot.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-state-'))
let dirs = 0
const newDir = (): string => join(base, String(dirs++))

afterAll(() => rmSync(base, { recursive: true, force: true }))

stateContract('memory', createMemoryKv, sampleOf(5, 25))
stateContract('lmdb', () => openLmdbKv(newDir(), Object.values(tables)), sampleOf(2, 6))
stateStackContract('memory', createMemoryKv, 15)
stateStackContract('lmdb', () => openLmdbKv(newDir(), Object.values(tables)), 5)

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
