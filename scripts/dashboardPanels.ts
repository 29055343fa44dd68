// The panels of the Grafana dashboards in deploy/grafana/dashboards, which `npm run docs` writes. `@` in a query: the chosen nodes.

/** Unit of Grafana. */
export type Unit =
  | 'short'
  | 's'
  | 'bytes'
  | 'Bps'
  | 'percentunit'
  | 'ops'
  | 'reqps'
  | 'bool_yes_no'
  | 'dateTimeFromNow'
  | 'decgbytes'
  | 'none'

export type Panel = {
  readonly title: string
  readonly unit: Unit
  /** queries with their legends */
  readonly queries: readonly (readonly [query: string, legend: string])[]
  /** one value instead of a graph */
  readonly isStat?: true
}
export type Dashboard = { readonly title: string; readonly panels: readonly Panel[] }

const stat = (title: string, unit: Unit, query: string, legend = '{{instance}}'): Panel => ({
  title,
  unit,
  queries: [[query, legend]],
  isStat: true,
})
const graph = (title: string, unit: Unit, ...queries: Panel['queries']): Panel => ({ title, unit, queries })

const rate = (metric: string, labels = ''): string => `rate(${metric}{@${labels && `,${labels}`}}[$__rate_interval])`
const by = (label: string, query: string): string => `sum by (instance, ${label}) (${query})`
const p99 = (metric: string): string => `histogram_quantile(0.99, sum by (instance, le) (${rate(`${metric}_bucket`)}))`

