// Derivation of Denim blocks that were posted as single batches, without execution: from the raw bytes of L1 blocks in memory to attributes.
import { isDeepStrictEqual } from 'node:util'
import { createPipeline } from '#derive/pipeline'
import { silentLog } from '#lib/log'
import { DeriveDriver } from '#test/harness/derive/driver'
import { DeriveWorld, forksTo, userTransaction } from '#test/harness/derive/world'
import type { PayloadAttributes } from '#types/payload'
import { type Row, row } from '../format.ts'

const defaultBlocks = 6_000
const rounds = 7
/** L2 blocks in one channel: one L1 block's time */
const blocksPerChannel = 60
/** Blocks for each block with transactions. */
const filledEvery = 4
const transactionsPerBlock = 5

/** Posts a chain that begins with Denim. @returns its world, whose pipeline is at genesis */
function postedWorld(blocks: number): DeriveWorld {
  const world = new DeriveWorld({ ...forksTo('jovian'), azul: 0, beryl: 0, cobalt: 0, denim: 0 })
  const pool = Array.from({ length: 500 }, (_, nonce) => userTransaction(nonce))
  const transactionsOf = (number: number): readonly Uint8Array[] =>
    number % filledEvery === 0
      ? Array.from({ length: transactionsPerBlock }, (_, at) => pool[(number * 7 + at) % pool.length] as Uint8Array)
      : []
  for (let made = 0; made < blocks; made += blocksPerChannel) {
    world.mine({
      transactions: world.post(world.sequence(blocksPerChannel, transactionsOf), { batches: 'singular', compression: 'brotli' }),
    })
  }
  return world
}

/** Derives all blocks with a new pipeline. @param isSame compares the attributes with those of the sequencer */
function deriveAll(world: DeriveWorld, isSame: (attributes: PayloadAttributes, number: number) => boolean = () => true): void {
  const [genesis] = world.blocks
  if (genesis === undefined) throw new Error('no genesis')
  const start = world.startAt(genesis.head, 0)
  const driver = new DeriveDriver(createPipeline(world.config, start, silentLog), start, {
    l1: (number) => world.l1[number],
    blobs: () => 'missing',
    l2: (number) => world.blocks[number],
    build: ({ attributes }, { ref }) => {
      const head = world.blocks[ref.number + 1]?.head
      return head !== undefined && isSame(attributes, ref.number + 1) ? head : 'invalid'
    },
  })
  driver.run()
  if (driver.safe.ref.number !== world.blocks.length - 1) throw new Error(`derived ${driver.safe.ref.number} blocks`)
}

/** @returns L2 blocks per second */
export async function run({ blocks = defaultBlocks }: { readonly blocks?: number }): Promise<readonly Row[]> {
  const world = postedWorld(blocks)
  deriveAll(world, (attributes, number) => isDeepStrictEqual(attributes, world.blocks[number]?.attributes))
  const count = world.blocks.length - 1
  const measure = (): number => {
    const startMs = performance.now()
    deriveAll(world)
    return (count * 1_000) / (performance.now() - startMs)
  }
  measure()
  const runs = Array.from({ length: rounds }, measure)
  return [row(`Denim blocks derived from single batches, ${count} blocks, execution stubbed`, 'blocks/s', runs)]
}
