import { Registry } from 'prom-client'
import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { EngineQueue } from '#consensus/engineQueue'
import { defaultFollowOptions, Follower, type FollowOptions } from '#consensus/follow'
import type { ProofsStatus } from '#consensus/followProofs'
import { ForkGate } from '#consensus/forkGate'
import { consensusMetrics, followMetrics } from '#consensus/metrics'
import type { L2Source } from '#consensus/ports'
import { Waits } from '#consensus/waits'
import { silentLog } from '#lib/log'
import type { BlockId } from '#types/blockRef'
import { zeroAddress, zeroHash } from '#types/ids'
import type { Payload } from '#types/payload'
import { attributesAt, chainStart, scheduleTo } from '../chain/blocks.ts'
import { createManualClock, type ManualClock, settle } from '../clock.ts'
import { createMemoryEngine, executeNothing, type MemoryEngine, payloadOf } from '../engine/engine.ts'
import { systemConfigWith } from '../l1/systemConfig.ts'

const schedule = scheduleTo('granite')
export const followGenesis: Payload = payloadOf({ number: -1, hash: zeroHash }, { timestamp: chainStart, transactions: [] })

export const followConfig: RollupConfig = {
  genesis: {
    l1: { number: 1, hash: zeroHash },
    l2: { number: 0, hash: followGenesis.blockHash },
    l2TimeSec: chainStart,
    systemConfig: systemConfigWith({}),
  },
  ...{ blockTimeSec: 2, maxSequencerDriftSec: 600, sequencingWindowBlocks: 20, channelTimeoutBlocks: 6, channelTimeoutGraniteBlocks: 4 },
  ...{ l1ChainId: 1, l2ChainId: 10, schedule, batchInbox: zeroAddress, depositContract: zeroAddress, l1SystemConfig: zeroAddress },
  eip1559: { elasticity: 6, denominator: 50, denominatorCanyon: 250 },
}

/** Extends a chain up to a block number. `branch` makes branches differ; `extra` is added to the first new block. */
export function grow(chain: readonly Payload[], to: number, branch = 0, extra: readonly Uint8Array[] = []): readonly Payload[] {
  const grown = [...chain]
  for (let number = chain.length; number <= to; number++) {
    const { blockNumber, blockHash } = grown.at(-1) ?? followGenesis
    const transactions = number === chain.length ? extra : []
    grown.push(payloadOf({ number: blockNumber, hash: blockHash }, attributesAt(schedule, number, transactions, branch)))
  }
  return grown
}

export const genesisOnly: readonly Payload[] = [followGenesis]
const idOf = ({ blockNumber, blockHash }: Payload): BlockId => ({ number: blockNumber, hash: blockHash })

export type ScriptedSource = L2Source & {
  /** Chain that the source serves; a test may replace it at any time. */
  chain: readonly Payload[]
  /** Block numbers of its labels. */
  safe: number | undefined
  finalized: number | undefined
  /** Head that the source claims to have, when it differs from its chain. */
  claimed: BlockId | undefined
  /** Interval between polls without a notification of a head. */
  idleMs: number
  /** Notifies of a head. */
  tell(): void
  /** Errors with which the next calls fail, in order. */
  readonly failures: unknown[]
  /** Promise that each call of `payloads` waits for. */
  hold: Promise<void> | undefined
  /** Requests so far: `latest`, `4+32` … */
  readonly asked: string[]
  /** Highest number of concurrent requests. */
  mostAtOnce: number
}

