import { Counter, Gauge, type Registry } from 'prom-client'
import type { DriverStatus } from '#consensus/status'
import { lazy } from '#lib/lazy'

type Ref = { readonly number: number; readonly timestamp: number }

/** Names of the heads in dashboards of other clients, and their value in a status. */
const refs: Readonly<Record<string, { readonly layer: 'l1' | 'l2'; readonly of: (status: DriverStatus) => Ref | undefined }>> = {
  l1_head: { layer: 'l1', of: ({ l1 }) => l1.latest },
  l1_safe: { layer: 'l1', of: ({ l1 }) => l1.safe },
  l1_finalized: { layer: 'l1', of: ({ l1 }) => l1.finalized },
  l1_derived: { layer: 'l1', of: ({ origin }) => origin },
  l2_unsafe: { layer: 'l2', of: ({ heads }) => heads?.unsafe },
  l2_safe: { layer: 'l2', of: ({ heads }) => heads?.safe },
  l2_finalized: { layer: 'l2', of: ({ heads }) => heads?.finalized },
}

/**
 * Metrics under the names that dashboards and alerts of op-node and base-consensus use, where the meaning is the same. Metrics without an equivalent
 * here, such as the number of peers, are absent rather than zero.
 * @returns function to call before a scrape
 */
export function createCompatMetrics(registry: Registry): (status: DriverStatus, nowMs: number) => void {
  const common = { registers: [registry] }
  const labelled = { ...common, labelNames: ['layer', 'type'] }
  const numbers = new Gauge({ ...labelled, name: 'op_node_default_refs_number', help: 'Number of a block by its role' })
  const latencies = new Gauge({ ...labelled, name: 'op_node_default_refs_latency', help: 'Wall clock less its timestamp, in seconds' })
  const idle = new Gauge({ ...common, name: 'op_node_default_derivation_idle', help: '1: derivation waits for the next L1 block' })
  const resets = new Counter({ ...common, name: 'op_node_default_pipeline_resets_total', help: 'Resets of derivation' })
  const labels = new Gauge({ ...common, name: 'base_node_block_labels', help: 'Number of an L2 head', labelNames: ['label'] })
  const originOf = lazy(
    () => new Gauge({ ...common, name: 'base_node_derivation_l1_origin', help: 'Number of the last L1 block that derivation read' }),
  )
  return (status, nowMs) => {
    for (const [type, { layer, of }] of Object.entries(refs)) {
      const ref = of(status)
      if (ref === undefined) continue
      numbers.set({ layer, type }, ref.number)
      latencies.set({ layer, type }, nowMs / 1000 - ref.timestamp)
    }
    for (const label of ['unsafe', 'safe', 'finalized'] as const) if (status.heads) labels.set({ label }, status.heads[label].number)
    if (status.origin) originOf().set(status.origin.number)
    idle.set(status.wait?.reason === 'l1-head' ? 1 : 0)
    resets.reset()
    resets.inc(status.resets)
  }
}
