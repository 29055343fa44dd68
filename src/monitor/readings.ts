import type { RpcAnswer } from '#types/jsonRpc'
import type { MetricValues } from './metricText.ts'

/** Result or error of a call; `none`: the node gave no valid answer. Texts are the node's: print them in one line only. */
export type CallAnswer = RpcAnswer | { readonly kind: 'none'; readonly reason: string }

/** The health page `/readyz`. */
export type ReadyPage = {
  readonly ready: boolean
  readonly problems: readonly string[]
  /** progress of a state that is not whole */
  readonly state?: string
}

/** A part of a node that answered, or the reason why it did not. */
export type Reached<T> = { readonly kind: 'reached'; readonly value: T } | { readonly kind: 'silent'; readonly reason: string }

/** Answers of a node about its state. Each part may be missing: JSON-RPC and metrics are different ports, and of two halves one has no JSON-RPC. */
export type Readings = {
  /** by the wall clock */
  readonly nowMs: number
  /** by a clock without jumps */
  readonly elapsedMs: number
  /** by method; blocks by label */
  readonly rpc: Reached<Readonly<Record<string, CallAnswer>>>
  readonly metrics: Reached<MetricValues>
  readonly ready: Reached<ReadyPage>
  /** rollup config of a consensus half, which has no JSON-RPC of the chain; undefined: not read */
  readonly rollupConfig: unknown
}
