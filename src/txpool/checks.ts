import { floorGas, initcodeRefusal, intrinsicGas } from '#block/validation/intrinsicGas'
import { feeCapOf, tipCapOf } from '#block/validation/transactionValidity'
import { hasFork, transactionGasCap } from '#chainspec/evmRules'
import { RlpError } from '#lib/rlp'
import { maxNonce } from '#types/account'
import type { PoolRefusal } from '#types/pooledTransaction'
import { decodeTransaction, depositType, type SignedTransaction } from '#types/transaction'
import type { PoolEntry } from './entry.ts'
import type { HeadFacts } from './headFacts.ts'
import type { SenderQueue } from './senderQueue.ts'

const blobType = 3
const legacyFrom = 0xc0
/** Minimum price of a replacement relative to the old price, in tenths. */
const replacementTenths = 11n

/** Limits for a single transaction. */
export type EntryLimits = {
  /** maximum size of the EIP-2718 bytes */
  readonly maxTransactionBytes: number
  /** minimum tip, in wei per gas */
  readonly minTip: bigint
  /** maximum distance of a nonce above the account's */
  readonly maxNonceAhead: bigint
}

/** Decodes untrusted bytes. @returns the transaction, or why the pool refuses it */
export function decodePooled(raw: Uint8Array, maxBytes: number): { readonly tx: SignedTransaction } | PoolRefusal {
  if (raw.length > maxBytes) return { kind: 'oversized', size: raw.length, limit: maxBytes }
  const type = raw[0] ?? legacyFrom
  if (type < legacyFrom && (type > 4 || type === 0 || type === blobType)) return { kind: 'type', type }
  try {
    const tx = decodeTransaction(raw)
    return tx.type === depositType ? { kind: 'type', type: depositType } : { tx }
  } catch (error) {
    if (error instanceof RlpError) return { kind: 'undecodable', reason: error.message }
    throw error
  }
}

/** Runs the checks that need neither the sender nor its account. */
export function refuseAlone(tx: SignedTransaction, facts: HeadFacts, chainId: bigint, minTip: bigint): PoolRefusal | undefined {
  const { rules, gasLimit } = facts
  if (tx.type === blobType || (tx.type === 4 && !hasFork(rules, 'prague'))) return { kind: 'type', type: tx.type }
  if (tx.chainId !== undefined && tx.chainId !== chainId) return { kind: 'chain-id' }
  if (tx.type === 4 && tx.authorizationList.length === 0) return { kind: 'empty-authorizations' }
  if (tx.gasLimit > gasLimit) return { kind: 'gas-limit', limit: gasLimit }
  const cap = transactionGasCap(rules)
  if (cap !== undefined && tx.gasLimit > cap) return { kind: 'transaction-gas-limit', limit: cap }
  if (initcodeRefusal(rules, tx) !== undefined) return { kind: 'initcode-size' }
  if (tx.gasLimit < intrinsicGas(rules, tx) || tx.gasLimit < floorGas(rules, tx)) return { kind: 'intrinsic-gas' }
  if (tipCapOf(tx) > feeCapOf(tx)) return { kind: 'tip-above-fee-cap' }
  if (tipCapOf(tx) < minTip) return { kind: 'underpriced' }
  return tx.nonce === maxNonce ? { kind: 'nonce-max' } : undefined
}

/** Whether a price is at least a tenth above another. Zero counts as raised from zero. */
const isRaised = (from: bigint, to: bigint): boolean => to * 10n >= from * replacementTenths

function refuseReplacement(tx: SignedTransaction, old: PoolEntry): PoolRefusal | undefined {
  const isDearer = feeCapOf(tx) > old.feeCap && isRaised(old.feeCap, feeCapOf(tx)) && isRaised(old.tipCap, tipCapOf(tx))
  return isDearer ? undefined : { kind: 'replacement-underpriced' }
}

/** Checks a transaction against the sender's account and its other transactions. @param costWei maximum cost for the sender */
export function refuseOfSender(
  tx: SignedTransaction,
  queue: SenderQueue,
  costWei: bigint,
  { maxNonceAhead }: EntryLimits,
): PoolRefusal | undefined {
  const { nonce: next, balance, code } = queue.account
  const { nonce } = tx
  if (code === 'contract') return { kind: 'sender-has-code' }
  if (nonce < next) return { kind: 'nonce-too-low', next, nonce }
  const old = queue.at(nonce)
  // a delegated account adds its next transaction only: a later one would wait for a balance that any transaction may spend
  if (code === 'delegation' && old === undefined && nonce > next) return { kind: queue.at(next) ? 'delegated-limit' : 'nonce-too-high' }
  if (nonce - next > maxNonceAhead) return { kind: 'nonce-too-high' }
  const underpriced = old && refuseReplacement(tx, old)
  if (underpriced) return underpriced
  const want = queue.wantFor(nonce, costWei)
  return want !== undefined && want > balance ? { kind: 'insufficient-funds', have: balance, want } : undefined
}
