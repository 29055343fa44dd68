import { expect, it } from 'vitest'
import { u64Bytes } from '#lib/bytes'
import { HistoryCache } from '#state/historyCache'
import type { Kv, KvReader } from '#store/ports'
import { proofsTables, tables } from '#store/tables'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { recordedStates } from './olderStates.ts'
import { writeRegions } from './regions.ts'

/** Recorded blocks: 101 to 900. */
const [first, last] = [101, 900]

/** Writes the hashes of blocks, filled with a byte. */
function putHashes(kv: Kv, from: number, to: number, byte: number): void {
  kv.write((tx) => {
    for (let number = from; number <= to; number++) tx.put(tables.canonical.id, u64Bytes(number), new Uint8Array(32).fill(byte))
  })
}

it.each([
  ['all blocks are shared', { begins: 0, replacedFrom: 1_500, head: 1_000 }, last],
  ['the last block is replaced', { begins: 0, replacedFrom: last, head: 1_000 }, last - 1],
  ['many blocks are replaced', { begins: 0, replacedFrom: 345, head: 1_000 }, 344],
  ['the oldest state is shared', { begins: 0, replacedFrom: first, head: 1_000 }, first - 1],
  ['all blocks are replaced', { begins: 0, replacedFrom: 50, head: 1_000 }, undefined],
  ['the chain is shorter', { begins: 0, replacedFrom: 1_500, head: 600 }, 600],
  ['the chain ends before them', { begins: 0, replacedFrom: 1_500, head: 90 }, undefined],
  ['the chain begins among them', { begins: 500, replacedFrom: 1_500, head: 1_000 }, last],
  ['the chain begins among them, and replaced some', { begins: 500, replacedFrom: 700, head: 1_000 }, 699],
  ['the chain begins after them', { begins: 950, replacedFrom: 1_500, head: 1_000 }, undefined],
] as const)('proofs/olderStates: finds the last shared block in few reads when %s', (_what, { begins, replacedFrom, head }, expected) => {
  const [kv, source] = [createMemoryKv(), createMemoryKv()]
  putHashes(kv, first - 1, last, 1)
  kv.write((tx) => writeRegions(tx, [{ first, last }]))
  putHashes(source, begins, Math.min(replacedFrom - 1, head), 1)
  putHashes(source, replacedFrom, head, 2)
  using proofs = kv.snapshot()
  using chain = source.snapshot()
  let reads = 0
  const counting: KvReader = {
    look: (...of) => chain.look(...of),
    peek: (...of) => chain.peek(...of),
    range: (...of) => chain.range(...of),
    keys: (...of) => chain.keys(...of),
    get(table, key) {
      if (table === proofsTables.canonical.id) reads++
      return chain.get(table, key)
    },
  }
  expect(recordedStates(proofs, counting, head, new HistoryCache()).window?.latest).toBe(expected)
  expect(reads).toBeLessThanOrEqual(13)
})
