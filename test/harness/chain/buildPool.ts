import type { BuildPool, PoolCandidate, PoolCursor } from '#block/building/buildPool'
import { estimatedSizeMillionths } from '#block/fees/l1DataFee'
import { tipPerGas } from '#block/validation/transactionValidity'
import type { Address, Hash } from '#types/ids'
import { recoverSender } from '#types/recoverSender'
import { decodeTransaction, depositType, hashTransaction } from '#types/transaction'

/** Pool that accepts every transaction and evicts none. */
export type ListedPool = BuildPool & {
  /** Adds signed transactions; those of one sender in the order of their nonces. */
  add(...raws: readonly Uint8Array[]): void
  /** Transactions that builds skipped, in order, with the reason. */
  readonly skipped: readonly (readonly [hash: Hash, why: 'now' | 'never'])[]
  /** Number of builds that are subscribed. */
  readonly listeners: number
}

/** Signed transaction as a pool candidate. */
export function candidateOf(raw: Uint8Array): PoolCandidate {
  const tx = decodeTransaction(raw)
  if (tx.type === depositType) throw new RangeError('deposit in a pool')
  const sender = recoverSender(tx)
  if (sender === undefined) throw new RangeError('transaction has no valid signature')
  return { hash: hashTransaction(raw), sender, raw, tx, sizeBytes: Number(estimatedSizeMillionths(raw) / 1_000_000n) }
}

export function createListedPool(): ListedPool {
  const lists = new Map<Address, PoolCandidate[]>()
  const listeners = new Set<() => void>()
  const skipped: [Hash, 'now' | 'never'][] = []

  function best(baseFee: bigint): PoolCursor {
    const taken = new Map<Address, number>()
    const passed = new Set<Address>()
    const firstOf = (sender: Address): PoolCandidate | undefined =>
      passed.has(sender) ? undefined : lists.get(sender)?.[taken.get(sender) ?? 0]
    return {
      next() {
        let found: PoolCandidate | undefined
        for (const sender of lists.keys()) {
          const first = firstOf(sender)
          if (first && (!found || tipPerGas(first.tx, baseFee) > tipPerGas(found.tx, baseFee))) found = first
        }
        if (found) taken.set(found.sender, (taken.get(found.sender) ?? 0) + 1)
        return found
      },
      skip({ sender, hash }, why) {
        passed.add(sender)
        skipped.push([hash, why])
      },
    }
  }

  return {
    add(...raws) {
      for (const one of raws.map(candidateOf)) lists.set(one.sender, [...(lists.get(one.sender) ?? []), one])
      for (const listener of listeners) listener()
    },
    best,
    onAdded(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    skipped,
    get listeners() {
      return listeners.size
    },
  }
}
