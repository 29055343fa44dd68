import type { PoolCandidate } from '#block/building/buildPool'
import { feeCapOf, tipAt, tipCapOf } from '#block/validation/transactionValidity'
import type { PooledTransaction } from '#types/pooledTransaction'
import type { SignedTransaction } from '#types/transaction'

/** State of a transaction: `pending` can be in the next block, `queued` waits for an earlier one, `gone` has left the pool. */
export type EntryState = 'pending' | 'queued' | 'gone'

/** A transaction in the pool. Prices in wei per gas. */
export type PoolEntry = PoolCandidate & {
  readonly feeCap: bigint
  readonly tipCap: bigint
  /** maximum cost for the sender: value, gas, L1 data fee and operator fee, in wei at the prices of its arrival */
  readonly costWei: bigint
  /** approximate memory, in bytes */
  readonly heldBytes: number
  /** number of arrival; at equal prices the earlier transaction is first */
  readonly order: number
  place: EntryState
  /** when it became queued, on the monotonic clock */
  queuedSinceMs: number
  /** minimum of its own tip and those of the sender's earlier transactions, which it cannot overtake */
  leastTip: bigint
  leastFeeCap: bigint
}

/** Memory of a transaction in addition to its bytes: hash, numbers, table entries and its sender's queue (measured: 1,900 including the bytes). */
export const objectBytes = 1_800
const listedAddressBytes = 150
const listedSlotBytes = 100
const authorizationBytes = 400

/** Approximate memory of a transaction in bytes, which counts towards the pool's limits. */
function heldBytesOf(tx: SignedTransaction, raw: Uint8Array): number {
  let bytes = objectBytes + raw.length
  if (tx.type !== 0) for (const { slots } of tx.accessList) bytes += listedAddressBytes + slots.length * listedSlotBytes
  if (tx.type === 4) bytes += tx.authorizationList.length * authorizationBytes
  return bytes
}

/** Creates an entry that is not in a queue yet. @param order number of arrival */
export function newEntry(candidate: PoolCandidate, costWei: bigint, order: number): PoolEntry {
  const { tx, raw } = candidate
  const [feeCap, tipCap] = [feeCapOf(tx), tipCapOf(tx)]
  const least = { leastTip: tipCap, leastFeeCap: feeCap }
  return { ...candidate, feeCap, tipCap, costWei, heldBytes: heldBytesOf(tx, raw), order, place: 'gone', queuedSinceMs: 0, ...least }
}

/** Returns a transaction in the form of the pool's public interface. */
export const pooled = ({ hash, sender, raw, place }: PoolEntry): PooledTransaction => ({
  hash,
  sender,
  raw,
  isPending: place === 'pending',
})

/** Returns the lowest tip per gas at this base fee among a transaction and the sender's earlier ones. */
export const worthOf = ({ leastTip, leastFeeCap }: PoolEntry, baseFee: bigint): bigint => tipAt(leastTip, leastFeeCap, baseFee)

/** Returns the worth of a transaction that would follow `before` in its sender's queue. */
export function worthBehind({ tipCap, feeCap }: PoolEntry, before: PoolEntry | undefined, baseFee: bigint): bigint {
  const leastTip = before && before.leastTip < tipCap ? before.leastTip : tipCap
  const leastFeeCap = before && before.leastFeeCap < feeCap ? before.leastFeeCap : feeCap
  return tipAt(leastTip, leastFeeCap, baseFee)
}
