import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, expect, it } from 'vitest'
import { createExecution } from '#blockchain/execution'
import { l2Fault, stateSourceFault } from '#l2/faults'
import { systemClock } from '#lib/clock'
import { createLog, silentLog } from '#lib/log'
import type { RangeSource } from '#state/stateSource'
import { openChainKv } from '#store/chainTables'
import { createManualClock, type ManualClock } from '#test/harness/clock'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { installAnchor } from '#test/harness/snapshot/anchoredChain'
import { executeRecorded } from '#test/harness/snapshot/loadRecorded'
import { WholeRanges } from '#test/harness/state/wholeNode'
import { type FillPart, fillText, openFill } from './fillPart.ts'

const folder = mkdtempSync(join(tmpdir(), 'basalt-fill-part-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const anchor = 3
const recorded = executeRecorded('op-ecotone-to-jovian', 20)

/** Source of a whole node that fails while `fault` is set. */
class Failing implements RangeSource {
  readonly #whole: RangeSource
  fault: Error | undefined
  asked = 0
  bytes = 0
  hasMethods = true

  constructor(whole: RangeSource) {
    this.#whole = whole
  }

  async ranges(...args: Parameters<RangeSource['ranges']>): ReturnType<RangeSource['ranges']> {
    this.asked++
    if (this.fault) throw this.fault
    const ranges = await this.#whole.ranges(...args)
    for (const { bytes } of ranges) this.bytes += bytes
    return ranges
  }

  async codes(...args: Parameters<RangeSource['codes']>): ReturnType<RangeSource['codes']> {
    return this.#whole.codes(...args)
  }

  enumerates(): boolean {
    return this.hasMethods
  }
}

type Options = { minFreeBytes: number; fill: { bytesPerSec?: number; maxDiskBytes?: number } }
type Filled = {
  readonly fill: FillPart
  readonly clock: ManualClock
  readonly source: Failing
  readonly options: Options
  /** of the log, warnings and errors */
  readonly lines: readonly string[]
}

async function withFill(
  name: string,
  change: (options: Options, source: Failing) => void,
  run: (filled: Filled) => Promise<void>,
): Promise<void> {
  const { chain, kv: whole } = await recorded
  const { config, genesis } = chain
  const datadir = join(folder, name)
  const dir = join(datadir, 'chain')
  await installAnchor(chain, whole, anchor, dir)
  await using kv = openChainKv(dir)
  await using execution = createExecution({ kv, evm: sharedEvm, config, genesis: () => genesis, clock: systemClock, log: silentLog })
  const clock = createManualClock()
  const source = new Failing(new WholeRanges(whole))
  const options: Options & { datadir: string } = { datadir, minFreeBytes: 0, fill: {} }
  change(options, source)
  const lines: string[] = []
  const log = createLog('warn', { write: (line) => void lines.push(line) })
  const fill = openFill({ clock, log, registry: new Registry(), execution, source }, options) ?? expect.fail('nothing to fill')
  await using _fill = fill
  await run({ fill, clock, source, options, lines })
}

/** Lets the fill work until a phase begins; its time moves by `stepMs` at once, that of the store by itself. */
async function until({ fill, clock }: Filled, phase: string, stepMs = 10): Promise<void> {
  for (const endMs = performance.now() + 50_000; fill.status().phase !== phase; await clock.advanceMs(stepMs)) {
    if (performance.now() > endMs) expect.fail(`${fill.status().phase}: ${fill.status().reason}`)
  }
}

it('node/fillPart: pauses while the disk has less than twice --db.min-free', async () => {
  await withFill(
    'free',
    (options) => {
      options.minFreeBytes = 2 ** 50
    },
    async (filled) => {
      await until(filled, 'paused')
      expect(fillText(filled.fill.status())).toMatch(
        /^0\.00 % of the keys are stored; paused: the disk has \d+ bytes free, and the fill leaves 2/,
      )
      await filled.clock.advanceMs(60_000)
      expect(filled.source.asked).toBe(0)
      filled.options.minFreeBytes = 0
      await until(filled, 'whole')
      expect(fillText(filled.fill.status())).toBe('whole')
    },
  )
}, 60_000)

it('node/fillPart: pauses while the chain is larger than --fill.max-disk', async () => {
  await withFill(
    'max',
    ({ fill }) => {
      fill.maxDiskBytes = 1
    },
    async (filled) => {
      await until(filled, 'paused')
      expect(filled.fill.status().reason).toMatch(/^the chain has \d+ bytes, more than --fill\.max-disk 1$/)
      filled.options.fill.maxDiskBytes = 2 ** 40
      await until(filled, 'walk')
    },
  )
}, 60_000)

it('node/fillPart: pauses while its sources fail, longer each time, at least as long as they ask for, and resumes', async () => {
  const fault = stateSourceFault('STATE_UNAVAILABLE', { part: 'a range', number: anchor, reason: 'a test' })
  await withFill(
    'failing',
    (_options, source) => {
      source.fault = fault
    },
    async (filled) => {
      const { source, clock, fill } = filled
      await until(filled, 'paused', 0)
      expect(fill.status().reason).toContain('a range')
      for (const ms of [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
        const { asked } = source
        await clock.advanceMs(ms - 1)
        expect(source.asked).toBe(asked)
        await clock.advanceMs(1)
        expect(source.asked).toBe(asked + 1)
      }
      source.fault = l2Fault('SOURCE_RATE_LIMITED', { endpoint: 'a', asked: 'a range', retryAfterMs: 30_000 })
      await clock.advanceMs(10_000)
      const { asked } = source
      await clock.advanceMs(29_999)
      expect(source.asked).toBe(asked)
      source.fault = undefined
      await clock.advanceMs(1)
      await until(filled, 'walk')
    },
  )
}, 60_000)

it('node/fillPart: a fill that ends while it is paused says so in the log', async () => {
  await withFill(
    'ends',
    (_options, source) => {
      source.fault = stateSourceFault('STATE_UNAVAILABLE', { part: 'a range', number: anchor, reason: 'a test' })
    },
    async (filled) => {
      await until(filled, 'paused', 0)
      filled.source.hasMethods = false
      await until(filled, 'off')
      expect(filled.lines.map((line) => JSON.parse(line))).toMatchObject([
        { level: 'warn', msg: 'fill of the state paused' },
        {
          level: 'error',
          msg: 'fill of the state ended before the state was whole',
          reason: expect.stringMatching(/^no source enumerates/),
        },
      ])
    },
  )
}, 60_000)

it('node/fillPart: keeps the bytes of its sources below --fill.bandwidth', async () => {
  const bytesPerSec = 5_000
  await withFill(
    'bandwidth',
    ({ fill }) => {
      fill.bytesPerSec = bytesPerSec
    },
    async (filled) => {
      await until(filled, 'walk')
      const startMs = filled.clock.elapsedMs()
      await until(filled, 'whole', 250)
      const seconds = (filled.clock.elapsedMs() - startMs) / 1_000
      expect(filled.source.bytes).toBeGreaterThan(20 * bytesPerSec)
      // a second is saved at most
      expect(seconds).toBeGreaterThan(filled.source.bytes / bytesPerSec - 1)
    },
  )
}, 60_000)

it.each<[string, (options: Options, source: Failing) => void, string]>([
  ['--fill.bandwidth is 0', ({ fill }) => Object.assign(fill, { bytesPerSec: 0 }), '--fill.bandwidth is 0'],
  [
    'no source enumerates its state',
    (_options, source) => {
      source.hasMethods = false
      source.fault = stateSourceFault('STATE_UNAVAILABLE', { part: 'a range', number: anchor, reason: 'a test' })
    },
    'no source enumerates the state (basalt_stateRange and debug_codeByHash): it stays partial, and the sources stay necessary',
  ],
  [
    'a fault cannot be retried',
    (_options, source) => {
      source.fault = new RangeError('a test')
    },
    'a test',
  ],
])('node/fillPart: is off when %s', async (what, change, reason) => {
  await withFill(what, change, async (filled) => {
    await until(filled, 'off')
    expect(filled.fill.status()).toMatchObject({ phase: 'off', reason, ratio: 0 })
  })
})
