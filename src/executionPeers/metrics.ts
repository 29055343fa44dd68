import { counter, defineMetrics, gauge, type Handles } from '#lib/metrics'
import { discoveryVersions } from './discovery/discovery.ts'
import { servedOutcomes } from './net/chainServer.ts'
import { fetchedOutcomes } from './net/gap.ts'
import { disconnectReasons } from './rlpx/baseMessages.ts'

const reasons = Object.keys(disconnectReasons) as (keyof typeof disconnectReasons)[]

export const executionPeersMetrics = defineMetrics({
  peers: gauge('basalt_execution_p2p_peer_connections', 'Connections to execution peers by direction and version of eth', {
    direction: ['inbound', 'outbound'],
    version: ['68', '69'],
  }),
  tableNodes: gauge('basalt_execution_p2p_discovery_entries', 'Nodes that discovery of the execution network has reached, by its version', {
    version: discoveryVersions,
  }),
  served: counter('basalt_execution_p2p_served_requests_total', 'Requests of execution peers by kind', { outcome: servedOutcomes }),
  fetched: counter('basalt_execution_p2p_fetched_responses_total', 'Responses of execution peers by outcome', { outcome: fetchedOutcomes }),
  filled: counter('basalt_execution_p2p_filled_blocks_total', 'Missing blocks that execution peers filled'),
  gaps: counter('basalt_execution_p2p_gaps_total', 'Gaps by outcome of their filling', {
    outcome: ['filled', 'unavailable', 'too_far', 'wrong', 'stopped'],
  }),
  bytes: counter('basalt_execution_p2p_bytes_total', 'Bytes exchanged with execution peers', { direction: ['received', 'sent'] }),
  ended: counter(
    'basalt_execution_p2p_ended_connections_total',
    'Ended connections with execution peers by the side that ended them, and the reason',
    {
      by: ['us', 'peer'],
      reason: reasons,
    },
  ),
  cpu: gauge('basalt_execution_p2p_thread_cpu_seconds', 'Processor time of the thread of execution peers'),
})
export type ExecutionPeersMetrics = Handles<typeof executionPeersMetrics.specs>
