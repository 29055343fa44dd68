import type { Batcher } from '#batcher/batcher'
import type { Clock } from '#lib/clock'
import type { Node } from '#node/node'
import type { Agreement } from './agreement.ts'
import type { SwitchedFaults } from './devnetFaults.ts'
import type { DevnetStatus, NodeHeads } from './status.ts'
import type { BlockIntervals } from './timing/blockIntervals.ts'
import { createTransactionRate } from './timing/transactionRate.ts'
import type { TransactionWatch } from './timing/transactionWatch.ts'

type Execution = NonNullable<Node['execution']>

export type StatusDeps = {
  readonly clock: Clock
  readonly sequencer: Pick<Node, 'status' | 'problems'> & {
    readonly sequencer: Pick<NonNullable<Node['sequencer']>, 'isActive'> | undefined
  }
  readonly verifier: Pick<Node, 'problems'>
  readonly executions: { readonly sequencer: Execution; readonly verifier: Execution }
  readonly agreement: Pick<Agreement, 'status'>
  readonly batcher: Pick<Batcher, 'status'>
  readonly faults: Pick<SwitchedFaults, 'isL1Dropped'>
  readonly blocks: Pick<BlockIntervals, 'read'>
  readonly transactions: TransactionWatch
}

export interface StatusReader {
  read(): DevnetStatus
  /** Counts and times transactions until aborted. */
  run(signal: AbortSignal): Promise<void>
}

const lookEveryMs = 500
/** Maximum number of blocks read at once; older blocks are skipped, because rate and times of a chain that catches up are of no use. */
const maxBlocksAtOnce = 20
const depositType = 0x7e

const headsOf = ({ published: { heads } }: Execution): NodeHeads => ({
  unsafe: heads.unsafe.number,
  safe: heads.safe.number,
  finalized: heads.finalized.number,
})

/** Returns the user transactions of the blocks from one number, exclusive, to another, limited to the last blocks. */
function transactionsIn(execution: Execution, from: number, to: number): readonly Uint8Array[] {
  using view = execution.view()
  const found: Uint8Array[] = []
  for (let number = Math.max(from, to - maxBlocksAtOnce) + 1; number <= to; number++) {
    const hash = view.canonicalHash(number)
    const transactions = hash && view.block(hash)?.block.transactions
    if (transactions) for (const raw of transactions) if (raw[0] !== depositType) found.push(raw)
  }
  return found
}

export function createStatusReader(deps: StatusDeps): StatusReader {
  const { clock, sequencer, verifier, executions, agreement, batcher, faults, blocks, transactions } = deps
  const rate = createTransactionRate(clock)
  let counted = headsOf(executions.sequencer).unsafe
  let timed = headsOf(executions.verifier).safe
  return {
    read(): DevnetStatus {
      const made = headsOf(executions.sequencer)
      const derived = headsOf(executions.verifier)
      const posting = batcher.status()
      return {
        l1: { head: sequencer.status()?.l1.latest?.number ?? 0, isReachable: !faults.isL1Dropped },
        sequencer: { ...made, isActive: sequencer.sequencer?.isActive() ?? false },
        batcher: { isPosting: posting.state !== 'stopped', backlogBlocks: posting.backlog.blocks },
        verifier: derived,
        lagBlocks: Math.max(0, made.unsafe - derived.safe),
        agreement: agreement.status(),
        blocks: blocks.read(),
        transactionsPerSec: rate.read(),
        times: transactions.read(),
        problems: [...new Set([...sequencer.problems(), ...verifier.problems()])],
      }
    },
    async run(signal): Promise<void> {
      while (!signal.aborted) {
        const { unsafe } = headsOf(executions.sequencer)
        rate.add(transactionsIn(executions.sequencer, counted, unsafe).length)
        counted = unsafe
        const { safe } = headsOf(executions.verifier)
        transactions.safe(transactionsIn(executions.verifier, timed, safe))
        timed = safe
        await clock.delay(lookEveryMs, signal).catch(() => {})
      }
    },
  }
}
