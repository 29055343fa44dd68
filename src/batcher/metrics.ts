import { counter, defineMetrics, gauge, type Handles, histogram } from '#lib/metrics'
import { closeReasons } from './closing.ts'

/** Reasons why posting restarted at the safe head. */
const restartReasons = ['start', 'l2-reorg', 'overtaken', 'not-safe', 'lost', 'deep-reorg', 'refused'] as const
export type RestartReason = (typeof restartReasons)[number]

export const batcherMetrics = defineMetrics({
  blocks: counter(
    'basalt_batcher_posted_blocks_total',
    'L2 blocks of channels completely on L1; blocks of a channel posted again count again',
  ),
  bytes: counter('basalt_batcher_posted_bytes_total', 'Compressed bytes of channels completely on L1'),
  channels: counter('basalt_batcher_channels_total', 'Closed channels by reason', { reason: closeReasons }),
  transactions: counter('basalt_batcher_transactions_total', 'Batcher transactions by event', {
    event: ['sent', 'sent_again', 'replaced', 'included', 'undone', 'lost', 'refused'],
  }),
  carriers: counter('basalt_batcher_carriers_total', 'Closed channels by carrier', { carrier: ['calldata', 'blobs'] }),
  restarts: counter('basalt_batcher_restarts_total', 'Restarts of posting at the safe head by reason', { reason: restartReasons }),
  failures: counter('basalt_batcher_failures_total', 'Rounds that failed and were retried'),
  backlogBytes: gauge('basalt_batcher_backlog_bytes', 'Estimated compressed bytes that wait to be posted'),
  backlogBlocks: gauge('basalt_batcher_backlog_blocks', 'L2 blocks that wait to be posted'),
  pending: gauge('basalt_batcher_pending_transactions', 'Batcher transactions sent but not included'),
  fees: gauge('basalt_batcher_fees_wei', 'Fees of the transactions included since the start'),
  throttle: gauge('basalt_batcher_throttle_ratio', 'Throttle of the sequencer: 0 none, 1 the strongest'),
  encoding: histogram(
    'basalt_batcher_channel_seconds',
    'Time to compress a channel and prove its blobs',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  ),
})
export type BatcherMetrics = Handles<typeof batcherMetrics.specs>
