import { counter, defineMetrics, gauge, type Handles, histogram } from '#lib/metrics'
import { closeReasons } from './closing.ts'

/** Why the batcher began anew at the safe head. */
export const restartReasons = ['start', 'l2-reorg', 'overtaken', 'not-safe', 'lost', 'deep-reorg', 'refused'] as const
export type RestartReason = (typeof restartReasons)[number]

export const batcherMetrics = defineMetrics({
  blocks: counter(
    'basalt_batcher_posted_blocks_total',
    'L2 blocks whose channels are on L1 as a whole; those of a channel that is posted again count again',
  ),
  bytes: counter('basalt_batcher_posted_bytes_total', 'Compressed bytes of channels that are on L1 as a whole'),
  channels: counter('basalt_batcher_channels_total', 'Closed channels by why', { reason: closeReasons }),
  transactions: counter('basalt_batcher_transactions_total', 'What happened to batcher transactions', {
    event: ['sent', 'sent_again', 'replaced', 'included', 'undone', 'lost', 'refused'],
  }),
  carriers: counter('basalt_batcher_carriers_total', 'Closed channels by what carries them', { carrier: ['calldata', 'blobs'] }),
  restarts: counter('basalt_batcher_restarts_total', 'Times that posting began anew at the safe head, by why', { reason: restartReasons }),
  failures: counter('basalt_batcher_failures_total', 'Rounds that failed and were tried again'),
  backlogBytes: gauge('basalt_batcher_backlog_bytes', 'What waits to be posted: compressed bytes, estimated'),
  backlogBlocks: gauge('basalt_batcher_backlog_blocks', 'L2 blocks that wait to be posted'),
  pending: gauge('basalt_batcher_pending_transactions', 'Batcher transactions that are sent and not included'),
  fees: gauge('basalt_batcher_fees_wei', 'Fees of the included transactions since the start'),
  throttle: gauge('basalt_batcher_throttle_ratio', 'How far the sequencer is throttled: 0 not at all, 1 as far as it goes'),
  encoding: histogram(
    'basalt_batcher_channel_seconds',
    'Time to compress a channel and prove its blobs',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  ),
})
export type BatcherMetrics = Handles<typeof batcherMetrics.specs>
