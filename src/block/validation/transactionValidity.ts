import { type EvmRules, hasFork, hasOldFork, transactionGasCap } from '#chainspec/evmRules'
import type { BlockEnv, EvmSession } from '#evm/ports'
import { type Address, emptyCodeHash } from '#types/ids'
import type { BlobTransaction, SignedTransaction } from '#types/transaction'
import { isDelegation } from '../execution/authorizations.ts'
import { type GasBounds, gasBounds, initcodeRefusal } from './intrinsicGas.ts'

const maxNonce = 2n ** 64n - 1n
const gasPerBlob = 131_072n
const blobHashVersion = '0x01'

/** A transaction and all that decides whether it may stand in the block at this point. */
export type Candidate = {
  readonly session: EvmSession
  readonly block: BlockEnv
  readonly rules: EvmRules
  /** blobs that one transaction may carry; undefined: no blob transactions at all */
  readonly maxBlobs: number | undefined
  readonly tx: SignedTransaction
  /** of `tx` under `rules` */
  readonly bounds: GasBounds
  readonly sender: Address
  /** wei that the fee rules take beside the gas */
  readonly upfront: bigint
  /** gas left in the block */
  readonly gasAvailable: bigint
}

/** The most that a transaction pays per gas, in wei. */
export const feeCapOf = (tx: SignedTransaction): bigint => ('maxFeePerGas' in tx ? tx.maxFeePerGas : tx.gasPrice)

/** The most that the beneficiary gets per gas, in wei. */
export const tipCapOf = (tx: SignedTransaction): bigint => ('maxPriorityFeePerGas' in tx ? tx.maxPriorityFeePerGas : tx.gasPrice)

/** What the beneficiary gets per gas, in wei: negative for a fee cap that does not reach the base fee. */
export function tipAt(tipCap: bigint, feeCap: bigint, baseFee: bigint): bigint {
  const room = feeCap - baseFee
  return tipCap < room ? tipCap : room
}

/** The same, of a transaction. */
export const tipPerGas = (tx: SignedTransaction, baseFee: bigint): bigint => tipAt(tipCapOf(tx), feeCapOf(tx), baseFee)

export const blobGasOf = (tx: SignedTransaction): bigint => (tx.type === 3 ? BigInt(tx.blobVersionedHashes.length) * gasPerBlob : 0n)

function refuseBlobs(tx: BlobTransaction, block: BlockEnv, maxBlobs: number): string | undefined {
  const hashes = tx.blobVersionedHashes
  if (hashes.length === 0) return 'blob transaction missing blob hashes'
  if (hashes.length > maxBlobs) return `blob transaction has too many blobs: ${hashes.length}, at most ${maxBlobs}`
  const wrong = hashes.findIndex((hash) => !hash.startsWith(blobHashVersion))
  if (wrong >= 0) return `blob ${wrong} has invalid hash version`
  if (tx.maxFeePerBlobGas < block.blobBaseFee) return 'max fee per blob gas less than block blob gas fee'
  return undefined
}

/** What rules before Paris do not know yet. */
function refuseLater(tx: SignedTransaction, rules: EvmRules): string | undefined {
  if (tx.type === 1 && !hasOldFork(rules, 'berlin')) return 'transaction type not supported: 1'
  if (tx.type === 2 && !hasOldFork(rules, 'london')) return 'transaction type not supported: 2'
  return tx.type === 0 && tx.chainId !== undefined && !hasOldFork(rules, 'spuriousDragon') ? 'replay-protected before EIP-155' : undefined
}

