import { expect, it } from 'vitest'
import { account, type FakeBlock, fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { readResult } from '#test/harness/rpc/result'
import type { Hash } from '#types/ids'
import type { BlockTracing } from '../../tracePorts.ts'
import { traceFilterMethod } from './filter.ts'

const block: FakeBlock = [[]]
/** A block of another branch. */
const other = (emitter: number): FakeBlock => [[{ address: account(emitter), topics: [], data: new Uint8Array(0) }]]

/** Requests the calls of blocks 1 to 3 of a chain, each of which has one. @param traced called when a block is traced, the number of times so far */
async function blocksOf(traced: (chain: ReturnType<typeof fakeChain>, count: number) => void) {
  const chain = fakeChain([block, block, block, block])
  const plain = fakeContext(chain)
  let count = 0
  const known = (hash: Hash): BlockTracing => ({
    ...{ hashes: [hash], prepare: () => true, storage: () => 'pruned' },
    trace: () => {
      traced(chain, ++count)
      return { kind: 'traced', result: { output: '0x', stateDiff: null, trace: [{ type: 'call' }], vmTrace: null } }
    },
  })
  const context = { ...plain, tracing: { ...plain.tracing, known } }
  const found = (await readResult(await traceFilterMethod.call(context, [{ fromBlock: '0x1', toBlock: '0x3' }]))) as { blockHash: Hash }[]
  return { found: found.map(({ blockHash }) => blockHash), chain: chain.blocks.slice(1, 4).map(({ hash }) => hash) }
}

it('rpc/methods/trace/filter: begins again when the chain reorganises, so that all blocks are of one branch', async () => {
  const steady = await blocksOf(() => {})
  expect(steady.found).toEqual(steady.chain)
  const moved = await blocksOf((chain, count) => count === 2 && chain.reorganise(2, [other(1), block]))
  expect(moved.chain[0]).toBe(steady.chain[0])
  expect(moved.chain[2]).not.toBe(steady.chain[2])
  expect(moved.found).toEqual(moved.chain)
})

it('rpc/methods/trace/filter: ends with an error when the chain reorganises each time (-32603)', async () => {
  const moving = blocksOf((chain, count) => chain.reorganise(3, [other(count)]))
  await expect(moving).rejects.toMatchObject({ code: -32603, data: 'the chain reorganised during the query' })
})
