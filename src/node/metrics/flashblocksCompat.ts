import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { FlashblocksMetrics } from '#flashblocks/metrics'
import type { CounterHandle, GaugeHandle, Labels, Values } from '#lib/metrics'

/** Buckets of reth's histograms of durations. */
const buckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2]

/** Returns the same metrics, which also count under the names of base-reth-node where the meaning is the same. */
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
    received: alsoCounting(metrics.received, (by, { place }) => {
      messages.inc(by)
      if (!expected.has(place)) unexpected.inc(by)
    }),
    badMessages: alsoCounting(metrics.badMessages, (by) => {
      messages.inc(by)
      errors.inc(by)
    }),
    disconnects: alsoCounting(metrics.disconnects, (by) => {
      errors.inc(by)
      reconnects.inc(by)
    }),
    refused: alsoCounting(metrics.refused, (by) => failed.inc(by)),
    clears: alsoCounting(metrics.clears, (by, { why }) => {
      if (why === 'catch-up') caughtUp.inc(by)
      if (why === 'reorg') reorgs.inc(by)
    }),
    take: {
      observe(labels, value): void {
        metrics.take.observe(labels, value)
        took.observe(value)
      },
    },
    pendingNumber: alsoSetting(metrics.pendingNumber, (value) => height.set(value)),
    pendingFlashblocks: alsoSetting(metrics.pendingFlashblocks, (value) => index.set(Math.max(0, value - 1))),
  }
}

function alsoCounting<L extends Labels>(
  counter: CounterHandle<L>,
  count: (...args: [by: number, labels: Values<L>]) => void,
): CounterHandle<L> {
  return {
    inc(labels, by = 1): void {
      counter.inc(labels, by)
      count(by, labels)
    },
  }
}

function alsoSetting<L extends Labels>(gauge: GaugeHandle<L>, set: (value: number) => void): GaugeHandle<L> {
  return {
    set(labels, value): void {
      gauge.set(labels, value)
      set(value)
    },
  }
}

const expected: ReadonlySet<string> = new Set(['append', 'next-block', 'replace', 'late'])
