import fc from 'fast-check'
import { expect, it } from 'vitest'
import { u64Bytes } from '#lib/bytes'
import { HistoryCache } from '#state/historyCache'
import { blockRowKey } from '#state/nodeHistory'
import { proofsTables } from '#store/tables'
import { ModelChain } from '#test/harness/chain/modelChain'
import { anyBlock, expectModel } from '#test/harness/chain/stateModel'
import { createManualClock } from '#test/harness/clock'
import { dice } from '#test/harness/dice'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { recordedStates } from './olderStates.ts'
import { Recorder } from './recorder.ts'
import { checkRecorded } from './verifyProofs.ts'

const blocks = fc.sample(anyBlock, { seed: 31, numRuns: 60 })

/** Records blocks 6 to 40 of a chain. */
function recorded() {
  const chain = new ModelChain(createMemoryKv())
  const kv = createMemoryKv()
  const recorder = new Recorder({ kv, chain: chain.kv, clock: createManualClock() }, 'all')
  for (const count of [5, 35]) {
    for (let i = 0; i < count; i++) chain.append(blocks[chain.head] ?? [])
    while (recorder.step(100).isBehind);
  }
  return { chain, kv }
}

it.each([
  ['values', proofsTables.values.id, u64Bytes(25)],
  ['trie nodes', proofsTables.nodeHistory.id, blockRowKey(25)],
])('proofs/verifyProofs: finds a changed byte in a row of %s, unless all states before it still read as they were', (_what, table, key) => {
  const { chain, kv } = recorded()
  using reader = chain.kv.snapshot()
  const row = kv.write((tx) => tx.get(table, key)?.slice()) ?? expect.fail()
  const roll = dice(25)
  let found = 0
  for (let at = roll(3); at < row.length; at += 1 + roll(5)) {
    const damaged = row.slice()
    damaged[at] = (row[at] ?? 0) ^ (1 << roll(8))
    kv.write((tx) => tx.put(table, key, damaged))
    using proofs = kv.snapshot()
    const differences = checkRecorded({ proofs, chain: reader, head: chain.head }, 25)
    if (differences.length > 0) found++
    for (const { block } of differences) expect(block).toBe(25)
    if (differences.length > 0) continue
    const states = recordedStates(proofs, reader, chain.head, new HistoryCache())
    for (const number of [24, 20]) {
      const state = states.at(number, () => undefined)
      expectModel(state, chain.models[number] ?? expect.fail(), chain.roots[number] ?? expect.fail())
    }
  }
  expect(found).toBeGreaterThan(100)
})
