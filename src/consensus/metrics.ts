import { publishedForks } from '#chainspec/publishedSchedule'
import { counter, defineMetrics, gauge, type Handles, histogram } from '#lib/metrics'
import { escalations, waitReasons } from './waitLadders.ts'

export const consensusMetrics = defineMetrics({
  heads: gauge('basalt_consensus_l2_block_number', 'Number of the L2 head with the label', { label: ['unsafe', 'safe', 'finalized'] }),
  l1Heads: gauge('basalt_consensus_l1_block_number', 'Number of an L1 block: a labelled head, or the block that derivation read last', {
    label: ['latest', 'safe', 'finalized', 'derived'],
  }),
  blocks: counter('basalt_consensus_derived_blocks_total', 'Derived blocks by outcome', {
    outcome: ['built', 'consolidated', 'replaced', 'dropped'],
  }),
  unsafe: counter('basalt_consensus_unsafe_payloads_total', 'Payloads offered as unsafe blocks by outcome', {
    outcome: ['inserted', 'invalid', 'gap', 'refused'],
  }),
  commits: counter('basalt_consensus_commits_total', 'Updates of the safe head with derived blocks'),
  resets: counter('basalt_consensus_resets_total', 'Resets of derivation by cause', {
    by: ['pipeline', 'engine', 'l1-head', 'records', 'wait'],
  }),
  waits: gauge('basalt_consensus_wait_seconds', 'Duration of a current wait; 0: no wait', { reason: waitReasons }),
  escalations: counter('basalt_consensus_escalations_total', 'Escalation steps of long waits by reason', {
    reason: waitReasons,
    step: escalations,
  }),
  failures: counter('basalt_consensus_failures_total', 'Failed operations by kind', {
    doing: ['l1-poll', 'l1-block', 'l1-blobs', 'start-point', 'engine'],
  }),
  forkTimes: gauge(
    'basalt_consensus_fork_activation_seconds',
    'Activation time of a fork, as a Unix time; 0: not scheduled, or not published',
    {
      fork: publishedForks,
      source: ['built_in', 'published'],
    },
  ),
  unsupportedFork: gauge(
    'basalt_consensus_unsupported_fork_seconds',
    'Seconds until the next fork without rules in this version, built in or published on L1; +Inf: none is planned',
  ),
  forkDifference: gauge(
    'basalt_consensus_fork_schedule_differs_state',
    'Whether L1 publishes another time for a fork than this version has: 1 or 0',
  ),
})

export type ConsensusMetrics = Handles<(typeof consensusMetrics)['specs']>

export const followMetrics = defineMetrics({
  sourceHead: gauge('basalt_consensus_source_block_number', "Number of the followed node's head by label", {
    label: ['latest', 'safe', 'finalized'],
  }),
  followed: counter('basalt_consensus_followed_blocks_total', 'Blocks of the followed node that were executed and made canonical'),
  reorgs: counter('basalt_consensus_source_reorgs_total', 'Detected reorgs of the followed node'),
  refusals: counter('basalt_consensus_source_refusals_total', "Refusals of the followed node's chain by reason", {
    why: ['leaves_out', 'invalid', 'other'],
  }),
  sourceFailures: counter('basalt_consensus_source_failures_total', 'Failed requests to the followed node by kind', {
    doing: ['source-head', 'source-block', 'source-proofs'],
  }),
})

export type FollowMetrics = Handles<(typeof followMetrics)['specs']>

const blockSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4]

export const sequencerMetrics = defineMetrics({
  active: gauge('basalt_sequencer_active_state', 'Whether the sequencer is active: 1 or 0'),
  blocks: counter('basalt_sequencer_blocks_total', 'Built blocks by outcome', { outcome: ['sealed', 'dropped', 'moved'] }),
  transactions: counter('basalt_sequencer_transactions_total', 'Transactions in sealed blocks, deposits included'),
  late: counter('basalt_sequencer_late_blocks_total', 'Blocks that became the head after their timestamp'),
  building: histogram('basalt_sequencer_building_seconds', 'Time from the start of a block until its seal was due', blockSeconds),
  sealing: histogram(
    'basalt_sequencer_sealing_seconds',
    'Time from when the seal of a timely block was due until it became the head',
    blockSeconds,
  ),
  originLag: gauge('basalt_sequencer_origin_lag_seconds', 'Time of the last sealed block minus that of its L1 origin'),
})

export type SequencerMetrics = Handles<(typeof sequencerMetrics)['specs']>
