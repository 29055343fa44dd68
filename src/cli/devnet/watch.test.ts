import { expect, it } from 'vitest'
import type { DevnetStatus } from '#devnet/status'
import { createManualClock } from '#test/harness/clock'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { createLiveLine } from '../output.ts'
import { type WatchStyle, watchStatus } from './watch.ts'

const status: DevnetStatus = {
  l1: { head: 61, isReachable: true },
  sequencer: { unsafe: 120, safe: 113, finalized: 96, isActive: true },
  batcher: { isPosting: true, backlogBlocks: 1 },
  verifier: { unsafe: 120, safe: 112, finalized: 96 },
  lagBlocks: 8,
  agreement: { kind: 'agrees', compared: 112, target: 112 },
  blocks: { perSec: 4.98, intervalP99Ms: 212.4 },
  transactionsPerSec: 0,
  times: { preconfirmed: 118, sealed: 1_240, safe: 6_000 },
  problems: [],
}
const difference = { number: 7, sequencer: '0x1', verifier: '0x2' }
const red = '\u001b[31m'

function watched(style: WatchStyle, isTerminal: boolean, shown: DevnetStatus = status) {
  const clock = createManualClock()
  const io = scriptedIo({ clock, isTerminal })
  const watch = watchStatus(io, createLiveLine(io, isTerminal), { status: () => shown }, style)
  return { clock, io, watch }
}

it('cli/devnet/watch: rewrites the line on a terminal twice a second, in red when the nodes disagree', async () => {
  const { clock, io } = watched('line', true)
  await clock.advanceMs(600)
  expect(io.written.err).toContain('unsafe 120 · safe 112 (−8)')
  expect(io.written.err).not.toContain(red)
  const bad = watched('line', true, { ...status, agreement: { kind: 'disagrees', compared: 6, target: 112, difference } })
  await bad.clock.advanceMs(600)
  expect(bad.io.written.err).toContain(`${red}unsafe 120`)
  expect(bad.io.written.out).toBe('')
})

it('cli/devnet/watch: writes a plain line every ten seconds without a terminal', async () => {
  const { clock, io } = watched('line', false)
  await clock.advanceMs(9_999)
  expect(io.written.err).toBe('')
  await clock.advanceMs(20_001)
  expect(io.written.err.split('\n').filter((line) => line.startsWith('unsafe 120'))).toHaveLength(3)
  expect(io.written.err).not.toContain('\u001b')
})

it('cli/devnet/watch: writes events as one line of JSON each', async () => {
  const { clock, io } = watched('events', true)
  await clock.advanceMs(20_000)
  const events = io.written.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
  expect(events).toEqual([
    { event: 'status', ...status },
    { event: 'status', ...status },
  ])
  expect(io.written.err).toBe('')
})

it('cli/devnet/watch: writes nothing when quiet, and nothing after the end', async () => {
  const quiet = watched('quiet', true)
  await quiet.clock.advanceMs(60_000)
  expect(quiet.io.written).toEqual({ out: '', err: '' })
  const { clock, io, watch } = watched('line', false)
  watch[Symbol.dispose]()
  await clock.advanceMs(60_000)
  expect(io.written.err).toBe('')
})
