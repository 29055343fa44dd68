import type { FeeRules } from '#block/execution/applyTransaction'
import { applyAuthorizations, signedAuthorizations } from '#block/execution/authorizations'
import { type GasBounds, gasAfterRefund, gasBounds, initcodeRefusal } from '#block/validation/intrinsicGas'
import { feeCapOf, tipAt, tipCapOf } from '#block/validation/transactionValidity'
import { type EvmRules, hasFork } from '#chainspec/evmRules'
import type { BlockEnv, EvmSession, InterruptCheck, Outcome } from '#evm/ports'
import { emptyBytes } from '#lib/bytes'
import type { CallRequest, SimulationRefusal } from '#rpc/callPorts'
import { maxNonce } from '#types/account'
import { type Address, zeroAddress } from '#types/ids'
import type { SignedTransaction } from '#types/transaction'
import { warmOverridden } from '../call/overriddenPrecompiles.ts'

/** Environment of a call in a simulated block. */
export type SimulatedContext = {
  readonly session: EvmSession
  readonly env: BlockEnv
  readonly rules: EvmRules
  readonly validation: boolean
  /** charged only with validation */
  readonly fees: FeeRules
}

/** Result of a simulated call. */
export type SimulatedRun =
  | { readonly kind: 'refused'; readonly refusal: SimulationRefusal }
  /** gas used after refunds, and the maximum during execution */
  | { readonly kind: 'ran'; readonly outcome: Outcome; readonly gasUsed: bigint; readonly mostGas: bigint; readonly output: Uint8Array }

const refused = (kind: SimulationRefusal['kind'], reason: string): { kind: 'refused'; refusal: SimulationRefusal } => ({
  kind: 'refused',
  refusal: { kind, reason },
})

/** Returns a call as an unsigned transaction, of type 0, 2 or 4 according to its fields. */
export function transactionOf(request: CallRequest, chainId: bigint, nonce: bigint, gasLimit: bigint): SignedTransaction {
  const { to = null, value = 0n, data = emptyBytes, gasPrice, accessList = [], authorizationList } = request
  const common = { nonce, gasLimit, value, data, yParity: 0 as const, r: 0n, s: 0n }
  if (gasPrice !== undefined) return { ...common, type: 0, to, chainId, gasPrice }
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = request
  const fees = { chainId, maxFeePerGas, maxPriorityFeePerGas, accessList }
  return authorizationList !== undefined && to !== null
    ? { ...common, ...fees, type: 4, to, authorizationList }
    : { ...common, ...fees, type: 2, to }
}

/** Returns the call's gas price and tip. A call without a price pays nothing, unless validation is on. */
function pricesOf(tx: SignedTransaction, { env, validation }: SimulatedContext): { readonly price: bigint; readonly tip: bigint } {
  const [feeCap, tipCap] = [feeCapOf(tx), tipCapOf(tx)]
  if (!validation && feeCap === 0n && tipCap === 0n) return { price: 0n, tip: 0n }
  const tip = tipAt(tipCap, feeCap, env.baseFee)
  return { price: env.baseFee + tip, tip }
}

function refusalOf(
  place: SimulatedContext,
  tx: SignedTransaction,
  { intrinsic, floor }: GasBounds,
  from: Address,
  upfront: bigint,
): ReturnType<typeof refused> | undefined {
  const { session, env, rules, validation } = place
  if (tx.type === 4 && !hasFork(rules, 'prague')) return refused('bad-request', 'transaction type not supported: 4')
  const { nonce = 0n, balance = 0n } = session.account(from) ?? {}
  if (validation && tx.nonce < nonce) return refused('nonce-too-low', `nonce too low: next nonce ${nonce}, tx nonce ${tx.nonce}`)
  if (validation && tx.nonce > nonce) return refused('nonce-too-high', `nonce too high: next nonce ${nonce}, tx nonce ${tx.nonce}`)
  if (validation && nonce === maxNonce) return refused('impossible', 'nonce has max value')
  const [feeCap, tipCap] = [feeCapOf(tx), tipCapOf(tx)]
  if (feeCap < tipCap) return refused('bad-request', 'max priority fee per gas higher than max fee per gas')
  if (feeCap < env.baseFee && (validation || feeCap > 0n)) return refused('fee-below-base-fee', 'max fee per gas less than block base fee')
  const want = tx.gasLimit * feeCap + tx.value + upfront
  if (balance < want) {
    return refused('insufficient-funds', `insufficient funds for gas * price + value: address ${from} have ${balance} want ${want}`)
  }
  if (tx.gasLimit < intrinsic) return refused('intrinsic-gas', `intrinsic gas too low: have ${tx.gasLimit}, want ${intrinsic}`)
  if (tx.gasLimit < floor) return refused('intrinsic-gas', `insufficient gas for floor data gas cost: have ${tx.gasLimit}, want ${floor}`)
  const size = initcodeRefusal(rules, tx)
  return size === undefined ? undefined : refused('initcode-size', size)
}

/**
 * Validates and runs a call as a transaction, and pays its fees. Does not check the sender's code. Checks nonces only with validation; without it,
 * the maximum nonce wraps to zero.
 * @param raw EIP-2718 bytes of `tx`
 * @throws errors of `interruptCheck`
 */
export function simulateCall(
  place: SimulatedContext,
  tx: SignedTransaction,
  raw: Uint8Array,
  sender: Address = zeroAddress,
  interruptCheck?: InterruptCheck,
): SimulatedRun {
  const { session, env, rules, validation, fees } = place
  const upfront = validation ? fees.upfront(raw, tx) : 0n
  const bounds = gasBounds(rules, tx)
  const refusal = refusalOf(place, tx, bounds, sender, upfront)
  if (refusal) return refusal
  const { price, tip } = pricesOf(tx, place)
  const { to, value, data, gasLimit } = tx
  const authorizations = tx.type === 4 ? signedAuthorizations(tx.authorizationList, env.chainId) : []
  const listed = tx.type === 0 ? [] : tx.accessList
  const warm = [...listed, ...authorizations.map(({ authority }) => ({ address: authority, slots: [] })), ...warmOverridden(rules)]
  session.beginTransaction({ origin: sender, gasPrice: price, blobHashes: [], warm })
  session.subtractBalance(sender, gasLimit * price + upfront)
  if (to !== null) session.setNonce(sender, ((session.account(sender)?.nonce ?? 0n) + 1n) & maxNonce)
  const earlierRefund = applyAuthorizations(session, authorizations)
  const outcome = session.run({ caller: sender, to, value, data, gas: gasLimit - bounds.intrinsic }, interruptCheck)
  const output = outcome.kind === 'success' && outcome.created !== undefined ? session.code(outcome.created) : outcome.output

  const gasUsed = gasAfterRefund(gasLimit, bounds.floor, outcome, earlierRefund)
  session.addBalance(sender, (gasLimit - gasUsed) * price)
  if (validation) {
    fees.settle(session, { sender, gasLimit, gasUsed, baseFee: env.baseFee, tipPerGas: tip, beneficiary: env.beneficiary, raw })
  } else {
    session.addBalance(env.beneficiary, gasUsed * tip)
  }
  session.endTransaction()
  const ran = gasLimit - outcome.gasLeft
  return { kind: 'ran', outcome, gasUsed, mostGas: ran > gasUsed ? ran : gasUsed, output }
}
