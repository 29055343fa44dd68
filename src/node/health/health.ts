import type { FollowStatus } from '#consensus/follow'
import type { DriverStatus } from '#consensus/status'
import type { ExecutionWorker } from '#executionThread/executionThread'
import type { Clock } from '#lib/clock'
import type { MemoryGuard } from '#lib/memoryGuard'
import type { SyncProgress } from '#rpc/ports'
import { freeBytes } from '#store/freeSpace'
import type { NodeOptions } from '../nodeOptions.ts'
import { maxSilentMs, maxUnansweredMs } from '../parts/engineSilence.ts'
import { readinessProblems } from './readiness.ts'

/** Calls of the consensus half as an execution half alone sees them. */
export type EngineUse = {
  /** since its last call; undefined: it never called */
  readonly silentMs: number | undefined
  /** since the start of its oldest call without an answer; 0: every call has one */
  readonly unansweredMs: number
  /** set while it names blocks that this node does not have */
  readonly behind: SyncProgress | undefined
  /** its last payload, if that was refused and is above the head; absent: it was not */
  readonly refused?: { readonly number: number; readonly head: number } | undefined
}

/** Returns why the state of an execution half alone is not fresh, for the operator; empty: it is fresh. Pure. */
export function engineProblems({ silentMs, unansweredMs, behind, refused }: EngineUse): readonly string[] {
  if (silentMs === undefined) return ['no consensus half has called since the start']
  const problems: string[] = []
  if (silentMs > maxSilentMs) problems.push(`the consensus half has not called for ${seconds(silentMs)} s`)
  if (unansweredMs > maxUnansweredMs) problems.push(`a call of the consensus half has had no answer for ${seconds(unansweredMs)} s`)
  if (behind) problems.push(`the head is block ${behind.current}, but the consensus half names blocks that this node does not have`)
  if (refused) problems.push(`the head is block ${refused.head}, but block ${refused.number} of the consensus half was refused here`)
  return problems
}

/** Returns why the head may not move, for the operator. @param longMs executions that take longer are reported */
export function executionProblems(execution: ExecutionUse, longMs: number): readonly string[] {
  const [running, abandoned] = [execution.running(), execution.abandoned()]
  const problems: string[] = []
  if (running && running.forMs > longMs) problems.push(`execution of block ${running.number} has taken ${seconds(running.forMs)} s`)
  if (abandoned) problems.push(`execution of block ${abandoned.number} was abandoned after ${seconds(abandoned.afterMs)} s`)
  return problems
}

const seconds = (ms: number): number => Math.round(ms / 1000)

/** Returns why a node without a chain is not ready. @param step of its first start. Pure. */
export const firstStartProblem = (step: string): string => `the first start is not finished: ${step}`

/** Returns why blocks are refused for lack of disk space; `free` undefined: it cannot be read. Pure. */
export function diskProblems(free: number | undefined, minFreeBytes: number): readonly string[] {
  if (free === undefined) return ['the free space of the data directory cannot be read']
  return free < minFreeBytes
    ? [`the disk of the data directory has ${free} bytes free, less than --db.min-free ${minFreeBytes}: new blocks are refused`]
    : []
}

/** Returns why calls are refused for lack of memory. Pure. */
export function memoryProblems({ maxBytes, level }: Pick<MemoryGuard, 'maxBytes' | 'level'>): readonly string[] {
  return level() === 'full' ? [`the memory of the process is near --memory-max ${maxBytes}: calls are refused`] : []
}

/** Returns why blocks of the followed node are not taken. Pure. */
export function followProblems(status: FollowStatus | undefined): readonly string[] {
  if (status?.fault) return [`following has stopped: ${status.fault.message} (${status.fault.code})`]
  return status?.refusal ? [`blocks of the followed node are refused: ${status.refusal.message} (${status.refusal.code})`] : []
}

export type ExecutionUse = Pick<ExecutionWorker, 'running' | 'abandoned'>

export type HealthSources = {
  readonly clock: Clock
  readonly status: () => DriverStatus | undefined
  readonly follow: () => FollowStatus | undefined
  /** returns why the node is about to leave the chain */
  readonly forks: () => readonly string[]
  /** absent: no other half drives this one */
  readonly engineUse: (() => EngineUse) | undefined
  /** absent: no block is executed here */
  readonly execution: ExecutionUse | undefined
  /** returns why a node that requires proofs is not ready */
  readonly proofs: () => readonly string[]
  /** returns why blocks of peers may be missing */
  readonly peers: () => readonly string[]
  /** returns why the state may be of another chain */
  readonly trust: () => readonly string[]
}

/** Execution time of one block after which the node is not ready. */
const longExecutionMs = 4_000

/** Returns why the node is not ready, by mode; empty: it is ready. */
export function problemsOf(
  { clock, status, follow, forks, engineUse, execution, proofs, peers, trust }: HealthSources,
  { mode, source, readyMaxLagSec, datadir, minFreeBytes }: NodeOptions,
): readonly string[] {
  const now = status()
  return [
    ...(execution ? executionProblems(execution, longExecutionMs) : []),
    ...(now ? readinessProblems(now, clock.nowMs(), source && readyMaxLagSec) : []),
    ...followProblems(follow()),
    ...forks(),
    ...proofs(),
    ...peers(),
    ...trust(),
    ...(engineUse ? engineProblems(engineUse()) : []),
    ...(mode === 'consensus' ? [] : diskProblems(freeIn(datadir), minFreeBytes)),
  ]
}

/** Returns the free bytes of the disk under a directory; undefined: they cannot be read. */
export function freeIn(datadir: string): number | undefined {
  try {
    return freeBytes(datadir)
  } catch {
    return undefined
  }
}
