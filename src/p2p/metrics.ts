import { counter, defineMetrics, gauge, type Handles, histogram } from '#lib/metrics'
import { agentNames, fetchedOutcomes, messageOutcomes, servedOutcomes } from './net/peerEvents.ts'

const ancestorOutcomes = ['filled', 'filled_by_hash', 'unavailable', 'too_far', 'wrong'] as const

export const p2pMetrics = defineMetrics({
  peers: gauge('basalt_p2p_peer_connections', 'Connections to peers by direction and client', {
    direction: ['inbound', 'outbound'],
    client: agentNames,
  }),
  meshPeers: gauge('basalt_p2p_mesh_connections', 'Peers in a gossip mesh of this node'),
  tablePeers: gauge('basalt_p2p_discovery_entries', "Nodes in discovery's routing table"),
  messages: counter('basalt_p2p_messages_total', 'Received block messages by outcome of their validation; duplicates are not counted', {
    outcome: messageOutcomes,
  }),
  bytes: counter('basalt_p2p_message_bytes_total', 'Bytes of block messages; published: counted once, whatever the number of peers', {
    direction: ['received', 'published'],
  }),
  latency: histogram(
    'basalt_p2p_gossip_latency_seconds',
    'Seconds from the time of a block until its message arrived',
    [-1, -0.2, 0, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 20],
  ),
  published: counter('basalt_p2p_published_blocks_total', 'Blocks built here by outcome of their publication', {
    outcome: ['sent', 'no_peers', 'failed', 'too_old'],
  }),
  served: counter('basalt_p2p_served_requests_total', 'Requests of peers for blocks by outcome', { outcome: servedOutcomes }),
  fetched: counter('basalt_p2p_fetched_blocks_total', 'Requests to peers for blocks by outcome', { outcome: fetchedOutcomes }),
  ancestors: counter('basalt_p2p_missing_ancestors_total', 'Blocks with missing ancestors by outcome of the search for them', {
    outcome: ancestorOutcomes,
  }),
  bans: counter('basalt_p2p_bans_total', 'Bans of peers for their score'),
  cpu: gauge('basalt_p2p_thread_cpu_seconds', 'Processor time of the p2p thread'),
  lastBlock: gauge('basalt_p2p_last_block_seconds', 'Seconds since the last block from peers; -1: none yet'),
})
export type P2pMetrics = Handles<typeof p2pMetrics.specs>
