import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { createManualClock, type ManualClock, settle } from '#test/harness/clock'
import { blockAt, flashblockAt, modelPending, type PendingModel } from '#test/harness/flashblocks/messages'
import type { Flashblock } from '#types/flashblock'
import { type Consumer, createConsumer, type Shown } from './consumer.ts'
import type { FeedMessage } from './decode.ts'
import { flashblocksMetrics } from './metrics.ts'

const maxAgeMs = 4_000

type World = {
  readonly clock: ManualClock
  readonly model: PendingModel
  readonly consumer: Consumer
  readonly verdicts: string[]
  isSynced: boolean
  /** records that the next calls of `shown` return though execution has moved on */
  lateRecords: Shown[]
  /** Feeds flashblocks of upstream 0, one after another. */
  hear(...flashblocks: FeedMessage[]): Promise<void>
  head(...at: Parameters<PendingModel['setHead']>): Promise<void>
  placed(place: string): Promise<number>
  heldBytes(): Promise<number>
}

function world(maxHeldBytes = 2 ** 21, upstreams = 2): World {
  const clock = createManualClock()
  const model = modelPending(blockAt(10))
  const registry = new Registry()
  const metrics = flashblocksMetrics.register(registry)
  const verdicts: string[] = []
  const consumer = createConsumer(
    {
      ...{ clock, metrics, log: silentLog, pending: model },
      shown: () => self.lateRecords.shift() ?? { head: model.head, executed: model.executed },
      isSynced: () => self.isSynced,
      judge: (from, verdict) => void verdicts.push(`${from} ${verdict.kind}`),
    },
    { maxAgeMs, maxHeldBytes, upstreams },
  )
  const self: World = {
    ...{ clock, model, consumer, verdicts, isSynced: true, lateRecords: [] },
    async hear(...flashblocks) {
      for (const flashblock of flashblocks) consumer.take(flashblock, 0)
      await settle()
    },
    async head(...at) {
      model.setHead(...at)
      consumer.headsChanged()
      await settle()
    },
    async heldBytes() {
      consumer.collect()
      return (await registry.getSingleMetric('basalt_flashblocks_held_bytes')?.get())?.values[0]?.value ?? expect.fail()
    },
    async placed(place) {
      const { values } = (await registry.getSingleMetric('basalt_flashblocks_frames_total')?.get()) ?? expect.fail()
      return values.find(({ labels }) => labels['place'] === place)?.value ?? expect.fail()
    },
  }
  return self
}

const block = (number: number, flashblocks: number, more?: Parameters<typeof flashblockAt>[2]): Flashblock[] =>
  Array.from({ length: flashblocks }, (_, index) => flashblockAt(number, index, more))
const named = (number: number, flashblocks: number): string[] => block(number, flashblocks).map(({ index }) => `${number}.${index}`)

it('flashblocks/consumer: executes flashblocks in order, also of a block on a pending block, when they arrive in order', async () => {
  const { hear, model } = world()
  await hear(...block(11, 3), ...block(12, 2))
  expect(model.took).toEqual([...named(11, 3), ...named(12, 2)])
})

it('flashblocks/consumer: reaches the same pending block when flashblocks arrive in any order', async () => {
  const { hear, model } = world()
  await hear(...block(11, 4).reverse(), ...block(12, 2).reverse())
  expect(model.took).toEqual([...named(11, 4), ...named(12, 2)])
})

it('flashblocks/consumer: counts repeats of a second upstream as duplicates, and takes the flashblocks that the first lost', async () => {
  const { hear, model, placed, consumer, verdicts } = world()
  const [zero, one, two] = block(11, 3) as [Flashblock, Flashblock, Flashblock]
  await hear(zero, two)
  expect(model.took).toEqual(['11.0'])
  for (const flashblock of [zero, one, two]) consumer.take(flashblock, 1)
  await settle()
  expect(model.took).toEqual(named(11, 3))
  expect(await Promise.all(['duplicate', 'gap'].map(placed))).toEqual([2, 1])
  expect(verdicts).toContain('1 good')
})

