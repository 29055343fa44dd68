import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Waits } from '#consensus/waits'
import { createEngineHttp, type EngineHttp } from '#engine/engineHttp'
import { engineMetrics } from '#engine/metrics'
import type { Clock } from '#lib/clock'
import { Fault } from '#lib/fault'
import { type Backoff, type FailedTry, retry } from '#lib/retry'
import type { PartDeps } from '../nodeDeps.ts'
import type { EngineEndpoint } from '../nodeOptions.ts'
import type { ConsensusHalf } from './consensusHalf.ts'

/** of a read; calls that execute blocks have a multiple of it */
const timeoutMs = 10_000
/** Interval of checks. They also show the execution half that a consensus half is there while L1 is awaited. */
const lookEveryMs = 10_000

/** Short delays: without the execution half nothing else can proceed. */
const backoff: Backoff = { baseMs: 250, maxMs: 5_000, jitter: 0.5 }

/** Opens the execution half in another process. Unanswered calls end with the signal. */
export function openRemoteEngine(deps: PartDeps, { url, jwtSecret }: EngineEndpoint, config: RollupConfig, stop: AbortSignal): EngineHttp {
  const metrics = engineMetrics.register(deps.registry)
  return createEngineHttp({ ...deps, log: deps.log.child('engine'), metrics }, { url, jwtSecret, config, timeoutMs, stop })
}

/**
 * Resolves when the execution half answers and has the right chain, which may take long.
 * @throws Fault ENGINE_WRONG_CHAIN (fatal); the signal's reason
 */
async function awaitEngine(
  { clock, random, log }: PartDeps,
  engine: Pick<EngineHttp, 'check'>,
  waits: Pick<Waits, 'enter' | 'leave'>,
  signal: AbortSignal,
): Promise<void> {
  const onFailure = ({ failures, delayMs, error }: FailedTry): void => {
    log.warn('execution half not usable yet, retrying', { failures, delayMs, error })
    waits.enter('engine', error)
  }
  await retry({ clock, random }, { backoff, signal, onFailure }, () => engine.check(signal))
  waits.leave('engine')
}

/**
 * Checks the execution half repeatedly until the signal is aborted: a replacement with another chain ends the node. Parts that call the execution half
 * notice and report that it does not answer.
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
 * Runs the consensus half once the execution half answers, and checks the execution half meanwhile.
 * @throws Fault ENGINE_WRONG_CHAIN, and those of the consensus half (fatal)
 */
export async function runApart(
  deps: PartDeps,
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
