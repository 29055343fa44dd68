import type { Registry } from 'prom-client'
import type { Clock } from '#lib/clock'
import type { KzgThread } from '#lib/kzg/kzgThread'
import type { Log, RootLog } from '#lib/log'
import type { Random } from '#lib/retry'
import type { Supervisor } from '#lib/supervisor'
import type { HealthServer } from './health/healthServer.ts'

export type NodeDeps = {
  readonly clock: Clock
  readonly random: Random
  readonly fetch: typeof fetch
  /** admin_setLogLevel can change the levels of a RootLog */
  readonly log: Log | RootLog
  /** texts that no written profile contains; absent: none are known */
  readonly secrets?: readonly string[]
  /** watches the execution thread; absent: it is not watched */
  readonly supervisor?: Supervisor
  /** health server that has answered since before the node: the node shows its readiness there, and closes it; absent: the node starts its own */
  readonly health?: HealthServer | undefined
  /** Called right before and right after each transaction that moves the chain. */
  readonly onCommit?: (phase: 'begin' | 'end') => void
  /** thread that checks blobs for several nodes; absent: the node starts its own */
  readonly kzg?: KzgThread
}

/** Capabilities of a node's part. */
export type PartDeps = Pick<NodeDeps, 'clock' | 'random' | 'fetch'> & { readonly log: Log; readonly registry: Registry }
