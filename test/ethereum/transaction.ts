import { applyTransaction, type FeeRules, type TransactionResult } from '#block/execution/applyTransaction'
import { type GasBounds, intrinsicGas } from '#block/validation/intrinsicGas'
import { refuseTransaction, tipPerGas } from '#block/validation/transactionValidity'
import type { BlockEnv, EvmSession } from '#evm/ports'
import { type EthereumRules, hasOldFork, oldForkOf } from '#test/reference/oldForks'
import type { Address } from '#types/ids'
import type { SignedTransaction } from '#types/transaction'

/** Gas of a non-zero byte of calldata before Istanbul in addition to its later price (EIP-2028). */
const oldByteSurcharge = 52n
/** Gas; EIP-2. */
const creation = 32_000n

/** Returns why a transaction's type is unknown to these rules, or undefined. */
function refuseLater(tx: SignedTransaction, rules: EthereumRules): string | undefined {
  if (tx.type === 1 && !hasOldFork(rules, 'berlin')) return 'transaction type not supported: 1'
  if (tx.type === 2 && !hasOldFork(rules, 'london')) return 'transaction type not supported: 2'
  return tx.type === 0 && tx.chainId !== undefined && !hasOldFork(rules, 'spuriousDragon') ? 'replay-protected before EIP-155' : undefined
}

function oldBounds(rules: EthereumRules, tx: SignedTransaction): GasBounds {
  let intrinsic = intrinsicGas(rules, tx)
  if (!hasOldFork(rules, 'istanbul')) intrinsic += oldByteSurcharge * BigInt(tx.data.reduce((sum, byte) => sum + (byte === 0 ? 0 : 1), 0))
  if (tx.to === null && !hasOldFork(rules, 'homestead')) intrinsic -= creation
  return { intrinsic, floor: 0n }
}

/** `applyTransaction` under the rules of any fork of Ethereum. @param at block environment, rules and fees */
export function applyEthereumTransaction(
  session: EvmSession,
  at: { readonly env: BlockEnv; readonly rules: EthereumRules; readonly fees: FeeRules },
  tx: SignedTransaction,
  raw: Uint8Array,
  sender: Address,
  gasAvailable: bigint,
): TransactionResult {
  const { env, rules, fees } = at
  if (oldForkOf(rules) === undefined) return applyTransaction(session, env, rules, fees, tx, raw, sender, gasAvailable)
  const bounds = oldBounds(rules, tx)
  const candidate = { session, block: env, rules, maxBlobs: undefined, tx, bounds, sender, upfront: 0n, gasAvailable }
  const reason = refuseLater(tx, rules) ?? refuseTransaction(candidate)
  if (reason !== undefined) return { kind: 'refused', reason }

  const { to, value, data, gasLimit } = tx
  const { baseFee, beneficiary } = env
  const tip = tipPerGas(tx, baseFee)
  const gasPrice = baseFee + tip
  session.beginTransaction({ origin: sender, gasPrice, blobHashes: [], warm: tx.type === 0 ? [] : tx.accessList })
  session.subtractBalance(sender, gasLimit * gasPrice)
  if (to !== null) session.setNonce(sender, tx.nonce + 1n)
  const outcome = session.run({ caller: sender, to, value, data, gas: gasLimit - bounds.intrinsic })
  const ran = gasLimit - outcome.gasLeft
  const mostRefund = ran / (hasOldFork(rules, 'london') ? 5n : 2n) // EIP-3529
  const gasUsed = ran - (outcome.gasRefund < mostRefund ? outcome.gasRefund : mostRefund)
  session.addBalance(sender, (gasLimit - gasUsed) * gasPrice)
  fees.settle(session, { sender, gasLimit, gasUsed, baseFee, tipPerGas: tip, beneficiary, raw })
  session.endTransaction()
  return { kind: 'executed', gasUsed, outcome }
}
