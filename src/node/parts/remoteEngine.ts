import type { Registry } from 'prom-client'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Waits } from '#consensus/waits'
import { createEngineHttp, type EngineHttp } from '#engine/engineHttp'
import { engineMetrics } from '#engine/metrics'
import type { Clock } from '#lib/clock'
import { Fault } from '#lib/fault'
import type { Log } from '#lib/log'
import { type Backoff, type FailedTry, type Random, retry } from '#lib/retry'
import type { EngineEndpoint } from '../nodeOptions.ts'
import type { ConsensusHalf } from './consensusHalf.ts'

export type RemoteEngineDeps = {
  readonly clock: Clock
  readonly random: Random
  readonly fetch: typeof fetch
  readonly log: Log
  readonly registry: Registry
}

/** for a read; what executes blocks has a multiple of it */
const timeoutMs = 10_000
/** A half that is elsewhere sees by this, also while L1 is waited for, that there is somebody who would tell it of new blocks. */
const lookEveryMs = 10_000

/** An execution half that was away for a moment is asked again soon: nothing else goes on without it. */
const backoff: Backoff = { baseMs: 250, maxMs: 5_000, jitter: 0.5 }

/** The execution half elsewhere; calls under way end with the signal. */
export function openRemoteEngine(
  deps: RemoteEngineDeps,
  { url, jwtSecret }: EngineEndpoint,
  config: RollupConfig,
  stop: AbortSignal,
): EngineHttp {
  const metrics = engineMetrics.register(deps.registry)
  return createEngineHttp({ ...deps, log: deps.log.child('engine'), metrics }, { url, jwtSecret, config, timeoutMs, stop })
}

/**
 * Resolves when the other half is there and is the right one; that may be much later.
 * @throws Fault ENGINE_WRONG_CHAIN (fatal); the signal's reason
 */
async function awaitEngine(
  { clock, random, log }: Pick<RemoteEngineDeps, 'clock' | 'random' | 'log'>,
  engine: Pick<EngineHttp, 'check'>,
  waits: Pick<Waits, 'enter' | 'leave'>,
  signal: AbortSignal,
): Promise<void> {
  const onFailure = ({ failures, delayMs, error }: FailedTry): void => {
    log.warn('the execution half cannot be used yet', { failures, delayMs, error })
    waits.enter('engine', error)
  }
  await retry({ clock, random }, { backoff, signal, onFailure }, () => engine.check(signal))
  waits.leave('engine')
}

/**
 * Looks at the other half again and again, until the signal is aborted: one that was replaced by that of another chain ends the node. That it does
 * not answer is noticed and reported by those who want something of it.
 * @throws Fault ENGINE_WRONG_CHAIN (fatal)
 */
async function watchEngine(clock: Clock, engine: Pick<EngineHttp, 'check'>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await clock.delay(lookEveryMs, signal)
      await engine.check(signal)
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof Fault) || error.severity === 'fatal') throw error
    }
  }
}

/**
 * Runs the consensus half once the other half is there, and looks at that one meanwhile.
 * @throws Fault ENGINE_WRONG_CHAIN, and what the consensus half throws (fatal)
 */
export async function runApart(
  deps: RemoteEngineDeps,
  engine: EngineHttp,
  consensus: Pick<ConsensusHalf, 'run' | 'waits'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await awaitEngine(deps, engine, consensus.waits, signal)
  } catch (error) {
    if (signal.aborted) return
    throw error
  }
  const over = new AbortController()
  const until = AbortSignal.any([signal, over.signal])
  const parts = [consensus.run(until), watchEngine(deps.clock, engine, until)].map((part) => part.finally(() => over.abort()))
  await Promise.allSettled(parts)
  await Promise.all(parts)
}