/** Source in memory. Without notifications it polls every 500 ms, or every `idleMs`. */
export function scriptedSource(clock: ManualClock, chain: readonly Payload[]): ScriptedSource {
  let wake = (): void => {}
  let running = 0
  const answer = async (asked: string, signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted()
    source.asked.push(asked)
    if (source.failures.length > 0) throw source.failures.shift()
  }
  const source: ScriptedSource = {
    ...{
      chain,
      safe: undefined,
      finalized: undefined,
      claimed: undefined,
      failures: [],
      hold: undefined,
      asked: [],
      mostAtOnce: 0,
      idleMs: 500,
    },
    tell: () => wake(),
    async head(label, signal) {
      await answer(label, signal)
      if (label === 'latest') return source.claimed ?? idOf(source.chain.at(-1) ?? followGenesis)
      const number = source[label]
      const payload = number === undefined ? undefined : source.chain[number]
      return payload && idOf(payload)
    },
    async payloads(from, count, signal) {
      await answer(`${from}+${count}`, signal)
      source.mostAtOnce = Math.max(source.mostAtOnce, ++running)
      const stopped = Promise.withResolvers<never>()
      const stop = (): void => stopped.reject(signal.reason)
      signal.addEventListener('abort', stop, { once: true })
      try {
        await Promise.race([source.hold, stopped.promise])
        return source.chain.slice(from, from + count)
      } finally {
        running--
        signal.removeEventListener('abort', stop)
      }
    },
    async payload(hash, signal) {
      await answer(hash, signal)
      return source.chain.find(({ blockHash }) => blockHash === hash)
    },
    async waitForHead(signal, withinMs = Number.POSITIVE_INFINITY) {
      const notified = new Promise<void>((resolve) => {
        wake = resolve
      })
      const polled = new AbortController()
      const stop = (): void => polled.abort(signal.reason)
      signal.addEventListener('abort', stop, { once: true })
      try {
        await Promise.race([notified, clock.delay(Math.min(source.idleMs, withinMs), polled.signal)])
      } finally {
        signal.removeEventListener('abort', stop)
        polled.signal.aborted || polled.abort()
      }
    },
  }
  return source
}

export type FollowWorld = AsyncDisposable & {
  readonly clock: ManualClock
  readonly source: ScriptedSource
  readonly engine: MemoryEngine
  readonly queue: EngineQueue
  readonly waits: Waits
  readonly follower: Follower
  readonly registry: Registry
  /** Result of the follower's run. */
  readonly ended: Promise<unknown>
  /** Advances the clock until the condition holds. Fails when no timer is left. */
  until(condition: () => boolean): Promise<void>
  /** Reasons of the present waits. */
  reasons(): string[]
  stop(): Promise<void>
}

export type FollowSetup = {
  readonly ours?: readonly Payload[]
  readonly safe?: number
  readonly finalized?: number
  readonly proofs?: ProofsStatus
  /** Errors with which the source's first calls fail. */
  readonly failures?: readonly unknown[]
  readonly options?: Partial<FollowOptions>
}

/** Starts a follower on the real engine queue, an engine in memory and a scripted source. */
export async function follow(theirs: readonly Payload[], setup: FollowSetup = {}): Promise<FollowWorld> {
  const { ours = genesisOnly, safe = 0, finalized = 0, proofs, failures = [], options = {} } = setup
  const clock = createManualClock()
  const source = scriptedSource(clock, theirs)
  source.failures.push(...failures)
  const at = (number: number) => l2RefOf(followConfig, ours[number] ?? followGenesis)
  const heads = { unsafe: at(ours.length - 1), safe: at(safe), finalized: at(finalized) }
  const engine = createMemoryEngine({ chain: ours, heads }, executeNothing)
  const registry = new Registry()
  const metrics = consensusMetrics.register(registry)
  const waits = new Waits({ clock, log: silentLog, metrics })
  const labels = options.labels ?? 'source'
  const followOptions: FollowOptions = { ...defaultFollowOptions, config: followConfig, labels, maxAheadSec: 1_024, ...options }
  const deps = { clock, random: () => 0, log: silentLog, waits }
  const queue = new EngineQueue({ ...deps, engine, metrics, forks: new ForkGate({ ...deps, metrics }, followOptions) }, followOptions)
  const control = new AbortController()
  await queue.load(control.signal)
  const follower = new Follower(
    { ...deps, source, inbox: queue, metrics: followMetrics.register(registry), ...(proofs && { proofs }) },
    followOptions,
  )
  const ended = follower.run(control.signal).then(
    () => undefined,
    (error: unknown) => error,
  )
  const stop = async (): Promise<void> => {
    control.abort()
    await ended
  }
  return {
    ...{ clock, source, engine, queue, waits, follower, registry, ended, stop },
    async until(condition) {
      for (let steps = 0; steps < 2_000; steps++) {
        await settle()
        if (condition()) return
        await clock.advanceToNext()
      }
      throw new Error(`condition not reached: ${JSON.stringify(follower.status())}`)
    },
    reasons: () => waits.current.map(({ reason }) => reason),
    [Symbol.asyncDispose]: stop,
  }
}
