import { describe, expect, it } from 'vitest'
import { channelOf } from '#test/harness/derive/channels'
import { l1Transaction } from '#test/harness/derive/l1'
import { DeriveWorld, forksTo, genesisTimeSec, inbox, userTransaction } from '#test/harness/derive/world'
import { framesOf } from '../batchEncoder.ts'
import { encodeFrames, type Frame } from '../codec/frame.ts'
import { orderedFrames } from '../rules/frameOrder.ts'
import { Channel } from './channel.ts'

const singular = { batches: 'singular', compression: 'zlib' } as const
const inOneTransaction = (frames: readonly Frame[]): Uint8Array => l1Transaction({ to: inbox, data: encodeFrames(frames) })

/** Frames of a channel with the next blocks: at least as many as requested. */
function nextFrames(world: DeriveWorld, blocks = 3, maxBytes = 120, from = 'user'): readonly Frame[] {
  const made = world.sequence(blocks, (number) => [userTransaction(number, from)])
  return framesOf(world.channelId(), channelOf(world.config, made, singular), { kind: 'calldata', maxBytes })
}

describe('derive/channelBank', () => {
  const world = (fork: 'bedrock' | 'canyon' | 'fjord' | 'granite'): DeriveWorld =>
    new DeriveWorld(forksTo(fork), { channelTimeoutBlocks: 6, channelTimeoutGraniteBlocks: 3 })

  it('accepts frames in any order, twice, and of several channels at once', () => {
    const chain = world('canyon')
    const [a, b] = [nextFrames(chain), nextFrames(chain)]
    const mixed = [...a.toReversed(), ...a].flatMap((frame, index) => [frame, ...b.slice(index, index + 1)])
    chain.mine({ transactions: [inOneTransaction([...mixed, ...b])] })
    expect([chain.derive(), chain.agrees]).toEqual([6, true])
  })

  it('a channel waits for an older open one before Canyon, not from Canyon on', () => {
    for (const [fork, safe] of [
      ['bedrock', 0],
      ['canyon', 2],
    ] as const) {
      const chain = world(fork)
      const first = nextFrames(chain, 2)
      chain.blocks.length = 1
      const second = nextFrames(chain, 2)
      chain.mine({ transactions: [inOneTransaction(first.slice(1)), inOneTransaction(second)] })
      expect([fork, chain.derive()]).toEqual([fork, safe])
      chain.mine({ transactions: [inOneTransaction(first.slice(0, 1))] })
      expect([chain.derive(), chain.agrees]).toEqual([2, true])
    }
  })

  it.each([
    ['canyon', 6, 3],
    ['canyon', 7, 0],
    ['fjord', 6, 3],
    ['fjord', 7, 0],
    ['granite', 3, 3],
    ['granite', 4, 0],
  ] as const)('under %s, a channel completed %d blocks after its first frame gives %d blocks', (fork, blocks, safe) => {
    const chain = world(fork)
    const frames = nextFrames(chain)
    chain.mine({ transactions: [inOneTransaction(frames.slice(0, 1))] })
    chain.mineEmpty(blocks - 1)
    chain.mine({ transactions: [inOneTransaction(frames.slice(1))] })
    expect(chain.derive()).toBe(safe)
  })

  it.each([
    [1, 0],
    [0, 3],
  ])('the shorter timeout of Granite applies to the L1 blocks of Granite: %d blocks later, %d blocks are derived', (blocks, safe) => {
    const chain = new DeriveWorld(
      { ...forksTo('fjord'), granite: genesisTimeSec + 12 * (blocks === 1 ? 6 : 7) },
      { channelTimeoutBlocks: 6, channelTimeoutGraniteBlocks: 3 },
    )
    const frames = nextFrames(chain)
    chain.mine({ transactions: [inOneTransaction(frames.slice(0, 1))] })
    chain.mineEmpty(4)
    chain.mine({ transactions: [inOneTransaction(frames.slice(1))] })
    expect(chain.derive()).toBe(safe)
  })

  it('before Canyon, a channel that timed out does not block the others', () => {
    const chain = world('bedrock')
    const [stuck = []] = [nextFrames(chain, 1)]
    chain.blocks.length = 1
    const good = nextFrames(chain, 1)
    chain.mine({ transactions: [inOneTransaction(stuck.slice(1))] })
    chain.mine({ transactions: [inOneTransaction(good)] })
    expect(chain.derive()).toBe(0)
    chain.mineEmpty(5)
    expect(chain.derive()).toBe(0)
    chain.mine()
    expect([chain.derive(), chain.agrees]).toEqual([1, true])
  })

  it('prunes the oldest channels when the bank exceeds 100,000,000 bytes', () => {
    const chain = world('canyon')
    const good = nextFrames(chain, 1)
    const filler = (number: number): Uint8Array =>
      l1Transaction({
        to: inbox,
        data: encodeFrames([{ channelId: `0x${'ff'.repeat(16)}`, number, data: new Uint8Array(999_800), isLast: false }]),
      })
    chain.mine({ transactions: [inOneTransaction(good.slice(0, 1)), ...Array.from({ length: 100 }, (_, i) => filler(i))] })
    chain.mine({ transactions: [inOneTransaction(good.slice(1))] })
    expect(chain.derive()).toBe(0)
    chain.mine({ transactions: [inOneTransaction(good.slice(0, 1))] })
    expect(chain.derive()).toBe(1)
  })
})