it('flashblocks/consumer: builds nothing on a block with a missing flashblock until that block is sealed', async () => {
  const { hear, head, model } = world()
  const [zero, , two] = block(11, 3) as [Flashblock, Flashblock, Flashblock]
  await hear(zero, two, ...block(12, 2))
  expect(model.took).toEqual(['11.0'])
  await head(blockAt(11))
  expect(model.took).toEqual(['11.0', ...named(12, 2)])
})

it('flashblocks/consumer: executes at most three blocks above the head, and the rest as the head moves', async () => {
  const { hear, head, model, placed } = world()
  for (const number of [11, 12, 13, 14, 15, 16]) await hear(...block(number, 1))
  expect(model.took).toEqual(['11.0', '12.0', '13.0'])
  expect(await placed('too-far')).toBe(1)
  await head(blockAt(11))
  await head(blockAt(12))
  expect(model.took.slice(3)).toEqual(['14.0', '15.0'])
})

it('flashblocks/consumer: replaces an older build by a newer one, never the reverse', async () => {
  const { hear, model } = world()
  await hear(...block(11, 2))
  await hear(...block(11, 2, { variant: 2 }), flashblockAt(11, 2))
  expect(model.executed).toEqual({ number: 11, payloadId: flashblockAt(11, 0, { variant: 2 }).payloadId, index: 1 })
  expect(model.took).toEqual([...named(11, 2), ...named(11, 2)])
})

it('flashblocks/consumer: holds blocks on a sibling of the head until a reorg', async () => {
  const { hear, head, model, verdicts } = world()
  await hear(...block(11, 2, { parent: blockAt(10, 'b').hash }))
  expect(model.took).toEqual([])
  expect(verdicts).toEqual(['0 wrong'])
  await head(blockAt(10, 'b'), 'nothing')
  expect(model.took).toEqual(named(11, 2))
})

it('flashblocks/consumer: ignores a flashblock without a number of an unknown build, takes one of a known build', async () => {
  const { hear, model, placed } = world()
  const [zero, one] = block(11, 2) as [Flashblock, Flashblock]
  const { blockNumber: _, ...unnumbered } = one
  await hear(unnumbered, zero, unnumbered)
  expect(model.took).toEqual(named(11, 2))
  expect(await placed('unnumbered')).toBe(1)
})

it('flashblocks/consumer: drops pending without a fitting flashblock, and restores all of it with the next one (PENDING_STALE)', async () => {
  const { hear, model, clock, consumer } = world()
  await hear(...block(11, 3))
  expect(model.freshUntilMs).toBe(clock.nowMs() + maxAgeMs)
  await clock.advanceMs(maxAgeMs - 1)
  expect([model.blocks.length, consumer.staleness()]).toEqual([1, undefined])
  await clock.advanceMs(1)
  expect([model.blocks.length, consumer.staleness()?.code]).toEqual([0, 'PENDING_STALE'])
  await hear(flashblockAt(11, 3))
  expect(model.took.slice(3)).toEqual(named(11, 4))
  expect(consumer.staleness()).toBeUndefined()
})

it('flashblocks/consumer: is stale when the feed never sent anything (PENDING_STALE)', async () => {
  const { clock, consumer } = world()
  await clock.advanceMs(maxAgeMs)
  expect(consumer.staleness()?.message).toBe('no fitting flashblock for 4 s: the feed is silent')
})

it('flashblocks/consumer: does not renew the deadline when flashblocks do not fit', async () => {
  const { hear, model, clock } = world()
  await hear(...block(11, 2))
  for (const index of [5, 6, 7]) {
    await clock.advanceMs(maxAgeMs / 3)
    await hear(flashblockAt(11, index))
  }
  await clock.advanceMs(1)
  expect(model.blocks).toEqual([])
})

it('flashblocks/consumer: executes flashblocks again where they still fit when a new head drops their block', async () => {
  const { hear, head, model } = world()
  await hear(...block(11, 2), ...block(12, 2))
  await head(blockAt(11), 'nothing')
  expect(model.took.slice(4)).toEqual(named(12, 2))
})

it.each(['rules', 'transaction', 'outcome', 'time'] as const)(
  'flashblocks/consumer: accuses the sender of a flashblock that is wrong itself (%s)',
  async (reason) => {
    const { hear, head, model, verdicts } = world()
    model.refuse(({ index }) => (index === 1 ? reason : undefined))
    await hear(...block(11, 3))
    expect([model.took, model.blocks, verdicts.at(-1)]).toEqual([['11.0'], [], '0 wrong'])
    model.refuse(() => undefined)
    await head(blockAt(11))
    await hear(...block(12, 1))
    expect(model.executed?.number).toBe(12)
  },
)

