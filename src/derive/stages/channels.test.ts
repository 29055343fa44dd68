import { describe, expect, it } from 'vitest'
import { l1Transaction } from '#test/harness/deriveL1'
import { DeriveWorld, forksTo, genesisTimeSec, inbox, userTransaction } from '#test/harness/deriveWorld'
import { calldataOf, channelOf, framesOf } from '../batchEncoder.ts'
import { encodeFrames, type Frame } from '../codec/frame.ts'
import { orderedFrames } from '../rules/frameOrder.ts'
import { Channel } from './channel.ts'

const singular = { batches: 'singular', compression: 'zlib' } as const
const inOneTransaction = (frames: readonly Frame[]): Uint8Array => l1Transaction({ to: inbox, data: encodeFrames(frames) })

/** Frames of a channel with the next blocks, as many as asked for or more. */
function nextFrames(world: DeriveWorld, blocks = 3, maxBytes = 120, from = 'user'): readonly Frame[] {
  const made = world.sequence(blocks, (number) => [userTransaction(number, from)])
  return framesOf(world.channelId(), channelOf(world.config, made, singular), { kind: 'calldata', maxBytes })
}

describe('derive/channelBank', () => {
  const world = (fork: 'bedrock' | 'canyon' | 'fjord' | 'granite'): DeriveWorld =>
    new DeriveWorld(forksTo(fork), { channelTimeoutBlocks: 6, channelTimeoutGraniteBlocks: 3 })

  it('takes frames in any order, twice, and of several channels at once', () => {
    const chain = world('canyon')
    const [a, b] = [nextFrames(chain), nextFrames(chain)]
    const mixed = [...a.toReversed(), ...a].flatMap((frame, index) => [frame, ...b.slice(index, index + 1)])
    chain.mine({ transactions: [inOneTransaction([...mixed, ...b])] })
    expect([chain.derive(), chain.agrees]).toEqual([6, true])
  })

  it('before Canyon a channel waits for the one opened before it; from Canyon on it does not', () => {
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
  ] as const)('under %s a channel that is finished %d blocks after its opening gives %d blocks', (fork, blocks, safe) => {
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
  ])('the shorter timeout counts in L1 blocks of Granite: %d of them, %d blocks', (blocks, safe) => {
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

  it('before Canyon a channel that timed out no longer holds up the others', () => {
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

  it('prunes the oldest channels when all together exceed 100,000,000 bytes', () => {
    const chain = world('canyon')
    const good = nextFrames(chain, 1)
    const filler = (number: number): Uint8Array =>
      l1Transaction({
        to: inbox,
        data: calldataOf([{ channelId: `0x${'ff'.repeat(16)}`, number, data: new Uint8Array(999_800), isLast: false }]),
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

  it('drops frames out of order: the channel stays open for the right one', () => {
    const chain = world()
    const [a, b, ...rest] = nextFrames(chain)
    if (a === undefined || b === undefined || rest.length === 0) throw new Error('too few frames')
    chain.mine({ transactions: [a, ...rest, b, b].map((frame) => inOneTransaction([frame])) })
    expect(chain.derive()).toBe(0)
    chain.mine({ transactions: rest.map((frame) => inOneTransaction([frame])) })
    expect([chain.derive(), chain.agrees]).toEqual([3, true])
  })

  it('a first frame begins a new channel in place of an unfinished one', () => {
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
  ])('a channel of %s, 200 for each frame among them', (_what, more, safe) => {
    const chain = new DeriveWorld({ ...forksTo('ecotone'), holocene: 0 })
    const [whole] = nextFrames(chain, 3, 100_000)
    if (whole === undefined) throw new Error('no frame')
    // what follows the end of a zlib stream is ignored
    const frames = Array.from({ length: 11 }, (_, number): Frame => {
      const data = new Uint8Array(number < 10 ? 999_000 : 10_000_000 - 10 * 999_000 - 11 * 200 + more)
      if (number === 0) data.set(whole.data)
      return { ...whole, number, data, isLast: number === 10 }
    })
    chain.mine({ transactions: frames.map((frame) => inOneTransaction([frame])) })
    expect(chain.derive()).toBe(safe)
  })

  it('a channel does not begin again in the transaction that ended it', () => {
    const chain = world()
    const [first] = nextFrames(chain, 1, 10_000)
    if (first === undefined) throw new Error('no frame')
    const again = nextFrames(chain, 1).map((frame) => ({ ...frame, channelId: first.channelId }))
    chain.mine({ transactions: [inOneTransaction([first, ...again])] })
    expect(chain.derive()).toBe(1)
    chain.mine({ transactions: [inOneTransaction(again)] })
    expect([chain.derive(), chain.agrees]).toEqual([2, true])
  })

  it('frames without a first one are dropped', () => {
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
  ])('a channel that is finished %d blocks after its opening gives %d blocks', (blocks, safe) => {
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

  it('a closing frame removes those after it, and their size', () => {
    const channel = new Channel('0x01', 5)
    for (const number of [4, 3, 1, 0]) expect(channel.add(frame(number))).toBeUndefined()
    expect([channel.add(frame(2, true)), channel.isReady, channel.sizeBytes]).toEqual([undefined, true, 3 * 201])
    expect([...channel.data()]).toEqual([0, 1, 2])
  })

  it('refuses a second end, a number seen before, one after the end, another channel', () => {
    const channel = new Channel('0x01', 5)
    channel.add(frame(2, true))
    expect([frame(1, true), frame(2), frame(3), { ...frame(0), channelId: '0x02' as const }].map((one) => channel.add(one))).toEqual([
      'second last frame',
      'seen before',
      'after the last frame',
      'of another channel',
    ])
    expect(channel.isReady).toBe(false)
  })
})

describe('derive/frameOrder', () => {
  /** 'a0 a1. b0': channel, number, a dot for the last */
  const frames = (text: string): Frame[] =>
    text.split(' ').map((one) => ({
      channelId: `0x${one.charAt(0)}0`,
      number: Number.parseInt(one.slice(1), 10),
      data: new Uint8Array(0),
      isLast: one.endsWith('.'),
    }))

  it.each([
    ['all in order', 'a0 a1. b0 b1', 'a0 a1. b0 b1'],
    ['a number left out', 'a0 a2 a1.', 'a0 a1.'],
    ['the same twice', 'a0 a0 a1 a1.', 'a0 a1'],
    ['after the end', 'a0. a1 b0', 'a0. b0'],
    ['another channel in the middle', 'a0 b1 a1.', 'a0 a1.'],
    ['a new channel discards an unfinished one', 'a0 a1 a2 b0 a3.', 'b0'],
    ['but not a finished one', 'a0. b0 b1 c0.', 'a0. c0.'],
    ['the first frame may go on with a channel from before', 'a3 a4. b0', 'a3 a4. b0'],
    ['a channel that ended does not begin again behind a discarded one', 'a0. b0 a0', 'a0.'],
  ])('%s: %s', (_what, given, kept) => {
    expect(orderedFrames(frames(given))).toEqual(frames(kept))
  })
})
