import { describe, expect, it } from 'vitest'
import type { L1Label } from '#consensus/ports'
import { createLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import type { L1Ref } from '#types/blockRef'
import { parseHash } from '#types/ids'
import { type HeadsOptions, L1HeadView, placeHead } from './heads.ts'

const { signal } = new AbortController()
const hash = (number: number, branch = 0) =>
  parseHash(`0x${branch.toString(16).padStart(2, '0')}${(number + 16).toString(16).padStart(62, '0')}`)
const startSec = 1_700_000_004
/** Block n is at 12 n seconds after the start. */
const ref = (number: number, branch = 0, parentBranch = branch): L1Ref => ({
  number,
  hash: hash(number, branch),
  parentHash: hash(number - 1, parentBranch),
  timestamp: startSec + 12 * number,
})

function watched(options: HeadsOptions = {}) {
  const clock = createManualClock(startSec * 1_000)
  const lines: string[] = []
  let shown: L1Ref | undefined
  let other: L1Ref | undefined
  let asked = 0
  const labels: Record<L1Label, L1Ref | undefined> = { latest: undefined, safe: undefined, finalized: undefined }
  const blocks = {
    async heads(of: readonly L1Label[]) {
      asked += of.length
      return of.map((label) => (label === 'latest' ? shown : labels[label]))
    },
    async newerHead(above: number) {
      asked++
      return [shown, other].find((one) => one !== undefined && one.number > above)
    },
  }
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const heads = new L1HeadView({ blocks, clock, log, usage: { moved: () => {} } }, options)
  return {
    clock,
    lines,
    heads,
    labels,
    asked: () => asked,
    show: (one: L1Ref | undefined) => {
      shown = one
    },
    showElsewhere: (one: L1Ref | undefined) => {
      other = one
    },
    /** Polls once per second for this number of seconds. */
    async poll(seconds: number) {
      for (let i = 0; i < seconds; i++) {
        await clock.advanceMs(1_000)
        await heads.head('latest', signal)
      }
      return heads.latest
    },
  }
}

it.each([
  ['the first head', undefined, ref(5), 'new'],
  ['a higher block', ref(5), ref(6), 'new'],
  ['the same block', ref(5), ref(5), 'same'],
  ['another block at its number', ref(5), ref(5, 1), 'new'],
  ['a lower block of its branch', ref(5), ref(4), 'behind'],
  ['a lower block of another branch', ref(5), ref(4, 1), 'new'],
  ['an unknown lower block', ref(5), ref(2), 'unknown'],
] as const)('l1/heads: compares %s with the head', (_what, best, seen, place) => {
  expect(placeHead(best, seen, (number) => (number >= 3 ? hash(number) : undefined))).toBe(place)
})

describe('l1/heads', () => {
  it('ignores the lower head of an endpoint that is behind', async () => {
    const { show, poll, lines } = watched()
    show(ref(0))
    await poll(12)
    show(ref(1))
    expect((await poll(4))?.number).toBe(1)
    show(ref(0))
    expect((await poll(60))?.number).toBe(1)
    show(ref(3))
    expect((await poll(12))?.number).toBe(3)
    expect(lines).toEqual([])
  })

  it('accepts a shorter branch at once', async () => {
    const { show, poll, lines } = watched()
    for (const number of [0, 1, 2, 3]) {
      show(ref(number))
      await poll(12)
    }
    show(ref(2, 1, 0))
    expect((await poll(12))?.hash).toBe(hash(2, 1))
    expect(lines.join()).toContain('moved back')
    show(undefined)
    expect((await poll(12))?.hash).toBe(hash(2, 1))
  })

  it.each([
    ['a block that it knows', 2],
    ['a block that it has never seen', -3],
  ])('accepts the loss of the head after two minutes, when L1 goes back to %s', async (_what, lower) => {
    const { show, poll, lines, clock } = watched()
    for (let number = 0; number <= 6; number++) {
      show(ref(number))
      await poll(12)
    }
    show(ref(lower))
    expect((await poll(120))?.number).toBe(6)
    expect(lines).toEqual([])
    expect((await poll(15))?.number).toBe(lower)
    expect(lines.join()).toContain('moved back')
    show(ref(lower + 1))
    expect((await poll(15))?.number).toBe(lower + 1)
    expect(clock.waiting).toBe(0)
  })

  it('keeps the head when L1 stands still, and when an endpoint was behind for less than two minutes', async () => {
    const { show, poll, lines } = watched()
    show(ref(0))
    await poll(12)
    show(ref(1))
    await poll(12)
    for (let i = 0; i < 3; i++) {
      show(ref(0))
      expect((await poll(100))?.number).toBe(1)
      show(ref(1))
      expect((await poll(13))?.number).toBe(1)
    }
    expect((await poll(300))?.number).toBe(1)
    expect(lines).toEqual([])
  })

  it('queries another endpoint after four slots without a new block', async () => {
    const { show, showElsewhere, poll } = watched()
    show(ref(0))
    await poll(1)
    show(ref(1))
    await poll(12)
    showElsewhere(ref(4))
    expect((await poll(24))?.number).toBe(1)
    expect((await poll(30))?.number).toBe(4)
  })

  it('asks all endpoints at once when the first head is overdue, and again after four slots, although it was never near the clock', async () => {
    const { show, showElsewhere, poll, clock } = watched()
    await clock.advanceMs(3_600_000)
    show(ref(2))
    showElsewhere(ref(290))
    expect((await poll(1))?.number).toBe(290)
    const { show: showStale, showElsewhere: showNewer, poll: pollStale, clock: late } = watched()
    await late.advanceMs(3_600_000)
    showStale(ref(2))
    expect((await pollStale(10))?.number).toBe(2)
    showNewer(ref(291))
    expect((await pollStale(38))?.number).toBe(2)
    expect((await pollStale(2))?.number).toBe(291)
  })

  it('requests the head at every poll while the chain is far from the clock', async () => {
    const { show, poll, asked, clock } = watched()
    await clock.advanceMs(3_600_000)
    show(ref(0))
    await poll(10)
    // one more question was for all endpoints
    expect(asked()).toBe(11)
    show(ref(7))
    expect((await poll(1))?.number).toBe(7)
  })

  it('a wrong wall clock delays a head by one slot at most', async () => {
    const { show, poll } = watched()
    // the chain is 100 seconds ahead of this clock
    show(ref(8))
    await poll(1)
    show(ref(9))
    expect((await poll(13))?.number).toBe(9)
  })

  it('requests both labels with one call, once in 96 seconds; finalized never moves back', async () => {
    const { heads, labels, asked, clock, show } = watched()
    show(ref(9))
    await clock.advanceMs(9 * 12_000)
    await heads.head('latest', signal)
    labels.safe = ref(5)
    labels.finalized = ref(3)
    const before = asked()
    for (let i = 0; i < 5; i++) {
      expect((await heads.head('safe', signal))?.number).toBe(5)
      expect((await heads.head('finalized', signal))?.number).toBe(3)
    }
    expect(asked() - before).toBe(2)
    labels.safe = ref(7)
    labels.finalized = ref(1)
    await clock.advanceMs(96_000)
    expect((await heads.head('safe', signal))?.number).toBe(7)
    expect((await heads.head('finalized', signal))?.number).toBe(3)
  })

  it('requests the labels as often as configured for a chain where each block moves them', async () => {
    const { heads, labels, clock, show } = watched({ labelEveryMs: 2_000 })
    show(ref(9))
    await clock.advanceMs(9 * 12_000)
    await heads.head('latest', signal)
    labels.finalized = ref(3)
    expect((await heads.head('finalized', signal))?.number).toBe(3)
    labels.finalized = ref(4)
    expect((await heads.head('finalized', signal))?.number).toBe(3)
    await clock.advanceMs(2_000)
    expect((await heads.head('finalized', signal))?.number).toBe(4)
  })
})
