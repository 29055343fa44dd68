import { gasPerBlob } from '#chainspec/blobFee'
import { type EvmRules, hasFork, transactionGasCap } from '#chainspec/evmRules'
import type { BlockEnv, EvmSession } from '#evm/ports'
import { delegateIn, maxNonce } from '#types/account'
import { type Address, emptyCodeHash } from '#types/ids'
import type { BlobTransaction, SignedTransaction } from '#types/transaction'
import { type GasBounds, gasBounds, initcodeRefusal } from './intrinsicGas.ts'

const blobHashVersion = '0x01'

/** A transaction, with the facts that decide whether it is valid at this point of the block. */
export type Candidate = {
  readonly session: EvmSession
  readonly block: BlockEnv
  readonly rules: EvmRules
  /** maximum number of blobs per transaction; undefined: blob transactions are not allowed */
  readonly maxBlobs: number | undefined
  readonly tx: SignedTransaction
  /** gas bounds of `tx` under `rules` */
  readonly bounds: GasBounds
  readonly sender: Address
  /** wei that the fee rules charge in addition to the gas */
  readonly upfront: bigint
  /** gas left in the block */
  readonly gasAvailable: bigint
}

/** Maximum price per gas that a transaction pays, in wei. */
export const feeCapOf = (tx: SignedTransaction): bigint => ('maxFeePerGas' in tx ? tx.maxFeePerGas : tx.gasPrice)

/** Maximum tip per gas for the beneficiary, in wei. */
export const tipCapOf = (tx: SignedTransaction): bigint => ('maxPriorityFeePerGas' in tx ? tx.maxPriorityFeePerGas : tx.gasPrice)

/** Tip per gas for the beneficiary, in wei; negative when the fee cap is below the base fee. */
export function tipAt(tipCap: bigint, feeCap: bigint, baseFee: bigint): bigint {
  const room = feeCap - baseFee
  return tipCap < room ? tipCap : room
}

/** Returns `tipAt` for a transaction. */
export const tipPerGas = (tx: SignedTransaction, baseFee: bigint): bigint => tipAt(tipCapOf(tx), feeCapOf(tx), baseFee)

/** Blob gas of a transaction; zero unless it carries blobs. */
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

function refuseKind({ tx, block, rules, maxBlobs }: Pick<Candidate, 'tx' | 'block' | 'rules' | 'maxBlobs'>): string | undefined {
  if (tx.type === 3 && (maxBlobs === undefined || !hasFork(rules, 'cancun'))) return 'transaction type not supported: 3'
  if (tx.type === 4 && !hasFork(rules, 'prague')) return 'transaction type not supported: 4'
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

/** Whether the sender has code that is not a delegation (EIP-3607, EIP-7702). Before Prague there are no delegations. */
function hasForeignCode({ session, sender }: Candidate): boolean {
  const account = session.account(sender)
  return account !== undefined && account.codeHash !== emptyCodeHash && delegateIn(session.code(sender)) === undefined
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

/** Returns why a transaction is invalid at this point of the block, or undefined. Changes nothing. */
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

/** Whether a refused transaction of an OP chain is invalid in every block under these rules, for any state and any prices. */
export function isRefusedForGood(block: BlockEnv, rules: EvmRules, tx: SignedTransaction): boolean {
  const of = { block, rules, tx, bounds: gasBounds(rules, tx), maxBlobs: undefined }
  return (refuseKind(of) ?? refusePrices(tx) ?? initcodeRefusal(rules, tx) ?? refuseGas(of)) !== undefined
}
