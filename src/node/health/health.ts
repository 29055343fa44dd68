import type { FollowStatus } from '#consensus/follow'
import type { DriverStatus } from '#consensus/status'
import type { ExecutionWorker } from '#executionThread/executionThread'
import type { Clock } from '#lib/clock'
import type { SyncProgress } from '#rpc/ports'
import { freeBytes } from '#store/freeSpace'
import type { NodeOptions } from '../nodeOptions.ts'
import { maxSilentMs } from '../parts/engineSilence.ts'
import { readinessProblems } from './readiness.ts'

/** What an execution half alone knows of the one that moves it. */
export type EngineUse = {
  /** since it called; undefined: it never did */
  readonly silentMs: number | undefined
  /** while it names blocks that are not known here */
  readonly behind: SyncProgress | undefined
}

/** Why the answers of an execution half alone are not fresh, in words for an operator; none: they are. Pure. */
export function engineProblems({ silentMs, behind }: EngineUse): readonly string[] {
  if (silentMs === undefined) return ['no consensus half has called since the start']
  const problems: string[] = []
  if (silentMs > maxSilentMs) problems.push(`the consensus half has not called for ${Math.round(silentMs / 1000)} s`)
  if (behind) problems.push(`block ${behind.current} is the head, and the consensus half names blocks that are not known here`)
  return problems
}

/** Why the head may not move, in words for an operator. @param longMs an execution that takes longer is named */
export function executionProblems(execution: ExecutionUse, longMs: number): readonly string[] {
  const [running, abandoned] = [execution.running(), execution.abandoned()]
  const problems: string[] = []
  if (running && running.forMs > longMs) problems.push(`execution of block ${running.number} has taken ${seconds(running.forMs)} s`)
  if (abandoned) problems.push(`execution of block ${abandoned.number} was abandoned after ${seconds(abandoned.afterMs)} s`)
  return problems
}

const seconds = (ms: number): number => Math.round(ms / 1000)

/** Why nothing more is written; `free` undefined: the disk cannot be asked. Pure. */
export function diskProblems(free: number | undefined, minFreeBytes: number): readonly string[] {
  if (free === undefined) return ['the disk of the data directory does not answer']
  return free < minFreeBytes
    ? [`${free} bytes are free on the disk of the data directory, less than ${minFreeBytes}: no block is taken`]
    : []
}

/** Why a followed chain is not taken over, or not any more. Pure. */
export function followProblems(status: FollowStatus | undefined): readonly string[] {
  if (status?.fault) return [`nothing is followed any more: ${status.fault.message} (${status.fault.code})`]
  return status?.refusal ? [`the followed node is refused: ${status.refusal.message} (${status.refusal.code})`] : []
}

/** What the thread that executes blocks does. */
export type ExecutionUse = Pick<ExecutionWorker, 'running' | 'abandoned'>

export type HealthSources = {
  readonly clock: Clock
  readonly status: () => DriverStatus | undefined
  readonly follow: () => FollowStatus | undefined
  /** absent: no other half moves this one */
  readonly engineUse: (() => EngineUse) | undefined
  /** absent: no block is executed here */
  readonly execution: ExecutionUse | undefined
}

/** Why the node's answers are not fresh, by mode; none: they are. */
export function problemsOf(
  { clock, status, follow, engineUse, execution }: HealthSources,
  { mode, config, source, readyMaxLagSec, datadir, minFreeBytes }: NodeOptions,
): readonly string[] {
  const now = status()
  return [
    ...(execution ? executionProblems(execution, 2_000 * config.blockTimeSec) : []),
    ...(now ? readinessProblems(now, clock.nowMs(), source && readyMaxLagSec) : []),
    ...followProblems(follow()),
    ...(engineUse ? engineProblems(engineUse()) : []),
    ...(mode === 'consensus' ? [] : diskProblems(freeIn(datadir), minFreeBytes)),
  ]
}

/** Free bytes of the disk under a directory; undefined: it does not answer. */
export function freeIn(datadir: string): number | undefined {
  try {
    return freeBytes(datadir)
  } catch {
    return undefined
  }
}
