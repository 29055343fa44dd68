import { expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import { createWorld } from '#test/harness/consensus/execution'
import { chainOf, mineSix } from '#test/harness/consensus/unsafe'
import type { L2Ref } from '#types/blockRef'
import { reconcileHeads } from './reconcileHeads.ts'

const chain = await chainOf(mineSix)
const { config } = createWorld({ holocene: 0 })
const engine = { payload: async (at: number | string) => chain.find(({ blockNumber }) => blockNumber === at) }
const at = (number: number): L2Ref => l2RefOf(config, chain[number - 1] as (typeof chain)[number])

it.each([
  ['in order', [9, 6, 3], [9, 6, 3]],
  ['all the same', [9, 9, 9], [9, 9, 9]],
  ['finalized above safe: the finalized block becomes safe', [9, 3, 6], [9, 6, 6]],
  ['safe above unsafe', [6, 9, 3], [6, 6, 3]],
  ['finalized above unsafe', [6, 3, 9], [6, 3, 3]],
  ['both above unsafe', [3, 6, 9], [3, 3, 3]],
] as const)('consensus/reconcileHeads: %s', async (_what, [unsafe, safe, finalized], expected) => {
  const heads = await reconcileHeads(engine, { unsafe: at(unsafe), safe: at(safe), finalized: at(finalized) }, undefined)
  expect([heads.unsafe.number, heads.safe.number, heads.finalized.number]).toEqual(expected)
})

it('consensus/reconcileHeads: lowers a finalized block that is not canonical to the safe head', async () => {
  const stray = { ...at(6), hash: at(7).hash }
  expect((await reconcileHeads(engine, { unsafe: at(9), safe: at(3), finalized: stray }, undefined)).finalized).toEqual(at(3))
})

it.each([
  ['labels lost by a restart', 6, [9, 6, 6]],
  ['a finalized head lost with its tail', 12, [9, 3, 0]],
  ['a finalized head that advanced', 0, [9, 3, 0]],
] as const)('consensus/reconcileHeads: a known finalized head: %s', async (_what, known, expected) => {
  const genesis = { ...at(1), number: 0, hash: at(1).parentHash }
  const heads = await reconcileHeads(engine, { unsafe: at(9), safe: at(3), finalized: genesis }, known === 0 ? genesis : at(known))
  expect([heads.unsafe.number, heads.safe.number, heads.finalized.number]).toEqual(expected)
})
