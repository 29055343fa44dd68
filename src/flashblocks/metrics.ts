import { counter, defineMetrics, gauge, type Handles, histogram } from '#lib/metrics'
import type { PendingRefusal } from '#pending/pendingPort'
import { badMessageReasons } from './decode.ts'
import { placements } from './placeFlashblock.ts'

const refusals = ['parent', 'order', 'depth', 'rules', 'transaction', 'outcome', 'time'] as const satisfies readonly PendingRefusal[]

/** Why a connection to a publisher ended. */
export const disconnectReasons = ['unreachable', 'closed', 'no-pong', 'silent', 'too-large', 'unhealthy'] as const
export type DisconnectReason = (typeof disconnectReasons)[number]

export const flashblocksMetrics = defineMetrics({
  received: counter('basalt_flashblocks_frames_total', 'Received flashblocks by placement; full: dropped because the buffer is full', {
    place: [...placements, 'unnumbered', 'full'],
  }),
  badMessages: counter('basalt_flashblocks_bad_frames_total', 'Rejected messages of publishers by reason', { reason: badMessageReasons }),
  refused: counter('basalt_flashblocks_refused_total', 'Flashblocks that execution refused by reason', { reason: refusals }),
  disconnects: counter('basalt_flashblocks_disconnects_total', 'Ended connections to publishers by reason', {
    reason: disconnectReasons,
  }),
  upstreams: gauge(
    'basalt_flashblocks_upstream_connections',
    'Publishers with an open connection, and publishers that sent too many invalid messages',
    {
      health: ['up', 'unhealthy'],
    },
  ),
  state: gauge('basalt_flashblocks_pending_state', '1: pending blocks follow the feed; 0: there is no fresh pending block'),
  pendingNumber: gauge('basalt_flashblocks_pending_block_number', 'Number of the newest pending block'),
  pendingFlashblocks: gauge('basalt_flashblocks_pending_slice_entries', 'Executed flashblocks of the newest pending block'),
  held: gauge('basalt_flashblocks_held_bytes', 'Bytes of held flashblocks, of blocks above the head'),
  age: gauge('basalt_flashblocks_preconf_age_seconds', 'Seconds since the last flashblock was executed; NaN: the feed has ended'),
  parentLag: gauge(
    'basalt_flashblocks_preconf_parent_lag_blocks',
    "Blocks from the head to the parent of the newest flashblock's block; 0: the feed builds on the head; negative: the feed is behind; NaN: the feed has ended",
  ),
  lastMessage: gauge(
    'basalt_flashblocks_feed_last_message_seconds',
    'Seconds since the last message of any publisher; NaN: the feed has ended',
  ),
  take: histogram(
    'basalt_flashblocks_take_seconds',
    'Seconds from the arrival of a fitting flashblock until it is executed',
    [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2],
  ),
  clears: counter(
    'basalt_flashblocks_clears_total',
    'Removals of pending blocks; catch-up: sealed as executed, reorg: sealed otherwise, given-up: dropped',
    {
      why: ['catch-up', 'reorg', 'given-up'],
    },
  ),
  reverted: counter('basalt_flashblocks_reverted_transactions_total', 'Transactions that were in a pending block and were dropped'),
})
export type FlashblocksMetrics = Handles<typeof flashblocksMetrics.specs>

/** Metrics of the publisher of locally built blocks. */
export const publisherMetrics = defineMetrics({
  published: counter('basalt_flashblocks_published_total', 'Published flashblocks'),
  bytes: counter('basalt_flashblocks_published_bytes_total', 'Bytes of published flashblocks, each counted once'),
  clients: gauge('basalt_flashblocks_publisher_connections', 'Connected subscribers'),
  dropped: counter('basalt_flashblocks_dropped_clients_total', 'Connections of subscribers ended or refused, by reason', {
    reason: ['slow', 'full', 'address', 'evicted', 'no-pong', 'handshake'],
  }),
})
export type PublisherMetrics = Handles<typeof publisherMetrics.specs>
