import type { Batcher } from '#batcher/batcher'
import type { Clock } from '#lib/clock'
import type { Node } from '#node/node'
import type { Agreement } from './agreement.ts'
import type { SwitchedFaults } from './devnetFaults.ts'
import type { DevnetStatus, NodeHeads } from './status.ts'
import { createTransactionRate } from './transactionRate.ts'

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
}

export interface StatusReader {
  read(): DevnetStatus
  /** Counts transactions, until aborted. */
  run(signal: AbortSignal): Promise<void>
}

const countEveryMs = 500
/** Blocks that are looked into at once: of a chain that catches up the rate is of no interest. */
const maxCountedBlocks = 20
const depositType = 0x7e

const headsOf = ({ published: { heads } }: Execution): NodeHeads => ({
  unsafe: heads.unsafe.number,
  safe: heads.safe.number,
  finalized: heads.finalized.number,
})

/** Transactions of accounts in the blocks from one number, exclusive, to another. */
function countTransactions(execution: Execution, from: number, to: number): number {
  using view = execution.view()
  let count = 0
  for (let number = from + 1; number <= to; number++) {
    const hash = view.canonicalHash(number)
    const transactions = hash && view.block(hash)?.block.transactions
    if (transactions) for (const raw of transactions) if (raw[0] !== depositType) count++
  }
  return count
}

export function createStatusReader(deps: StatusDeps): StatusReader {
  const { clock, sequencer, verifier, executions, agreement, batcher, faults } = deps
  const rate = createTransactionRate(clock)
  let counted = executions.sequencer.published.heads.unsafe.number
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
        transactionsPerSec: rate.read(),
        problems: [...new Set([...sequencer.problems(), ...verifier.problems()])],
      }
    },
    async run(signal): Promise<void> {
      while (!signal.aborted) {
        const { unsafe } = headsOf(executions.sequencer)
        const from = Math.max(Math.min(counted, unsafe), unsafe - maxCountedBlocks)
        rate.add(countTransactions(executions.sequencer, from, unsafe))
        counted = unsafe
        await clock.delay(countEveryMs, signal).catch(() => {})
      }
    },
  }
}
