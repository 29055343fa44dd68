import { type ForkSchedule, isActive } from '#chainspec/forks'
import { orderedRoot } from '#trie/orderedRoot'
import type { Hash } from '#types/ids'
import { bloomBytes } from '#types/log'
import { encodeReceipt, type Receipt } from '#types/receipt'

/**
 * Computes the receipts root of a block. Before Canyon it omits the deposit nonce, although receipts contain one from Regolith on.
 * @see specs protocol/canyon/exec-engine.md, "Deposit receipt hash"
 */
export function receiptsRoot(schedule: ForkSchedule, timestamp: number, receipts: readonly Receipt[]): Hash {
  if (isActive(schedule, 'canyon', timestamp)) return orderedRoot(receipts.map(encodeReceipt))
  return orderedRoot(receipts.map(({ depositNonce: _, ...receipt }) => encodeReceipt(receipt)))
}

/** Returns the bloom of a block: the union of the blooms of its receipts. */
export function unionOfBlooms(receipts: readonly Receipt[]): Uint8Array {
  const union = new Uint8Array(bloomBytes)
  for (const { logs, logsBloom } of receipts) {
    if (logs.length === 0) continue
    for (let i = 0; i < bloomBytes; i++) union[i] = (union[i] ?? 0) | (logsBloom[i] ?? 0)
  }
  return union
}
