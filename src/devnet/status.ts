import type { AgreementStatus } from './agreement.ts'
import type { BlockTimes } from './timing/blockIntervals.ts'
import { stages, type TransactionTimes } from './timing/transactionTimes.ts'

/** Block numbers of the heads of one node. */
export type NodeHeads = { readonly unsafe: number; readonly safe: number; readonly finalized: number }

export type DevnetStatus = {
  readonly l1: { readonly head: number; readonly isReachable: boolean }
  readonly sequencer: NodeHeads & { readonly isActive: boolean }
  /** `backlogBlocks`: L2 blocks that are not on L1 */
  readonly batcher: { readonly isPosting: boolean; readonly backlogBlocks: number }
  readonly verifier: NodeHeads
  /** blocks between the sequencer's unsafe head and the verifier's safe head */
  readonly lagBlocks: number
  readonly agreement: AgreementStatus
  /** the sequencer's sealed blocks of the last minute */
  readonly blocks: BlockTimes
  /** user transactions in the newest blocks */
  readonly transactionsPerSec: number
  /**
   * median milliseconds from the sending of a transaction until the verifier shows it as pending, in a block, in a safe block; undefined: none yet
   */
  readonly times: TransactionTimes
  /** reasons why the nodes' answers are stale; empty: they are fresh */
  readonly problems: readonly string[]
}

/** Returns whether the nodes agree, in a few words. */
export const agreementText = ({ agreement }: DevnetStatus): string => {
  switch (agreement.kind) {
    case 'agrees':
      return agreement.compared === undefined ? 'compares' : `agrees to ${agreement.compared}`
    case 'differs':
      return `differs at ${agreement.difference.number}`
    case 'disagrees':
      return `DISAGREES at ${agreement.difference.number}`
  }
}

const rateText = (rate: number): string => (rate >= 10 ? rate.toFixed(0) : rate.toFixed(1))

const timeText = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`)

/** Returns `5.0 blocks/s (p99 212 ms)`. */
const blocksText = ({ blocks: { perSec, intervalP99Ms } }: DevnetStatus): string =>
  `${rateText(perSec)} blocks/s${intervalP99Ms === undefined ? '' : ` (p99 ${timeText(intervalP99Ms)})`}`

/** Returns `send → preconfirmed 120 ms → sealed 1.2 s → safe 6.1 s`, with the known stages. */
function timesText({ times }: DevnetStatus): readonly string[] {
  const known = stages.flatMap((stage) => (times[stage] === undefined ? [] : [`${stage} ${timeText(times[stage])}`]))
  return known.length === 0 ? [] : [['send', ...known].join(' → ')]
}

function troubleOf({ sequencer, batcher, l1, problems }: DevnetStatus): readonly string[] {
  return [
    ...(sequencer.isActive ? [] : ['sequencer paused']),
    ...(batcher.isPosting ? [] : ['batcher stopped']),
    ...(l1.isReachable ? [] : ['L1 unreachable']),
    ...problems.slice(0, 1),
  ]
}

/**
 * Returns the status as one line: `unsafe 120 · safe 112 (−8) · finalized 96 · L1 61 · agrees to 112 · 5.0 blocks/s (p99 212 ms) · 0.5 tx/s ·
 * send → preconfirmed 120 ms → …`.
 */
export function statusLine(status: DevnetStatus): string {
  const { sequencer, verifier, lagBlocks, l1, transactionsPerSec } = status
  return [
    `unsafe ${sequencer.unsafe}`,
    `safe ${verifier.safe} (−${lagBlocks})`,
    `finalized ${verifier.finalized}`,
    `L1 ${l1.head}`,
    agreementText(status),
    blocksText(status),
    `${rateText(transactionsPerSec)} tx/s`,
    ...timesText(status),
    ...troubleOf(status),
  ].join(' · ')
}
