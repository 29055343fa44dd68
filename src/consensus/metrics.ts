import { counter, defineMetrics, gauge, type Handles } from '#lib/metrics'
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