it('flashblocks/consumer: holds a block that names another parent until the parent is complete or canonical, and accuses no publisher', async () => {
  const at = world()
  at.model.refuse(({ blockNumber }) =>
    blockNumber > 11 && at.model.executed?.number === 11 && at.model.executed.index < 2 ? 'parent' : undefined,
  )
  await at.hear(...block(11, 2), ...block(12, 2))
  expect(at.model.took).toEqual(named(11, 2))
  await at.hear(flashblockAt(11, 2))
  expect(at.model.took).toEqual([...named(11, 3), ...named(12, 2)])
  expect(at.verdicts).not.toContain('0 wrong')

  const other = world()
  other.model.refuse(({ blockNumber }) => (blockNumber === 12 && other.model.executed?.number === 11 ? 'parent' : undefined))
  await other.hear(...block(11, 2), ...block(12, 2))
  await other.head(blockAt(11))
  expect(other.model.took).toEqual([...named(11, 2), ...named(12, 2)])
})

it('flashblocks/consumer: places a flashblock again when its record was outdated', async () => {
  const at = world()
  await at.hear(...block(11, 2))
  const { head, executed } = at.model
  await at.model.drop('unseen')
  at.lateRecords = [
    { head, executed },
    { head, executed },
  ]
  await at.hear(flashblockAt(11, 2))
  expect(at.model.took.slice(2)).toEqual(named(11, 3))
})

it('flashblocks/consumer: executes nothing and accuses no publisher while the node is far behind', async () => {
  const at = world()
  at.isSynced = false
  await at.hear(flashblockAt(99, 0), ...block(11, 1))
  expect([at.model.took, at.verdicts]).toEqual([[], []])
})

it('flashblocks/consumer: bounds held flashblocks in bytes, and in builds of one block', async () => {
  const { hear, consumer, placed, head, heldBytes } = world(40_000)
  await hear(...Array.from({ length: 100 }, (_, index) => flashblockAt(12, index + 1)))
  expect(await placed('full')).toBeGreaterThan(70)
  await head(blockAt(12))
  await hear(...[1, 2, 3, 4, 5, 6, 7, 8].map((variant) => flashblockAt(14, 0, { variant })))
  expect(await heldBytes()).toBeLessThan(5 * 2_100)
  consumer[Symbol.dispose]()
})

it('flashblocks/consumer: holds at most 256 flashblocks of a build', async () => {
  const { hear, model, placed } = world()
  const [zero, ...later] = block(11, 300) as [Flashblock, ...Flashblock[]]
  await hear(...later, zero)
  expect([model.took, await placed('full')]).toEqual([named(11, 256), 44])
})

it('flashblocks/consumer: a publisher that fills its share of the held bytes takes no room from another', async () => {
  const { hear, consumer, model, head, placed, heldBytes } = world(100_000)
  for (let index = 1; index < 100; index++) consumer.take(flashblockAt(15, index), 1)
  expect([await placed('full'), await heldBytes()]).toEqual([75, 24 * 2_048])
  for (let variant = 2; variant < 9; variant++) consumer.take(flashblockAt(15, 1, { variant }), 1)
  expect(await heldBytes()).toBe(24 * 2_048)
  await hear(...block(11, 20))
  expect(model.took).toEqual(named(11, 20))
  await head(blockAt(15))
  consumer.take(flashblockAt(17, 1), 1)
  expect(await heldBytes()).toBe(2_048)
})

it('flashblocks/consumer: drops pending when no publisher is trusted, until a new flashblock fits', async () => {
  const { hear, head, model, consumer, clock } = world()
  await hear(...block(11, 2), flashblockAt(12, 0))
  consumer.distrust('all publishers are unhealthy')
  await head(blockAt(11), 'nothing')
  expect([model.blocks, model.took.length]).toEqual([[], 3])
  await clock.advanceMs(1)
  await hear(flashblockAt(12, 1))
  expect(model.executed?.index).toBe(1)
})
