import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { FlashblocksMetrics } from '#flashblocks/metrics'

/** Buckets of reth's histograms of durations. */
const buckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2]

/**
 * Returns the same metrics, which also count under the names of base-reth-node where the meaning is the same.
 * @see ../shared/reference/operators.md, section 7.3
 */
export function withPeersNames(registry: Registry, metrics: FlashblocksMetrics): FlashblocksMetrics {
  const prefix = 'reth_flashblocks_'
  const counterOf = (name: string, help: string): Counter => new Counter({ registers: [registry], name: prefix + name, help })
  const gaugeOf = (name: string, help: string): Gauge => new Gauge({ registers: [registry], name: prefix + name, help })
  const errors = counterOf('upstream_errors', 'Ended connections and rejected messages')
  const messages = counterOf('upstream_messages', 'Messages of publishers')
  const unexpected = counterOf('unexpected_block_order', 'Flashblocks that were repeated or did not fit')
  const failed = counterOf('block_processing_error', 'Flashblocks that execution refused')
  const reconnects = counterOf('reconnect_attempts', 'Reconnections')
  const caughtUp = counterOf('pending_clear_catchup', 'Times that all pending blocks were sealed as executed')
  const reorgs = counterOf('pending_clear_reorg', 'Times that a pending block was sealed otherwise')
  const height = gaugeOf('pending_snapshot_height', 'Number of the newest pending block')
  const index = gaugeOf('pending_snapshot_fb_index', 'Index of its last executed flashblock')
  const took = new Histogram({
    ...{ registers: [registry], buckets, name: `${prefix}block_processing_duration` },
    help: 'Seconds from the arrival of a fitting flashblock until it is executed',
  })
  return {
    ...metrics,
    frames: {
      inc(labels, by = 1): void {
        metrics.frames.inc(labels, by)
        messages.inc(by)
        if (!expected.has(labels.place)) unexpected.inc(by)
      },
    },
    badFrames: {
      inc(labels, by = 1): void {
        metrics.badFrames.inc(labels, by)
        messages.inc(by)
        errors.inc(by)
      },
    },
    disconnects: {
      inc(labels, by = 1): void {
        metrics.disconnects.inc(labels, by)
        errors.inc(by)
        reconnects.inc(by)
      },
    },
    refused: {
      inc(labels, by = 1): void {
        metrics.refused.inc(labels, by)
        failed.inc(by)
      },
    },
    clears: {
      inc(labels, by = 1): void {
        metrics.clears.inc(labels, by)
        if (labels.why === 'catch-up') caughtUp.inc(by)
        if (labels.why === 'reorg') reorgs.inc(by)
      },
    },
    take: {
      observe(labels, value): void {
        metrics.take.observe(labels, value)
        took.observe(value)
      },
    },
    pendingNumber: {
      set(labels, value): void {
        metrics.pendingNumber.set(labels, value)
        height.set(value)
      },
    },
    pendingFlashblocks: {
      set(labels, value): void {
        metrics.pendingFlashblocks.set(labels, value)
        index.set(Math.max(0, value - 1))
      },
    },
  }
}

const expected: ReadonlySet<string> = new Set(['append', 'next-block', 'replace', 'late'])
