import { emptyBytes } from '#lib/bytes'
import { zeroAddress } from '#types/ids'
import type { CallMessage, CallRequest } from '../../../callPorts.ts'
import { invalidInput, invalidParams, transactionRejected } from '../../../errors.ts'

/** Inputs of a plan besides the request, in wei. */
export type CallBasis = {
  /** base fee of the block, per gas */
  readonly baseFee: bigint
  /** balance of the sender; read only when needed */
  readonly balance: () => bigint
  /** default gas, and maximum gas of a request */
  readonly gasCap: bigint
  readonly chainId: number
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Effective price, wei per gas; 0 when the request names no price. With maximum fees of zero, the base fee is not checked. */
function priceOf(request: CallRequest, baseFee: bigint): bigint {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = request
  if (maxFeePerGas === undefined && maxPriorityFeePerGas === undefined) return gasPrice ?? 0n
  if (gasPrice !== undefined) throw invalidParams('both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified')
  const tip = maxPriorityFeePerGas ?? 0n
  if (maxFeePerGas === undefined) return baseFee + tip
  if ((maxFeePerGas !== 0n || tip !== 0n) && maxFeePerGas < baseFee) throw invalidInput('max fee per gas less than block base fee')
  if (maxFeePerGas < tip) throw transactionRejected('max priority fee per gas higher than max fee per gas')
  return min(maxFeePerGas, baseFee + tip)
}

/** Gas limit of a request, at most `gasCap`; with a price and no limit, the gas that the sender can pay for. */
function gasLimitOf(request: CallRequest, price: bigint, basis: CallBasis): bigint {
  if (request.gas !== undefined) return min(request.gas, basis.gasCap)
  if (price === 0n) return basis.gasCap
  const value = request.value ?? 0n
  const balance = basis.balance()
  if (balance < value) throw insufficientFunds(balance, value)
  return min(basis.gasCap, (balance - value) / price)
}

/** @param have wei of the sender @param want wei needed for value and gas */
export function insufficientFunds(have: bigint, want: bigint): Error {
  return transactionRejected(`insufficient funds for gas * price + value: have ${have} want ${want}`)
}

/** @throws RpcError for a request that cannot be a transaction */
function checkForm({ chainId, to, authorizationList }: CallRequest, basis: CallBasis): void {
  if (chainId !== undefined && chainId !== BigInt(basis.chainId)) throw invalidInput('invalid chain ID')
  if (authorizationList !== undefined && to === undefined)
    throw invalidParams('a transaction with an authorizationList creates no contract: "to" is needed')
}

/** Message of a request, with defaults applied. Pure. @throws RpcError when its fees contradict each other or the block */
export function planCall(request: CallRequest, basis: CallBasis): CallMessage {
  checkForm(request, basis)
  const gasPrice = priceOf(request, basis.baseFee)
  return messageOf(request, gasPrice, gasLimitOf(request, gasPrice, basis))
}

/**
 * First message of an estimate, with the maximum gas: the request's limit, bounded by the sender's balance and the cap. L1 and operator fees are not
 * subtracted: Base's client charges neither in calls and estimates (paradigmxyz/reth, pull request 22959). Pure.
 * @throws RpcError like `planCall`
 */
export function planEstimate(request: CallRequest, basis: CallBasis): CallMessage {
  checkForm(request, basis)
  const gasPrice = priceOf(request, basis.baseFee)
  const asked = min(request.gas ?? basis.gasCap, basis.gasCap)
  const gasLimit = gasPrice === 0n ? asked : min(asked, gasLimitOf({ ...request, gas: undefined }, gasPrice, basis))
  return messageOf(request, gasPrice, gasLimit)
}

function messageOf(request: CallRequest, gasPrice: bigint, gasLimit: bigint): CallMessage {
  return {
    from: request.from ?? zeroAddress,
    to: request.to ?? null,
    value: request.value ?? 0n,
    data: request.data ?? emptyBytes,
    gasLimit,
    gasPrice,
    accessList: request.accessList ?? [],
    authorizationList: request.authorizationList ?? [],
  }
}
