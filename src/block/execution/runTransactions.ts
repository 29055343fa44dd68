import type { EvmRules } from '#chainspec/evmRules'
import { isActive } from '#chainspec/forks'
import type { BlockEnv, EvmSession, InterruptCheck } from '#evm/ports'
import { RlpError } from '#lib/rlp'
import type { Deposit } from '#types/deposit'
import type { ExecutedTransaction } from '#types/executedTransaction'
import type { Address, Hash } from '#types/ids'
import { createReceipt } from '#types/receipt'
import { decodeTransaction, depositType, hashTransaction, type SignedTransaction, type Transaction } from '#types/transaction'
import type { ExecutionConfig } from '../executionConfig.ts'
import { createOpFees, type OpFees } from '../fees/opFees.ts'
import { applyTransaction } from './applyTransaction.ts'
import { applyDeposit } from './deposits.ts'
import type { Senders } from './senders.ts'

/** Environment of a block in execution. */
export type BlockRun = {
  readonly session: EvmSession
  readonly env: BlockEnv
  readonly rules: EvmRules
  readonly config: ExecutionConfig
  readonly senders: Senders
  /** Called before each transaction; the session calls it while messages run. An error that it throws ends the execution. */
  readonly interruptCheck?: InterruptCheck
}

/** A decoded signed transaction with its hash and sender. */
export type ReadTransaction = {
  readonly tx: SignedTransaction
  /** EIP-2718 bytes */
  readonly raw: Uint8Array
  readonly hash: Hash
  /** signer of the transaction */
  readonly sender: Address
}

/** Runs the transactions of one block in order. Payloads, attributes and the pool use the same rules. */
export class TransactionRun {
  readonly #run: BlockRun
  readonly #isRegolith: boolean
  readonly #isCanyon: boolean
  readonly #executed: ExecutedTransaction[] = []
  #gasUsed = 0n
  #footprint = 0n
  #fees: OpFees | undefined

  constructor(run: BlockRun) {
    const { schedule } = run.config
    this.#run = run
    this.#isRegolith = isActive(schedule, 'regolith', run.env.timestamp)
    this.#isCanyon = isActive(schedule, 'canyon', run.env.timestamp)
  }

  /** Transactions that ran, in order. */
  get executed(): readonly ExecutedTransaction[] {
    return this.#executed
  }

  /** Gas used so far. */
  get gasUsed(): bigint {
    return this.#gasUsed
  }

  /** Gas left in the block. */
  get gasLeft(): bigint {
    return this.#run.env.gasLimit - this.#gasUsed
  }

  /** The block's DA footprint so far, in gas; zero before Jovian. */
  get footprint(): bigint {
    return this.#footprint
  }

  /** DA footprint left in the block, in gas. */
  get footprintLeft(): bigint {
    return this.#run.env.gasLimit - this.#footprint
  }

  /** DA footprint of a transaction, in gas. */
  footprintOf(raw: Uint8Array): bigint {
    return this.#feesNow().footprint(raw)
  }

  /**
   * Runs the next transaction.
   * @param signer sender of the transaction, if it is already recovered
   * @returns why it cannot be at this place in the block; then it has changed nothing
   */
  take(raw: Uint8Array, signer?: Address): string | undefined {
    this.#run.interruptCheck?.(0)
    const tx = decoded(raw)
    if (typeof tx === 'string') return tx
    if (tx.type === depositType) return this.#takeDeposit(tx, raw)
    const hash = hashTransaction(raw)
    const sender = signer ?? this.#run.senders.of(tx, hash)
    return sender === undefined ? 'invalid signature' : this.takeSigned({ tx, raw, hash, sender })
  }

  /** `take` for a decoded transaction with a known sender. */
  takeSigned({ tx, raw, hash, sender }: ReadTransaction): string | undefined {
    const { session, env, rules } = this.#run
    const fees = this.#feesNow()
    const footprint = fees.footprint(raw)
    if (footprint > this.footprintLeft) return 'the DA footprint exceeds the gas limit of the block'
    const result = applyTransaction(session, env, rules, fees.rules, tx, raw, sender, this.gasLeft)
    if (result.kind === 'refused') return result.reason
    const { gasUsed, outcome } = result
    const succeeded = outcome.kind === 'success'
    const logs = succeeded ? outcome.logs : []
    this.#gasUsed += gasUsed
    this.#footprint += footprint
    const receipt = createReceipt({ type: tx.type, succeeded, cumulativeGasUsed: this.#gasUsed, logs })
    this.#executed.push({ hash, sender, receipt, gasUsed })
    return undefined
  }

  #takeDeposit(deposit: Deposit, raw: Uint8Array): string | undefined {
    const countsAgainstLimit = this.#isRegolith || !deposit.isSystemTransaction
    if (countsAgainstLimit && deposit.gasLimit > this.gasLeft) return 'exceeds the gas limit of the block'
    const { session, rules } = this.#run
    const { succeeded, gasUsed, logs, nonce } = applyDeposit(session, rules, this.#isRegolith ? 'used' : 'limit', deposit)
    this.#gasUsed += gasUsed
    const receipt = createReceipt({
      type: depositType,
      succeeded,
      cumulativeGasUsed: this.#gasUsed,
      logs,
      ...(this.#isRegolith && { depositNonce: nonce }),
      ...(this.#isCanyon && { depositReceiptVersion: 1n }),
    })
    this.#executed.push({ hash: hashTransaction(raw), sender: deposit.from, receipt, gasUsed })
    return undefined
  }

  /** Fee rules at the prices that the block's first transaction has set. */
  #feesNow(): OpFees {
    const { config, env, session } = this.#run
    this.#fees ??= createOpFees(config.schedule, env.timestamp, session)
    return this.#fees
  }
}

/** Decodes a transaction. @returns the transaction, or why its bytes are invalid */
function decoded(raw: Uint8Array): Transaction | string {
  try {
    return decodeTransaction(raw)
  } catch (error) {
    if (error instanceof RlpError) return error.message
    throw error
  }
}
