import { type ForkSchedule, isActive } from '#chainspec/forks'
import { orderedRoot } from '#trie/orderedRoot'
import type { Hash } from '#types/ids'
import { bloomBytes } from '#types/log'
import { encodeReceipt, type Receipt } from '#types/receipt'

/**
 * Root of a block's receipts. Before Canyon it leaves the deposit nonce out, although the receipts have it since Regolith.
 * @see specs protocol/canyon/exec-engine.md, "Deposit receipt hash"
 */
export function receiptsRoot(schedule: ForkSchedule, timestamp: number, receipts: readonly Receipt[]): Hash {
  if (isActive(schedule, 'canyon', timestamp)) return orderedRoot(receipts.map(encodeReceipt))
  return orderedRoot(receipts.map(({ depositNonce: _, ...receipt }) => encodeReceipt(receipt)))
}

/** The bloom of a block: what any of its receipts has. */
export function unionOfBlooms(receipts: readonly Receipt[]): Uint8Array {
  const union = new Uint8Array(bloomBytes)
  for (const { logs, logsBloom } of receipts) {
    if (logs.length === 0) continue
    for (let i = 0; i < bloomBytes; i++) union[i] = (union[i] ?? 0) | (logsBloom[i] ?? 0)
  }
  return union
}
