import { counter, defineMetrics, gauge, type Handles, histogram } from '#lib/metrics'
import type { PendingRefusal } from '#pending/pendingPort'
import { badMessageReasons } from './decode.ts'
import { placements } from './placeFlashblock.ts'

const refusals = ['parent', 'order', 'depth', 'rules', 'transaction', 'outcome', 'time'] as const satisfies readonly PendingRefusal[]

/** Why a connection was given up. */
export const disconnectReasons = ['unreachable', 'closed', 'no-pong', 'silent', 'too-large', 'unhealthy'] as const
export type DisconnectReason = (typeof disconnectReasons)[number]

export const flashblocksMetrics = defineMetrics({
  frames: counter(
    'basalt_flashblocks_frames_total',
    'Slices of blocks that came by where they belonged; full: there was no room to hold one',
    {
      place: [...placements, 'unnumbered', 'full'],
    },
  ),
  badFrames: counter('basalt_flashblocks_bad_frames_total', 'Messages of a feed that are no frame by why', { reason: badMessageReasons }),
  refused: counter('basalt_flashblocks_refused_total', 'Slices that execution refused by why', { reason: refusals }),
  disconnects: counter('basalt_flashblocks_disconnects_total', 'Connections to publishers that were given up by why', {
    reason: disconnectReasons,
  }),
  upstreams: gauge(
    'basalt_flashblocks_upstream_connections',
    'Publishers that a connection is open to, and those that sent too much that is wrong',
    {
      health: ['up', 'unhealthy'],
    },
  ),
  state: gauge('basalt_flashblocks_pending_state', 'Whether pending follows the feed: 1, or is what is sealed: 0'),
  pendingNumber: gauge('basalt_flashblocks_pending_block_number', 'The newest block that is not sealed and was executed'),
  pendingFlashblocks: gauge('basalt_flashblocks_pending_slice_entries', 'Slices of it that were executed'),
  held: gauge('basalt_flashblocks_held_bytes', 'Slices that are held: of blocks above the head'),
  age: gauge('basalt_flashblocks_preconf_age_seconds', 'Since the last flashblock was executed'),
  parentLag: gauge(
    'basalt_flashblocks_preconf_parent_lag_blocks',
    'From the head to the parent of the block that the newest flashblock belongs to; 0: the feed builds on the head, below: it is behind',
  ),
  lastMessage: gauge('basalt_flashblocks_feed_last_message_seconds', 'Since the last message of any publisher'),
  take: histogram(
    'basalt_flashblocks_take_seconds',
    'From the arrival of a flashblock that fits until its block is shown with it',
    [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2],
  ),
  clears: counter(
    'basalt_flashblocks_clears_total',
    'Times that pending blocks went: sealed as they were shown, sealed otherwise, or given up',
    {
      why: ['catch-up', 'reorg', 'given-up'],
    },
  ),
  reverted: counter('basalt_flashblocks_reverted_transactions_total', 'Transactions that were shown as pending and dropped again'),
})
export type FlashblocksMetrics = Handles<typeof flashblocksMetrics.specs>

/** Of who publishes blocks that are built here. */
export const publisherMetrics = defineMetrics({
  published: counter('basalt_flashblocks_published_total', 'Slices of blocks that were published'),
  bytes: counter('basalt_flashblocks_published_bytes_total', 'Of published flashblocks, each counted once'),
  clients: gauge('basalt_flashblocks_publisher_connections', 'Connections that published flashblocks go to'),
  dropped: counter('basalt_flashblocks_dropped_clients_total', 'Connections that were ended or refused by why', {
    reason: ['slow', 'full', 'address', 'evicted', 'no-pong', 'handshake'],
  }),
})
export type PublisherMetrics = Handles<typeof publisherMetrics.specs>
