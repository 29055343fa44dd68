import type { EvmRules } from '#chain/evmRules'
import { isActive } from '#chain/forks'
import type { BlockEnv, EvmSession } from '#evm/ports'
import { RlpError } from '#lib/rlp'
import type { Deposit } from '#types/deposit'
import { createReceipt } from '#types/receipt'
import { decodeTransaction, depositType, hashTransaction, type SignedTransaction, type Transaction } from '#types/transaction'
import { applyTransaction } from './applyTransaction.ts'
import { applyDeposit } from './deposits.ts'
import type { ExecutedTransaction, InvalidBlock } from './executedBlock.ts'
import type { ExecutionConfig } from './executionConfig.ts'
import { createOpFees, type OpFees } from './opFees.ts'
import type { Senders } from './senders.ts'

/** A block being executed: where it runs and under which rules. */
export type BlockRun = {
  readonly session: EvmSession
  readonly env: BlockEnv
  readonly rules: EvmRules
  readonly config: ExecutionConfig
  readonly senders: Senders
}

type Ran = { readonly kind: 'ran'; readonly transaction: ExecutedTransaction; readonly footprint: bigint }
type Refused = { readonly kind: 'refused'; readonly reason: string }

/** Gas and DA footprint taken by the transactions so far. */
type Taken = { gas: bigint; footprint: bigint }

/**
 * Runs the transactions of a block one after another.
 * @returns them with their receipts and the block's DA footprint (gas), or the first one that cannot be in this block and why
 */
export function runTransactions(
  run: BlockRun,
  raws: readonly Uint8Array[],
): { kind: 'executed'; executed: ExecutedTransaction[]; taken: Taken } | InvalidBlock {
  const executed: ExecutedTransaction[] = []
  const taken: Taken = { gas: 0n, footprint: 0n }
  let fees: OpFees | undefined
  for (const [index, raw] of raws.entries()) {
    const tx = decoded(raw)
    let result: Ran | Refused
    if (typeof tx === 'string') result = { kind: 'refused', reason: tx }
    else if (tx.type === depositType) result = runDeposit(run, taken, tx, raw)
    else {
      fees ??= createOpFees(run.config.schedule, run.env.timestamp, run.session)
      result = runSigned(run, taken, fees, tx, raw)
    }
    if (result.kind === 'refused') return { kind: 'invalid', reason: `transaction ${index}: ${result.reason}` }
    executed.push(result.transaction)
    taken.gas += result.transaction.gasUsed
    taken.footprint += result.footprint
  }
  return { kind: 'executed', executed, taken }
}

/** The transaction, or why its bytes are none. */
function decoded(raw: Uint8Array): Transaction | string {
  try {
    return decodeTransaction(raw)
  } catch (error) {
    if (error instanceof RlpError) return error.message
    throw error
  }
}

function runDeposit(run: BlockRun, taken: Taken, deposit: Deposit, raw: Uint8Array): Ran | Refused {
  const { schedule } = run.config
  const isRegolith = isActive(schedule, 'regolith', run.env.timestamp)
  const countsAgainstLimit = isRegolith || !deposit.isSystemTransaction
  if (countsAgainstLimit && deposit.gasLimit > run.env.gasLimit - taken.gas)
    return { kind: 'refused', reason: 'exceeds the gas limit of the block' }
  const { succeeded, gasUsed, logs, nonce } = applyDeposit(run.session, run.rules, isRegolith ? 'used' : 'limit', deposit)
  const receipt = createReceipt({
    type: depositType,
    succeeded,
    cumulativeGasUsed: taken.gas + gasUsed,
    logs,
    ...(isRegolith && { depositNonce: nonce }),
    ...(isActive(schedule, 'canyon', run.env.timestamp) && { depositReceiptVersion: 1n }),
  })
  return { kind: 'ran', transaction: { hash: hashTransaction(raw), sender: deposit.from, receipt, gasUsed }, footprint: 0n }
}

function runSigned(run: BlockRun, taken: Taken, fees: OpFees, tx: SignedTransaction, raw: Uint8Array): Ran | Refused {
  const { session, env, rules } = run
  const hash = hashTransaction(raw)
  const sender = run.senders.of(tx, hash)
  if (sender === undefined) return { kind: 'refused', reason: 'invalid signature' }
  const footprint = fees.footprint(raw)
  if (taken.footprint + footprint > env.gasLimit) return { kind: 'refused', reason: 'the DA footprint exceeds the gas limit of the block' }
  const result = applyTransaction(session, env, rules, fees.rules, tx, raw, sender, env.gasLimit - taken.gas)
  if (result.kind === 'refused') return result
  const { gasUsed, outcome } = result
  const succeeded = outcome.kind === 'success'
  const logs = succeeded ? outcome.logs : []
  const receipt = createReceipt({ type: tx.type, succeeded, cumulativeGasUsed: taken.gas + gasUsed, logs })
  return { kind: 'ran', transaction: { hash, sender, receipt, gasUsed }, footprint }
}