/** By the names of their files. */
export const dashboards: Readonly<Record<string, Dashboard>> = {
  overview: {
    title: 'Basalt: overview',
    panels: [
      stat('Ready', 'bool_yes_no', '1 - max by (instance) (basalt_node_unready_state{@})'),
      stat('Age of the unsafe head', 's', 'basalt_node_head_age_seconds{@,head="unsafe"}'),
      stat('Age of the safe head', 's', 'basalt_node_head_age_seconds{@,head="safe"}'),
      stat('Time until it has caught up', 's', 'basalt_node_sync_left_seconds{@}'),
      stat('Time until the disk is full', 's', 'basalt_node_disk_left_seconds{@}'),
      stat('Peers', 'short', 'sum by (instance) (basalt_p2p_peer_connections{@})'),
      graph('Reasons of /readyz', 'short', ['basalt_node_unready_state{@} == 1', '{{reason}} {{instance}}']),
      graph('Heads', 'short', ['basalt_consensus_l2_block_number{@}', '{{label}} {{instance}}']),
      graph('Ages of the heads', 's', ['basalt_node_head_age_seconds{@}', '{{head}} {{instance}}']),
      graph('Blocks per second', 'short', [rate('basalt_execution_blocks_total'), '{{instance}}']),
      graph('Faults by code', 'short', [`${by('code', 'increase(basalt_faults_total{@}[5m])')} > 0`, '{{code}} {{instance}}']),
      graph('Memory', 'bytes', ['basalt_node_memory_bytes{@}', '{{kind}} {{instance}}'], ['basalt_memory_limit_bytes{@}', '--memory-max']),
      graph('Disk', 'bytes', ['basalt_node_store_bytes{@}', '{{store}} {{instance}}'], ['basalt_node_disk_free_bytes{@}', 'free']),
      graph('Delay of the event loop', 's', ['basalt_node_loop_lag_seconds{@,quantile="0.99"}', 'p99 {{instance}}']),
    ],
  },
  import: {
    title: 'Basalt: import',
    panels: [
      stat('Mgas per second', 'short', `${rate('basalt_execution_gas_total')} / 1e6`),
      stat('Transactions per second', 'short', rate('basalt_execution_transactions_total')),
      stat('Execution thread busy', 'percentunit', `${rate('basalt_execution_milliseconds_total')} / 1000`),
      stat('Current block runs for', 's', 'basalt_execution_running_seconds{@}'),
      graph('Time in each stage, per second', 'percentunit', [
        `${rate('basalt_execution_stage_milliseconds_total')} / 1000`,
        '{{stage}} {{instance}}',
      ]),
      graph('Mgas per second of execution', 'short', [
        `${rate('basalt_execution_gas_total')} / ${rate('basalt_execution_milliseconds_total')} / 1000`,
        '{{instance}}',
      ]),
      graph(
        'Queues',
        'bytes',
        ['basalt_execution_call_bytes{@}', 'payloads {{instance}}'],
        ['basalt_execution_tree_bytes{@}', 'executed blocks {{instance}}'],
        ['basalt_execution_journal_bytes{@}', 'journal {{instance}}'],
        ['basalt_execution_sender_queue_bytes{@}', 'senders {{instance}}'],
      ),
      graph('Blocks that are not committed', 'short', ['basalt_execution_uncommitted_blocks{@}', '{{instance}}']),
      graph('Abandoned blocks', 'short', [by('what', 'increase(basalt_execution_abandoned_blocks_total{@}[5m])'), '{{what}} {{instance}}']),
      graph('Senders by the thread that recovered them', 'ops', [rate('basalt_execution_senders_total'), '{{by}} {{instance}}']),
      graph('Removal of older states', 'short', [rate('basalt_execution_pruned_blocks_total'), 'blocks per second {{instance}}']),
      graph('Steps of the removal', 's', [p99('basalt_execution_prune_step_seconds'), 'p99 {{instance}}']),
      graph('Hits of the caches', 'percentunit', [
        `${rate('basalt_cache_hits_total')} / (${rate('basalt_cache_hits_total')} + ${rate('basalt_cache_misses_total')})`,
        '{{cache}} {{instance}}',
      ]),
      graph('Memory of the caches', 'bytes', ['basalt_cache_held_bytes{@}', '{{cache}} {{instance}}']),
    ],
  },
  rpc: {
    title: 'Basalt: RPC',
    panels: [
      stat('RPC threads', 'short', 'basalt_node_rpc_threads{@}'),
      stat('WebSocket connections', 'short', 'basalt_rpc_socket_connections{@}'),
      stat('Transactions that the next block may include', 'short', 'basalt_pool_pending_transactions{@}'),
      stat('Memory pressure', 'short', 'basalt_memory_pressure_state{@}'),
      graph('Calls refused by limit', 'reqps', [by('limit', rate('basalt_rpc_limit_hits_total')), '{{limit}} {{instance}}']),
      graph('Delay of the slowest RPC thread', 's', ['basalt_node_rpc_loop_lag_seconds{@}', '{{quantile}} {{instance}}']),
      graph(
        'Ended WebSocket connections',
        'ops',
        [by('why', rate('basalt_rpc_socket_ends_total')), '{{why}} {{instance}}'],
        [by('why', rate('basalt_rpc_socket_refusals_total')), 'refused: {{why}} {{instance}}'],
      ),
      graph('Connections ended for unread answers', 'ops', [rate('basalt_rpc_unread_ends_total'), '{{over}} {{instance}}']),
      graph('RPC threads that ended', 'short', ['increase(basalt_node_rpc_thread_ends_total{@}[5m])', '{{instance}}']),
      graph(
        'Transaction pool',
        'short',
        ['basalt_pool_pending_transactions{@}', 'pending {{instance}}'],
        ['basalt_pool_queued_transactions{@}', 'queued {{instance}}'],
      ),
      graph('Transactions offered to the pool', 'ops', [by('outcome', rate('basalt_pool_offered_total')), '{{outcome}} {{instance}}']),
      graph('Forwarded transactions', 'short', ['basalt_node_forwarded_transactions{@}', '{{state}} {{instance}}']),
      graph('Age of the newest flashblock', 's', ['basalt_flashblocks_preconf_age_seconds{@}', '{{instance}}']),
      graph('Flashblocks', 'ops', [by('place', rate('basalt_flashblocks_frames_total')), '{{place}} {{instance}}']),
    ],
  },
  p2p: {
    title: 'Basalt: peers',
    panels: [
      stat('Peers', 'short', 'sum by (instance) (basalt_p2p_peer_connections{@})'),
      stat('Peers in the mesh', 'short', 'basalt_p2p_mesh_connections{@}'),
      stat('Nodes found', 'short', 'basalt_p2p_discovery_entries{@}'),
      stat('Last block from peers', 's', 'basalt_p2p_last_block_seconds{@}'),
      graph('Peers by client', 'short', [
        by('direction, client', 'basalt_p2p_peer_connections{@}'),
        '{{direction}} {{client}} {{instance}}',
      ]),
      graph('Block messages', 'ops', [by('outcome', rate('basalt_p2p_messages_total')), '{{outcome}} {{instance}}']),
      graph('From the time of a block to its message', 's', [p99('basalt_p2p_gossip_latency_seconds'), 'p99 {{instance}}']),
      graph('Traffic of block messages', 'Bps', [rate('basalt_p2p_message_bytes_total'), '{{direction}} {{instance}}']),
      graph(
        'Blocks requested by number',
        'ops',
        [by('outcome', rate('basalt_p2p_fetched_blocks_total')), 'here: {{outcome}} {{instance}}'],
        [by('outcome', rate('basalt_p2p_served_requests_total')), 'by peers: {{outcome}} {{instance}}'],
      ),
      graph('Missing ancestors', 'short', [
        by('outcome', 'increase(basalt_p2p_missing_ancestors_total{@}[5m])'),
        '{{outcome}} {{instance}}',
      ]),
      graph('Bans', 'short', ['increase(basalt_p2p_bans_total{@}[1h])', '{{instance}}']),
      graph('Processor of the thread', 'percentunit', ['rate(basalt_p2p_thread_cpu_seconds{@}[5m])', '{{instance}}']),
    ],
  },
  l1: {
    title: 'Basalt: L1 and data availability',
    panels: [
      stat('Usable endpoints', 'short', 'basalt_l1_usable_peers{@}', '{{api}} {{instance}}'),
      stat('Requests per L1 block', 'short', 'basalt_l1_requests_per_block_ratio{@}', '{{api}} {{instance}}'),
      stat('Age of the derived L1 block', 's', 'basalt_node_head_age_seconds{@,head="l1_derived"}'),
      stat('Time until an unsupported fork', 's', 'basalt_consensus_unsupported_fork_seconds{@}'),
      graph('L1 blocks', 'short', ['basalt_consensus_l1_block_number{@}', '{{label}} {{instance}}']),
      graph('Requests', 'reqps', [by('api, method', rate('basalt_l1_requests_total')), '{{method}} {{instance}}']),
      graph('L1 blocks by source', 'ops', [by('from', rate('basalt_l1_blocks_total')), '{{from}} {{instance}}']),
      graph('Waits', 's', ['basalt_consensus_wait_seconds{@} > 0', '{{reason}} {{instance}}']),
      graph('Failed operations', 'ops', [by('doing', rate('basalt_consensus_failures_total')), '{{doing}} {{instance}}']),
      graph('Resets of derivation', 'short', [by('by', 'increase(basalt_consensus_resets_total{@}[5m])'), '{{by}} {{instance}}']),
      graph('Derived blocks', 'ops', [by('outcome', rate('basalt_consensus_derived_blocks_total')), '{{outcome}} {{instance}}']),
      graph('Distance of the safe head', 'short', [
        'basalt_consensus_l2_block_number{@,label="unsafe"} - on (instance) basalt_consensus_l2_block_number{@,label="safe"}',
        'blocks {{instance}}',
      ]),
      graph(
        'Batcher',
        'bytes',
        ['basalt_batcher_backlog_bytes{@}', 'backlog {{instance}}'],
        ['increase(basalt_batcher_posted_bytes_total{@}[5m])', 'posted in five minutes {{instance}}'],
      ),
      graph('Channels of the batcher', 'short', [
        by('reason', 'increase(basalt_batcher_channels_total{@}[5m])'),
        '{{reason}} {{instance}}',
      ]),
    ],
  },
  proofs: {
    title: 'Basalt: proofs',
    panels: [
      stat('Recording', 'bool_yes_no', 'basalt_proofs_recording_state{@}'),
      stat('Blocks behind the head', 'short', 'basalt_proofs_lag_blocks{@}'),
      stat('Recorded blocks', 'short', 'basalt_proofs_latest_block_number{@} - on (instance) basalt_proofs_earliest_block_number{@} + 1'),
      stat('Oldest state of the chain', 'short', 'basalt_execution_oldest_state_block_number{@}'),
      graph(
        'Window',
        'short',
        ['basalt_proofs_earliest_block_number{@}', 'first {{instance}}'],
        ['basalt_proofs_latest_block_number{@}', 'last {{instance}}'],
      ),
      graph(
        'Blocks per second',
        'ops',
        [rate('basalt_proofs_recorded_blocks_total'), 'recorded {{instance}}'],
        [rate('basalt_proofs_pruned_blocks_total'), 'removed {{instance}}'],
        [rate('basalt_proofs_unwound_blocks_total'), 'unwound {{instance}}'],
        [rate('basalt_proofs_computed_blocks_total'), 'computed {{instance}}'],
      ),
      graph('Trie nodes recorded', 'ops', [rate('basalt_proofs_nodes_total'), '{{instance}}']),
      graph('Bytes recorded', 'Bps', [rate('basalt_proofs_node_bytes_total'), '{{instance}}']),
      graph(
        'Trust in the start block',
        'short',
        ['basalt_trust_grade_info{@} == 1', '{{grade}} {{instance}}'],
        [by('outcome', 'increase(basalt_trust_l1_reads_total{@}[1h])'), 'reads: {{outcome}} {{instance}}'],
      ),
      graph('Fill of an anchored state', 'percentunit', ['basalt_state_fill_ratio{@}', 'stored part of the keys {{instance}}']),
      graph('Accounts and slots filled', 'ops', ['basalt_state_fill_rate_entries{@}', '{{instance}}']),
    ],
  },
}
