import { counter, defineMetrics, gauge, type Handles, histogram } from '#lib/metrics'
import { escalations, waitReasons } from './waitLadders.ts'

export const consensusMetrics = defineMetrics({
  heads: gauge('basalt_consensus_l2_block_number', 'Number of the L2 head with the label', { label: ['unsafe', 'safe', 'finalized'] }),
  l1Heads: gauge('basalt_consensus_l1_block_number', 'Number of the L1 block: head with the label, or read last by derivation', {
    label: ['latest', 'safe', 'finalized', 'derived'],
  }),
  blocks: counter('basalt_consensus_derived_blocks_total', 'Derived blocks by outcome', {
    outcome: ['built', 'consolidated', 'replaced', 'dropped'],
  }),
  unsafe: counter('basalt_consensus_unsafe_payloads_total', 'Payloads offered before L1 confirms them, by outcome', {
    outcome: ['inserted', 'invalid', 'gap', 'refused'],
  }),
  commits: counter('basalt_consensus_commits_total', 'Times that derived blocks became the safe head'),
  resets: counter('basalt_consensus_resets_total', 'Resets of derivation by who asked', {
    by: ['pipeline', 'engine', 'l1-head', 'records', 'wait'],
  }),
  waits: gauge('basalt_consensus_wait_seconds', 'How long this has been waited for; 0: not now', { reason: waitReasons }),
  escalations: counter('basalt_consensus_escalations_total', 'Steps taken about waits that last, by reason', {
    reason: waitReasons,
    step: escalations,
  }),
  failures: counter('basalt_consensus_failures_total', 'Failed tries by what was tried', {
    doing: ['l1-poll', 'l1-block', 'l1-blobs', 'start-point', 'engine'],
  }),
})

export type ConsensusMetrics = Handles<(typeof consensusMetrics)['specs']>

export const followMetrics = defineMetrics({
  sourceHead: gauge('basalt_consensus_source_block_number', 'Number of the head of the node that is followed, by its label', {
    label: ['latest', 'safe', 'finalized'],
  }),
  followed: counter('basalt_consensus_followed_blocks_total', 'Blocks of the node that is followed that were executed and made canonical'),
  reorgs: counter('basalt_consensus_source_reorgs_total', 'Times that the node that is followed was found on another branch'),
  refusals: counter('basalt_consensus_source_refusals_total', 'Times that what the node that is followed has was refused, by why', {
    why: ['leaves_out', 'invalid', 'other'],
  }),
  sourceFailures: counter('basalt_consensus_source_failures_total', 'Failed tries to read the node that is followed by what was tried', {
    doing: ['source-head', 'source-block', 'source-proofs'],
  }),
})

export type FollowMetrics = Handles<(typeof followMetrics)['specs']>

const blockSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4]

export const sequencerMetrics = defineMetrics({
  active: gauge('basalt_sequencer_active_state', 'Whether blocks are sequenced: 1 or 0'),
  blocks: counter('basalt_sequencer_blocks_total', 'Blocks built, by what became of them', { outcome: ['sealed', 'dropped', 'moved'] }),
  transactions: counter('basalt_sequencer_transactions_total', 'Transactions in sealed blocks, deposits included'),
  late: counter('basalt_sequencer_late_blocks_total', 'Blocks that became the head after their time'),
  building: histogram('basalt_sequencer_building_seconds', 'From the beginning of a block until it was to be sealed', blockSeconds),
  sealing: histogram(
    'basalt_sequencer_sealing_seconds',
    'From when a block that is on time was to be sealed until it was the head',
    blockSeconds,
  ),
  originLag: gauge('basalt_sequencer_origin_lag_seconds', 'Time of the last sealed block less that of its L1 origin'),
})

export type SequencerMetrics = Handles<(typeof sequencerMetrics)['specs']>
