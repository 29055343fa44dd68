import type { PoolRefusal } from '#types/pooledTransaction'
import { invalidInput, invalidParams, type RpcError, transactionRejected } from '../../../errors.ts'
import { insufficientFunds } from '../calls/planCall.ts'

/** Known types of signed transactions. Bytes with any other first byte are malformed. */
const signedTypes: readonly number[] = [0, 1, 2, 3, 4]

const undecodable = (): RpcError => invalidParams('failed to decode signed transaction')

/** Errors with a fixed code and text, as in Base's execution client. */
const plain = {
  undecodable,
  signature: () => invalidParams('invalid transaction signature'),
  'chain-id': () => invalidInput('invalid chain ID'),
  'gas-limit': () => invalidInput('exceeds block gas limit'),
  'transaction-gas-limit': () => invalidInput('exceeds max transaction gas limit'),
  'initcode-size': () => invalidInput('max initcode size exceeded'),
  'intrinsic-gas': () => invalidInput('intrinsic gas too low'),
  'tip-above-fee-cap': () => transactionRejected('max priority fee per gas higher than max fee per gas'),
  underpriced: () => invalidInput('transaction underpriced'),
  'nonce-too-high': () => invalidInput('nonce too high'),
  'nonce-max': () => transactionRejected('nonce has max value'),
  'sender-has-code': () => transactionRejected('sender is not an EOA'),
  'empty-authorizations': () => invalidInput('EIP-7702 transaction with empty auth list'),
  'replacement-underpriced': () => invalidInput('replacement transaction underpriced'),
  'delegated-limit': () => invalidInput('in-flight transaction limit reached for delegated accounts'),
  'account-full': () => transactionRejected('txpool is full: the sender has as many transactions in it as it may have'),
  'pool-full': () => transactionRejected('txpool is full'),
} as const satisfies Partial<Record<PoolRefusal['kind'], () => Error>>

/** Error for a transaction that the pool refused. */
export function poolRefusalError(refusal: PoolRefusal): Error {
  switch (refusal.kind) {
    case 'type':
      return signedTypes.includes(refusal.type) ? transactionRejected('transaction type not supported') : undecodable()
    case 'oversized':
      return invalidInput(`oversized data: transaction size ${refusal.size}, limit ${refusal.limit}`)
    case 'nonce-too-low':
      return invalidInput(`nonce too low: next nonce ${refusal.next}, tx nonce ${refusal.nonce}`)
    case 'insufficient-funds':
      return insufficientFunds(refusal.have, refusal.want)
    default:
      return plain[refusal.kind]()
  }
}
