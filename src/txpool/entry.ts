import type { PoolCandidate } from '#block/building/buildPool'
import { feeCapOf, tipAt, tipCapOf } from '#block/validation/transactionValidity'
import type { PooledTransaction } from '#types/pooledTransaction'
import type { SignedTransaction } from '#types/transaction'

/** Where a transaction stands: could be in the next block, waits for something before it, or left the pool. */
export type Place = 'pending' | 'queued' | 'gone'

/** A transaction of the pool. Prices in wei per gas. */
export type PoolEntry = PoolCandidate & {
  readonly feeCap: bigint
  readonly tipCap: bigint
  /** the most that it may take of its sender: value, gas, L1 data and operator fee, in wei at the prices of when it came */
  readonly costWei: bigint
  /** of memory, roughly */
  readonly heldBytes: number
  /** of arrival: of two that pay the same the earlier goes first */
  readonly order: number
  place: Place
  /** since when it waits for another, on the clock that never jumps */
  queuedSinceMs: number
  /** the least of its own tip and those of its sender's earlier ones, which it cannot overtake */
  leastTip: bigint
  leastFeeCap: bigint
}

/** Memory of a transaction's objects beside its bytes: hash, numbers, places in tables, and its sender's queue (1,900 measured with the bytes). */
const objectBytes = 1_800
const listedAddressBytes = 150
const listedSlotBytes = 100
const authorizationBytes = 400

/** What a transaction takes of the pool's bounds, in bytes. */
function heldBytesOf(tx: SignedTransaction, raw: Uint8Array): number {
  let bytes = objectBytes + raw.length
  if (tx.type !== 0) for (const { slots } of tx.accessList) bytes += listedAddressBytes + slots.length * listedSlotBytes
  if (tx.type === 4) bytes += tx.authorizationList.length * authorizationBytes
  return bytes
}

/** A transaction before it has a place. @param order of arrival */
export function newEntry(candidate: PoolCandidate, costWei: bigint, order: number): PoolEntry {
  const { tx, raw } = candidate
  const [feeCap, tipCap] = [feeCapOf(tx), tipCapOf(tx)]
  const least = { leastTip: tipCap, leastFeeCap: feeCap }
  return { ...candidate, feeCap, tipCap, costWei, heldBytes: heldBytesOf(tx, raw), order, place: 'gone', queuedSinceMs: 0, ...least }
}

/** As others see it. */
export const pooled = ({ hash, sender, raw, place }: PoolEntry): PooledTransaction => ({
  hash,
  sender,
  raw,
  isPending: place === 'pending',
})

/** What a block with this base fee gives its maker per gas for the worst of the transaction and those that it waits for. */
export const worthOf = ({ leastTip, leastFeeCap }: PoolEntry, baseFee: bigint): bigint => tipAt(leastTip, leastFeeCap, baseFee)

/** The same of one that is to follow another of its sender. */
export function worthBehind({ tipCap, feeCap }: PoolEntry, before: PoolEntry | undefined, baseFee: bigint): bigint {
  const leastTip = before && before.leastTip < tipCap ? before.leastTip : tipCap
  const leastFeeCap = before && before.leastFeeCap < feeCap ? before.leastFeeCap : feeCap
  return tipAt(leastTip, leastFeeCap, baseFee)
}