describe('derive/channelAssembler', () => {
  const world = (): DeriveWorld => new DeriveWorld(forksTo('holocene'), { channelTimeoutGraniteBlocks: 3 })

  it('drops frames out of order and keeps the channel open for the right frame', () => {
    const chain = world()
    const [a, b, ...rest] = nextFrames(chain)
    if (a === undefined || b === undefined || rest.length === 0) throw new Error('too few frames')
    chain.mine({ transactions: [a, ...rest, b, b].map((frame) => inOneTransaction([frame])) })
    expect(chain.derive()).toBe(0)
    chain.mine({ transactions: rest.map((frame) => inOneTransaction([frame])) })
    expect([chain.derive(), chain.agrees]).toEqual([3, true])
  })

  it('a first frame discards an unfinished channel and begins a new one', () => {
    const chain = world()
    const stuck = nextFrames(chain, 3, 120, 'other')
    chain.blocks.length = 1
    const good = nextFrames(chain)
    chain.mine({ transactions: [inOneTransaction(stuck.slice(0, 1))] })
    chain.mine({ transactions: [inOneTransaction(good), inOneTransaction(stuck.slice(1))] })
    expect([chain.derive(), chain.agrees]).toEqual([3, true])
  })

  it.each([
    ['10,000,000 bytes', 0, 3],
    ['one byte more', 1, 0],
  ])('a channel of %s, including 200 for each frame', (_what, more, safe) => {
    const chain = new DeriveWorld({ ...forksTo('ecotone'), holocene: 0 })
    const [whole] = nextFrames(chain, 3, 100_000)
    if (whole === undefined) throw new Error('no frame')
    // bytes after the end of a zlib stream are ignored
    const frames = Array.from({ length: 11 }, (_, number): Frame => {
      const data = new Uint8Array(number < 10 ? 999_000 : 10_000_000 - 10 * 999_000 - 11 * 200 + more)
      if (number === 0) data.set(whole.data)
      return { ...whole, number, data, isLast: number === 10 }
    })
    chain.mine({ transactions: frames.map((frame) => inOneTransaction([frame])) })
    expect(chain.derive()).toBe(safe)
  })

  it('does not begin a channel again in the transaction that ended it', () => {
    const chain = world()
    const [first] = nextFrames(chain, 1, 10_000)
    if (first === undefined) throw new Error('no frame')
    const again = nextFrames(chain, 1).map((frame) => ({ ...frame, channelId: first.channelId }))
    chain.mine({ transactions: [inOneTransaction([first, ...again])] })
    expect(chain.derive()).toBe(1)
    chain.mine({ transactions: [inOneTransaction(again)] })
    expect([chain.derive(), chain.agrees]).toEqual([2, true])
  })

  it('drops frames without a first frame', () => {
    const chain = world()
    const frames = nextFrames(chain)
    chain.mine({ transactions: [inOneTransaction(frames.slice(1))] })
    chain.mine({ transactions: [inOneTransaction(frames.slice(0, 1))] })
    expect(chain.derive()).toBe(0)
    chain.mine({ transactions: [inOneTransaction(frames.slice(1))] })
    expect(chain.derive()).toBe(3)
  })

  it.each([
    [3, 3],
    [4, 0],
  ])('a channel completed %d blocks after its first frame gives %d blocks', (blocks, safe) => {
    const chain = world()
    const frames = nextFrames(chain)
    chain.mine({ transactions: [inOneTransaction(frames.slice(0, 1))] })
    chain.mineEmpty(blocks - 1)
    chain.mine({ transactions: [inOneTransaction(frames.slice(1))] })
    expect(chain.derive()).toBe(safe)
  })
})

describe('derive/channel', () => {
  const frame = (number: number, isLast = false): Frame => ({ channelId: '0x01', number, data: Uint8Array.of(number), isLast })

  it('a last frame removes the frames after it, and their size', () => {
    const channel = new Channel('0x01', 5)
    for (const number of [4, 3, 1, 0]) expect(channel.add(frame(number))).toBeUndefined()
    expect([channel.add(frame(2, true)), channel.isReady, channel.sizeBytes]).toEqual([undefined, true, 3 * 201])
    expect([...channel.data()]).toEqual([0, 1, 2])
  })

  it('refuses a second last frame, a duplicate, a frame after the last, a frame of another channel', () => {
    const channel = new Channel('0x01', 5)
    channel.add(frame(2, true))
    expect([frame(1, true), frame(2), frame(3), { ...frame(0), channelId: '0x02' as const }].map((one) => channel.add(one))).toEqual([
      'second last frame of the channel',
      'duplicate frame',
      'after the last frame',
      'of another channel',
    ])
    expect(channel.isReady).toBe(false)
  })
})

describe('derive/frameOrder', () => {
  /** 'a0 a1. b0': channel, number, a dot for is_last */
  const frames = (text: string): Frame[] =>
    text.split(' ').map((one) => ({
      channelId: `0x${one.charAt(0)}0`,
      number: Number.parseInt(one.slice(1), 10),
      data: new Uint8Array(0),
      isLast: one.endsWith('.'),
    }))

  it.each([
    ['all in order', 'a0 a1. b0 b1', 'a0 a1. b0 b1'],
    ['a missing number', 'a0 a2 a1.', 'a0 a1.'],
    ['duplicates', 'a0 a0 a1 a1.', 'a0 a1'],
    ['a frame after the last', 'a0. a1 b0', 'a0. b0'],
    ['another channel in the middle', 'a0 b1 a1.', 'a0 a1.'],
    ['a new channel discards an unfinished one', 'a0 a1 a2 b0 a3.', 'b0'],
    ['a new channel does not discard a finished one', 'a0. b0 b1 c0.', 'a0. c0.'],
    ['the first frame may continue a channel of an earlier transaction', 'a3 a4. b0', 'a3 a4. b0'],
    ['a finished channel does not begin again after a discarded one', 'a0. b0 a0', 'a0.'],
  ])('%s: %s', (_what, given, kept) => {
    expect(orderedFrames(frames(given))).toEqual(frames(kept))
  })
})
