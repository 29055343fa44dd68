import type { EvmRules } from '#chainspec/evmRules'
import type { EvmSession, Outcome } from '#evm/ports'
import { emptyBytes } from '#lib/bytes'
import { maxNonce } from '#types/account'
import type { Deposit } from '#types/deposit'
import type { Log } from '#types/log'
import { floorGas, gasAfterRefund, intrinsicGas } from '../validation/intrinsicGas.ts'

/** How deposits count gas. `used`: from Regolith on, the gas used. `limit`: before Regolith, the gas limit, and zero for system transactions. */
export type DepositMetering = 'used' | 'limit'

/** Result of an executed deposit. */
export type DepositResult = {
  readonly succeeded: boolean
  /** gas */
  readonly gasUsed: bigint
  readonly logs: readonly Log[]
  /** nonce of the sender before execution */
  readonly nonce: bigint
}

/** Returns why the deposit fails without running, or undefined. */
function refusal(session: EvmSession, rules: EvmRules, metering: DepositMetering, deposit: Deposit): string | undefined {
  if (deposit.isSystemTransaction && metering === 'used') return 'system transaction'
  if (deposit.gasLimit < intrinsicGas(rules, deposit) || deposit.gasLimit < floorGas(rules, deposit)) return 'intrinsic gas'
  return (session.account(deposit.from)?.balance ?? 0n) < deposit.value ? 'insufficient balance' : undefined
}

/** Increments a nonce. The maximum nonce, which only a genesis file can give to an account, stays as it is (EIP-2681). */
const nonceAfter = (nonce: bigint): bigint => (nonce < maxNonce ? nonce + 1n : nonce)

/** Runs the deposit's call or creation. A call's nonce is incremented here; a creation increments it itself, and ends at once at the maximum. */
function runDeposit(session: EvmSession, rules: EvmRules, deposit: Deposit, nonce: bigint): Outcome {
  const gas = deposit.gasLimit - intrinsicGas(rules, deposit)
  if (deposit.to === null && nonce === maxNonce) return { kind: 'success', gasLeft: gas, gasRefund: 0n, output: emptyBytes, logs: [] }
  if (deposit.to !== null) session.setNonce(deposit.from, nonceAfter(nonce))
  return session.run({ caller: deposit.from, to: deposit.to, value: deposit.value, data: deposit.data, gas })
}

/**
 * Executes a deposit. Its gas is free, and it cannot make the block invalid. Its mint persists and the sender's nonce is incremented in every case.
 * A halt, or a failure before execution, reverts all other changes and uses all of its gas.
 *
 * The initcode of a deposit that creates a contract has no size limit: EIP-3860's limit is a check on signed transactions. Base's client (revm)
 * does the same. op-geth differs: from Canyon on it fails such a deposit when its initcode is longer than 49,152 bytes. Initcode of CREATE and
 * CREATE2 inside a deposit has the limit in both.
 * @see specs protocol/deposits.md, "Execution"; protocol/regolith/overview.md
 */
export function applyDeposit(session: EvmSession, rules: EvmRules, metering: DepositMetering, deposit: Deposit): DepositResult {
  const nonce = session.account(deposit.from)?.nonce ?? 0n
  session.beginTransaction({ origin: deposit.from, gasPrice: 0n, blobHashes: [], warm: [] })
  if (deposit.mint > 0n) session.addBalance(deposit.from, deposit.mint)
  const minted = session.checkpoint()
  const outcome = refusal(session, rules, metering, deposit) === undefined ? runDeposit(session, rules, deposit, nonce) : undefined
  if (outcome === undefined || outcome.kind === 'halt') session.revertTo(minted)
  if (outcome?.kind !== 'success') session.setNonce(deposit.from, nonceAfter(nonce))
  session.endTransaction()
  return {
    succeeded: outcome?.kind === 'success',
    gasUsed: gasUsedBy(rules, metering, deposit, outcome),
    logs: outcome?.kind === 'success' ? outcome.logs : [],
    nonce,
  }
}

function gasUsedBy(rules: EvmRules, metering: DepositMetering, deposit: Deposit, outcome: Outcome | undefined): bigint {
  if (metering === 'limit') return deposit.isSystemTransaction ? 0n : deposit.gasLimit
  if (outcome === undefined || outcome.kind === 'halt') return deposit.gasLimit
  return gasAfterRefund(deposit.gasLimit, floorGas(rules, deposit), outcome)
}
