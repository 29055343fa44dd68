import fc from 'fast-check'
import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import type { BatcherSettings } from '#batcher/options'
import type { SafeBlock } from '#derive/ports'
import { fromHex, toHex } from '#lib/hex'
import { BatcherWorld } from '#test/harness/batcher/world'
import { type DeriveWorld, forksTo } from '#test/harness/derive/world'
import { decodeTransaction } from '#types/transaction'
import { blocksOf } from '../independent/blocks.ts'
import { type Carried, type InboxContents, readInbox } from '../independent/inbox.ts'
import { randomTransaction, rawOf } from '../independent/randomBlocks.ts'
import type { SeenTransaction } from '../independent/transaction.ts'

/** Batcher transactions on L1, in order. */
function posted(world: DeriveWorld): Carried[] {
  return world.l1.flatMap(({ transactions }) =>
    transactions.flatMap((raw): Carried[] => {
      const tx = decodeTransaction(raw)
      if (tx.type === 0x7e || tx.to !== world.config.batchInbox) return []
      if (tx.type !== 3) return [{ kind: 'calldata', data: tx.data }]
      return [{ kind: 'blobs', blobs: tx.blobVersionedHashes.map((hash) => world.blobs.get(hash) ?? new Uint8Array()) }]
    }),
  )
}

const isDeposit = (raw: Uint8Array): boolean => raw[0] === 0x7e

/** Expects every posted block to equal the sequencer's. Returns their numbers. */
function expectBlocks(world: DeriveWorld, { channels }: InboxContents): ReadonlySet<number> {
  const { genesis, blockTimeSec, l2ChainId } = world.config
  const chain = { chainId: l2ChainId, genesisTime: BigInt(genesis.l2TimeSec), blockTime: BigInt(blockTimeSec) }
  const byTime = new Map<bigint, SafeBlock>(world.blocks.map((block) => [BigInt(block.ref.timestamp), block]))
  const numbers = new Set<number>()
  for (const said of channels.flatMap(({ batches }) => batches.flatMap((batch) => blocksOf(batch, chain)))) {
    const block = byTime.get(said.timestamp)
    if (block === undefined) throw new Error(`block at ${said.timestamp} not found`)
    const { ref, transactions } = block
    expect(said, `block ${ref.number}`).toEqual({
      timestamp: BigInt(ref.timestamp),
      l1OriginNumber: BigInt(ref.l1Origin.number),
      l1OriginHash: said.l1OriginHash && ref.l1Origin.hash.slice(0, said.l1OriginHash.length),
      parentHash: said.parentHash && ref.parentHash.slice(0, said.parentHash.length),
      transactions: transactions.filter((raw) => !isDeposit(raw)).map(toHex),
    })
    numbers.add(ref.number)
  }
  return numbers
}

/** Runs a batcher over blocks with these transactions, taken in turn. */
async function run(
  settings: Partial<BatcherSettings>,
  blocks: readonly (readonly Hex[])[],
  blockTimeSec: number,
): Promise<readonly Carried[]> {
  const world = new BatcherWorld(forksTo('jovian'), settings, { config: { blockTimeSec } })
  let nth = 0
  world.world.sequence(blocks.length, () => (blocks[nth++] ?? []).map((raw) => fromHex(raw)))
  await world.start()
  await world.untilSafe()
  await world.kill()
  const carried = posted(world.world)
  const contents = readInbox(carried)
  expect(contents.refused).toEqual([])
  const numbers = expectBlocks(world.world, contents)
  const missing = Array.from({ length: world.world.safe.number }, (_, at) => at + 1).filter((number) => !numbers.has(number))
  expect(missing).toEqual([])
  return carried
}

const settings = fc.record({
  form: fc.constantFrom('auto', 'span', 'singular'),
  compression: fc.constantFrom('auto', 'brotli', 'zlib'),
  carrier: fc.constantFrom('auto', 'calldata', 'blobs'),
  effort: fc.constantFrom('fast', 'best'),
  maxChannelL1Blocks: fc.integer({ min: 1, max: 3 }),
  targetChannelBytes: fc.constantFrom(2_000, 20_000, 600_000),
  maxCalldataBytes: fc.constantFrom(200, 1_000, 120_000),
  maxBlobsPerTransaction: fc.integer({ min: 1, max: 6 }),
}) as fc.Arbitrary<Partial<BatcherSettings>>

const txs: fc.Arbitrary<SeenTransaction[]> = fc.array(randomTransaction, { maxLength: 6 })
const twelveBlocks = fc.array(txs, { minLength: 12, maxLength: 12 })

describe('batcher, read by an independent decoder', () => {
  it('posts the blocks byte by byte with any settings', async () => {
    await fc.assert(
      fc.asyncProperty(settings, twelveBlocks, fc.constantFrom(1, 2), async (choice, blocks, blockTimeSec) => {
        const raws = blocks.map((block) => block.map((tx) => rawOf(tx, 90_001)))
        await run(choice, raws, blockTimeSec)
      }),
      { numRuns: 25 },
    )
  }, 120_000)

  it('posts a channel of several blobs in one transaction', async () => {
    const [tx] = fc.sample(randomTransaction, { numRuns: 1, seed: 3 })
    if (tx === undefined) throw new Error('no sample')
    let state = 1
    const noise = (bytes: number): Hex => {
      const out = Buffer.alloc(bytes)
      for (let at = 0; at < bytes; at++) {
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
        out[at] = state >>> 24
      }
      return `0x${out.toString('hex')}`
    }
    const blocks = Array.from({ length: 6 }, () => [rawOf({ ...tx, data: noise(80_000) }, 90_001)])
    const carried = await run({ form: 'span', carrier: 'blobs', targetChannelBytes: 600_000 }, blocks, 2)
    const blobs = carried.map((one) => (one.kind === 'blobs' ? one.blobs.length : 0))
    expect(Math.max(...blobs)).toBeGreaterThanOrEqual(4)
  }, 60_000)
})
