import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Digests, digestWith, readDigests, writeDigests } from '#state/digests/digests'
import { HistoryCache } from '#state/historyCache'
import type { Kv } from '#store/ports'
import { ModelChain } from '#test/harness/chain/modelChain'
import { readNow } from '#test/harness/chain/olderSchemas'
import { anyBlock, expectModel } from '#test/harness/chain/stateModel'
import { recordAll } from '#test/harness/proofs/recordedChain'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { recordedStates } from './olderStates.ts'
import { writeWanted } from './wanted.ts'

const blocks = fc.sample(anyBlock, { seed: 5, numRuns: 80 })
const keyed = digestWith(new Uint8Array(8).fill(3))

/** A chain with these blocks. @param digests of its store; absent: those of a new one */
function chainOf(count: number, digests?: Digests): ModelChain {
  const kv = createMemoryKv()
  if (digests) kv.write((tx) => writeDigests(tx, digests))
  const chain = new ModelChain(kv)
  append(chain, count)
  return chain
}

function append(chain: ModelChain, count: number): void {
  for (let i = 0; i < count; i++) chain.append(blocks[chain.head % blocks.length] ?? [])
}

/** Expects each recorded state to be that of the model. @returns the first and the last one */
function check(proofs: Kv, chain: ModelChain): readonly [number, number] {
  using reader = proofs.snapshot()
  using ofChain = chain.kv.snapshot()
  const { window, at } = recordedStates(reader, ofChain, chain.head, new HistoryCache())
  if (!window) throw new Error('no recorded state')
  for (let number = window.earliest; number <= window.latest; number++) {
    const [model, root] = [chain.models[number], chain.roots[number]]
    if (!model || !root) throw new Error(`no model of block ${number}`)
    expectModel(
      at(number, () => undefined),
      model,
      root,
    )
  }
  return [window.earliest, window.latest]
}

const keysOf = (kv: Kv, upTo: number): Set<string> =>
  new Set(
    readNow(kv, readDigests)
      .spans(0, upTo)
      .map(({ digest }) => Buffer.from(digest.key).toString('hex')),
  )

it('proofs/copiedDigests: have the digests of the chain, also for blocks that are computed', () => {
  const chain = chainOf(20)
  const proofs = createMemoryKv()
  recordAll(proofs, chain)
  expect(keysOf(proofs, 35)).toEqual(keysOf(chain.kv, 35))
  append(chain, 15)
  proofs.write((tx) => writeWanted(tx, 0))
  recordAll(proofs, chain)
  expect(check(proofs, chain)).toEqual([0, 35])
  expect(keysOf(proofs, 35)).toEqual(keysOf(chain.kv, 35))
})

it('proofs/copiedDigests: of a chain whose older blocks have digests without a key', () => {
  const chain = chainOf(10, new Digests([]).from(25, keyed))
  const proofs = createMemoryKv()
  recordAll(proofs, chain)
  append(chain, 40)
  proofs.write((tx) => writeWanted(tx, 0))
  recordAll(proofs, chain)
  expect(check(proofs, chain)).toEqual([0, 50])
  chain.unwind(30)
  append(chain, 33)
  recordAll(proofs, chain)
  expect(check(proofs, chain)).toEqual([0, 53])
  expect(keysOf(proofs, 53).size).toBe(2)
})

it('proofs/copiedDigests: go on with a chain that was imported again, whose digests have another key, upwards and downwards', () => {
  const chain = chainOf(20)
  const proofs = createMemoryKv()
  recordAll(proofs, chain)
  append(chain, 20)
  recordAll(proofs, chain)
  expect(check(proofs, chain)).toEqual([20, 40])
  const again = chainOf(60)
  recordAll(proofs, again)
  expect(check(proofs, again)).toEqual([20, 60])
  expect(keysOf(proofs, 60)).toEqual(new Set([...keysOf(chain.kv, 1), ...keysOf(again.kv, 1)]))
  proofs.write((tx) => writeWanted(tx, 0))
  recordAll(proofs, again)
  expect(check(proofs, again)).toEqual([0, 60])
  again.unwind(30)
  append(again, 34)
  recordAll(proofs, again)
  expect(check(proofs, again)).toEqual([0, 64])
})
