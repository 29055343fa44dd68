import { inputOfBlock } from '#block/execution/blockInput'
import { createBlockExecutor, type ParentBlock } from '#block/execution/executeBlock'
import type { BlockMeter, MeterOutcome } from '#rpc/meterPorts'
import type { Block } from '#types/block'
import type { Address, Hash } from '#types/ids'
import { recoverSender } from '#types/recoverSender'
import { decodeTransaction, depositType, hashTransaction } from '#types/transaction'
import type { Pieces } from '../slicedRun.ts'
import { type MeterDeps, timed } from './timed.ts'

/** Recovers the senders of all signed transactions. @returns microseconds */
function* recovered(clock: MeterDeps['clock'], raws: readonly Uint8Array[], into: Map<Hash, Address>): Pieces<number> {
  let totalUs = 0
  for (const raw of raws) {
    const tx = decodeTransaction(raw)
    if (tx.type === depositType) continue
    const [sender, us] = timed(clock, () => recoverSender(tx))
    totalUs += us
    if (sender) into.set(hashTransaction(raw), sender)
    yield
  }
  return totalUs
}

/** Executes a block again, including its state root. */
export function* meterBlock({ evm, config, clock }: MeterDeps, parent: ParentBlock, block: Block): Pieces<MeterOutcome<BlockMeter>> {
  const known = new Map<Hash, Address>()
  const recoveryUs = yield* recovered(clock, block.transactions, known)
  const senders = { of: (_tx: unknown, hash: Hash): Address | undefined => known.get(hash) }
  const [opened, openUs] = timed(clock, () => createBlockExecutor({ evm, config, senders }, parent, inputOfBlock(block)))
  if (opened.kind === 'invalid') return { kind: 'refused', reason: opened.reason }
  using open = opened.block
  let totalUs = openUs
  const transactions: BlockMeter['transactions'][number][] = []
  for (const raw of block.transactions) {
    const [refusal, executionUs] = timed(clock, () => open.take(raw))
    const executed = open.run.executed.at(-1)
    if (refusal !== undefined || executed === undefined) return { kind: 'refused', reason: refusal ?? 'the transaction was not executed' }
    totalUs += executionUs
    transactions.push({ hash: executed.hash, gasUsed: executed.gasUsed, executionUs })
    yield
  }
  const [, stateRootUs] = timed(clock, () => open.seal())
  return { kind: 'measured', value: { recoveryUs, executionUs: totalUs, stateRootUs, transactions } }
}
