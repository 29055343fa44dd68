import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { type Log, logTo } from '#lib/log'
import { HistoryCache } from '#state/historyCache'
import { pruneHistory } from '#state/pruneHistory'
import { storeFault } from '#store/faults'
import { Disk } from '#test/harness/chain/committing'
import { ModelChain } from '#test/harness/chain/modelChain'
import { anyBlock, expectModel } from '#test/harness/chain/stateModel'
import { createManualClock } from '#test/harness/clock'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { recordedStates } from './olderStates.ts'
import { Recorder } from './recorder.ts'
import { RecorderLoop } from './recorderLoop.ts'
import { readWanted, requestWanted } from './wanted.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-recorder-loop-'))
afterAll(() => rmSync(base, { recursive: true }))
const full = storeFault('DISK_FULL', { dir: base, reason: 'no space left on device' })
const blocks = fc.sample(anyBlock, { seed: 21, numRuns: 60 })

/** Records a chain of ten blocks on a disk. */
function start() {
  const chain = new ModelChain(createMemoryKv())
  const [disk, clock] = [new Disk(), createManualClock()]
  const [lines, failures, retried]: [string[], unknown[], (Error | undefined)[]] = [[], [], []]
  const log: Log = logTo(
    (level, message, fields) =>
      lines.push(`${level}: ${message}${fields && 'willRetry' in fields ? ` (retried: ${fields['willRetry']})` : ''}`),
    () => log,
  )
  const recorder = new Recorder({ kv: disk, chain: chain.kv, clock }, 'all')
  const onRetry = (error: Error | undefined): void => void retried.push(error)
  const onFailure = (error: unknown): void => void failures.push(error)
  const loop = new RecorderLoop({ recorder, kv: disk, dir: base, clock, log, onStep() {}, onRetry, onFailure })
  const append = (count: number): void => {
    for (let i = 0; i < count; i++) chain.append(blocks[chain.head % blocks.length] ?? [])
  }
  append(10)
  return {
    ...{ chain, disk, clock, lines, failures, retried, append, loop },
    window() {
      using proofs = disk.snapshot()
      using reader = chain.kv.snapshot()
      return recordedStates(proofs, reader, chain.head, new HistoryCache()).window
    },
    /** Expects the first and the last recorded state to equal the model. @returns the last one */
    recorded(): number | undefined {
      using proofs = disk.snapshot()
      using reader = chain.kv.snapshot()
      const states = recordedStates(proofs, reader, chain.head, new HistoryCache())
      const { window } = states
      for (const number of window ? [window.earliest, window.latest] : [])
        expectModel(
          states.at(number, () => undefined),
          chain.models[number] ?? expect.fail(),
          chain.roots[number] ?? expect.fail(),
        )
      return window?.latest
    },
  }
}

it('proofs/recorderLoop: logs a full disk once, retries, and goes on where it was when space is free (DISK_FULL)', async () => {
  const { chain, disk, clock, lines, failures, retried, append, recorded } = start()
  await clock.advanceMs(1_000)
  append(5)
  await clock.advanceMs(1_000)
  expect(recorded()).toBe(15)
  disk.fails = full
  append(20)
  await clock.advanceMs(60_000)
  expect(lines).toEqual(['error: proofs not recorded (retried: true)'])
  expect([chain.head, recorded()]).toEqual([35, 15])
  chain.unwind(3)
  append(1)
  disk.fails = undefined
  await clock.advanceMs(2_500)
  expect(recorded()).toBe(33)
  expect(lines.splice(0)).toEqual(['error: proofs not recorded (retried: true)', 'info: recording of proofs resumed'])
  disk.fails = full
  append(1)
  await clock.advanceMs(10_000)
  expect(lines).toEqual(['error: proofs not recorded (retried: true)'])
  expect(retried).toEqual([full, undefined, full])
  expect(failures).toEqual([])
})

it.each([
  ['a failed store', storeFault('STORE_FAILED', { dir: base, reason: 'input/output error' })],
  ['an error that is no fault', new RangeError('block 7 is not in the chain')],
])('proofs/recorderLoop: ends with %s, also on a full disk, and the chain goes on', async (_what, error) => {
  const { chain, disk, clock, lines, failures, append } = start()
  disk.fails = full
  await clock.advanceMs(5_000)
  disk.fails = error
  await clock.advanceMs(60_000)
  expect(failures).toEqual([error])
  expect(lines).toEqual(['error: proofs not recorded (retried: true)', 'error: proofs not recorded (retried: false)'])
  expect(clock.waiting).toBe(0)
  append(5)
  expect(chain.head).toBe(15)
})

it('proofs/recorderLoop: a request for older blocks survives a full disk and a stop before it is written', async () => {
  const { disk, clock, loop, recorded } = start()
  await clock.advanceMs(1_000)
  disk.fails = full
  requestWanted(base, 4)
  await clock.advanceMs(10_000)
  loop[Symbol.dispose]()
  expect(readdirSync(base)).toHaveLength(1)
  const later = start()
  await later.clock.advanceMs(1_000)
  expect(readdirSync(base)).toEqual([])
  expect([recorded(), later.recorded()]).toEqual([10, 10])
  expect(later.window()).toEqual({ earliest: 4, latest: 10 })
})

it('proofs/recorderLoop: a later request for fewer blocks does not end an earlier one', async () => {
  const { disk, clock, append, window } = start()
  await clock.advanceMs(1_000)
  disk.fails = full
  for (const number of [3, 7]) {
    requestWanted(base, number)
    await clock.advanceMs(5_000)
  }
  disk.fails = undefined
  append(2)
  await clock.advanceMs(10_000)
  expect(readdirSync(base)).toEqual([])
  expect(window()).toEqual({ earliest: 3, latest: 12 })
})

it('proofs/recorderLoop: goes on to record when values of an older block are damaged (PROOFS_MISMATCH)', async () => {
  const { chain, disk, clock, lines, failures, append, recorded, window } = start()
  await clock.advanceMs(1_000)
  chain.falsifyRoot(6, chain.roots[2] ?? expect.fail())
  chain.kv.write((tx) => pruneHistory(tx, { values: 0, nodes: 10 }, () => true))
  requestWanted(base, 0)
  await clock.advanceMs(1_000)
  append(5)
  await clock.advanceMs(1_000)
  expect(lines).toEqual(['error: older proofs not computed'])
  expect([recorded(), window(), failures]).toEqual([15, { earliest: 10, latest: 15 }, []])
  using reader = disk.snapshot()
  expect(readWanted(reader)).toBeUndefined()
})
