import type { EvmRules } from '#chainspec/evmRules'
import type { BlockEnv, EvmSession, Outcome, TransactionEnv } from '#evm/ports'
import type { Address } from '#types/ids'
import type { SignedTransaction } from '#types/transaction'
import { gasAfterRefund, gasBounds } from '../validation/intrinsicGas.ts'
import { blobGasOf, refuseTransaction, tipPerGas } from '../validation/transactionValidity.ts'
import { applyAuthorizations, type SignedAuthorization, signedAuthorizations } from './authorizations.ts'

/** Facts from which the fees of a transaction are computed; gas in gas, prices in wei per gas. */
export type GasBill = {
  readonly sender: Address
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  readonly baseFee: bigint
  readonly tipPerGas: bigint
  readonly beneficiary: Address
  /** EIP-2718 bytes */
  readonly raw: Uint8Array
}

/** Fee rules for signed transactions: the only difference between chains at transaction level. */
export type FeeRules = {
  /** Maximum number of blobs per transaction; absent: blob transactions are not allowed. */
  readonly maxBlobs?: number
  /** Wei in addition to the gas that the sender is charged before execution: L1 data fee, and operator fee on the gas limit. */
  upfront(raw: Uint8Array, tx: SignedTransaction): bigint
  /** Pays beneficiary and vaults, and returns the excess of `upfront` to the sender. Unused gas has already been returned. */
  settle(session: EvmSession, bill: GasBill): void
}

/** `gasUsed` is the gas that the sender pays for: after refunds, at least the floor. A refused transaction has changed nothing. */
export type TransactionResult =
  | { readonly kind: 'executed'; readonly gasUsed: bigint; readonly outcome: Outcome }
  | { readonly kind: 'refused'; readonly reason: string }

function transactionEnv(
  tx: SignedTransaction,
  sender: Address,
  gasPrice: bigint,
  authorizations: readonly SignedAuthorization[],
): TransactionEnv {
  const listed = tx.type === 0 ? [] : tx.accessList
  return {
    origin: sender,
    gasPrice,
    blobHashes: tx.type === 3 ? tx.blobVersionedHashes : [],
    warm: [...listed, ...authorizations.map(({ authority }) => ({ address: authority, slots: [] }))],
  }
}

/**
 * Validates and runs one signed transaction. Effects on the session, in order: 1 the sender is charged for all gas, blobs and the upfront fees,
 * 2 its nonce is incremented, 3 authorizations are applied, 4 the message runs, 5 unused gas is returned, 6 the fee rules settle, 7 the transaction
 * ends. Effects 1 to 3 persist when the message fails.
 * @param raw EIP-2718 bytes of `tx`
 * @param sender signer of `tx`, recovered by the caller
 * @param gasAvailable gas left in the block
 */
export function applyTransaction(
  session: EvmSession,
  block: BlockEnv,
  rules: EvmRules,
  fees: FeeRules,
  tx: SignedTransaction,
  raw: Uint8Array,
  sender: Address,
  gasAvailable: bigint,
): TransactionResult {
  const upfront = fees.upfront(raw, tx)
  const bounds = gasBounds(rules, tx)
  const reason = refuseTransaction({ session, block, rules, maxBlobs: fees.maxBlobs, tx, bounds, sender, upfront, gasAvailable })
  if (reason !== undefined) return { kind: 'refused', reason }

  const { to, value, data, gasLimit } = tx
  const { baseFee, beneficiary } = block
  const tip = tipPerGas(tx, baseFee)
  const gasPrice = baseFee + tip
  const authorizations = tx.type === 4 ? signedAuthorizations(tx.authorizationList, block.chainId) : []
  session.beginTransaction(transactionEnv(tx, sender, gasPrice, authorizations))
  session.subtractBalance(sender, gasLimit * gasPrice + blobGasOf(tx) * block.blobBaseFee + upfront)
  if (to !== null) session.setNonce(sender, tx.nonce + 1n)
  const earlierRefund = applyAuthorizations(session, authorizations)

  const outcome = session.run({ caller: sender, to, value, data, gas: gasLimit - bounds.intrinsic })
  const gasUsed = gasAfterRefund(gasLimit, bounds.floor, outcome, earlierRefund)
  session.addBalance(sender, (gasLimit - gasUsed) * gasPrice)
  fees.settle(session, { sender, gasLimit, gasUsed, baseFee, tipPerGas: tip, beneficiary, raw })
  session.endTransaction()
  return { kind: 'executed', gasUsed, outcome }
}