function refuseKind({ tx, block, rules, maxBlobs }: Pick<Candidate, 'tx' | 'block' | 'rules' | 'maxBlobs'>): string | undefined {
  if (tx.type === 3 && (maxBlobs === undefined || !hasFork(rules, 'cancun'))) return 'transaction type not supported: 3'
  if (tx.type === 4 && !hasFork(rules, 'prague')) return 'transaction type not supported: 4'
  if (rules.old !== undefined && refuseLater(tx, rules)) return refuseLater(tx, rules)
  if (tx.chainId !== undefined && tx.chainId !== block.chainId) return `chain id ${tx.chainId}, not ${block.chainId}`
  if (tx.type === 4 && tx.authorizationList.length === 0) return 'EIP-7702 transaction with empty authorization list'
  return tx.type === 3 && maxBlobs !== undefined ? refuseBlobs(tx, block, maxBlobs) : undefined
}

function refusePrices(tx: SignedTransaction): string | undefined {
  return tipCapOf(tx) > feeCapOf(tx) ? 'max priority fee per gas higher than max fee per gas' : undefined
}

function refuseBaseFee({ tx, block }: Candidate): string | undefined {
  if (feeCapOf(tx) < block.baseFee) return `max fee per gas less than block base fee: ${feeCapOf(tx)} < ${block.baseFee}`
  return undefined
}

function refuseRoom({ tx, gasAvailable }: Candidate): string | undefined {
  return tx.gasLimit > gasAvailable ? `gas limit reached: ${gasAvailable} left, ${tx.gasLimit} wanted` : undefined
}

function refuseGas({ tx, rules, bounds }: Pick<Candidate, 'tx' | 'rules' | 'bounds'>): string | undefined {
  const cap = transactionGasCap(rules)
  if (cap !== undefined && tx.gasLimit > cap) return `transaction gas limit too high: at most ${cap}, ${tx.gasLimit} wanted`
  const { intrinsic, floor } = bounds
  if (tx.gasLimit < intrinsic) return `intrinsic gas too low: have ${tx.gasLimit}, want ${intrinsic}`
  if (tx.gasLimit < floor) return `insufficient gas for floor data gas cost: have ${tx.gasLimit}, want ${floor}`
  return undefined
}

/** EIP-3607, which EIP-7702 opens for delegated accounts: before Prague there are none. */
function hasForeignCode({ session, sender }: Candidate): boolean {
  const account = session.account(sender)
  return account !== undefined && account.codeHash !== emptyCodeHash && !isDelegation(session.code(sender))
}

function refuseSender(candidate: Candidate): string | undefined {
  const { session, tx, sender, upfront } = candidate
  const { nonce, balance } = session.account(sender) ?? { nonce: 0n, balance: 0n }
  if (tx.nonce < nonce) return `nonce too low: transaction ${tx.nonce}, state ${nonce}`
  if (tx.nonce > nonce) return `nonce too high: transaction ${tx.nonce}, state ${nonce}`
  if (nonce === maxNonce) return 'nonce has max value'
  if (hasForeignCode(candidate)) return 'sender not an eoa'
  const blobCost = tx.type === 3 ? blobGasOf(tx) * tx.maxFeePerBlobGas : 0n
  const cost = tx.gasLimit * feeCapOf(tx) + tx.value + blobCost + upfront
  return balance < cost ? `insufficient funds for gas * price + value: have ${balance}, want ${cost}` : undefined
}

/** Why a transaction may not stand in the block at this point, or undefined. Changes nothing. */
export function refuseTransaction(candidate: Candidate): string | undefined {
  return (
    refuseKind(candidate) ??
    refusePrices(candidate.tx) ??
    refuseBaseFee(candidate) ??
    initcodeRefusal(candidate.rules, candidate.tx) ??
    refuseRoom(candidate) ??
    refuseGas(candidate) ??
    refuseSender(candidate)
  )
}

/** Whether a refused transaction of an OP chain can never be in a block under these rules, whatever the state and the prices. */
export function isRefusedForGood(block: BlockEnv, rules: EvmRules, tx: SignedTransaction): boolean {
  const of = { block, rules, tx, bounds: gasBounds(rules, tx), maxBlobs: undefined }
  return (refuseKind(of) ?? refusePrices(tx) ?? initcodeRefusal(rules, tx) ?? refuseGas(of)) !== undefined
}
