import type { Hex } from 'viem'
import type { SeenBatch } from './channel.ts'
import type { SeenSpan } from './span.ts'
import { serialized } from './transaction.ts'

/** Fields of one L2 block in a batch. */
export type SeenBlock = {
  /** Unix time in seconds. */
  readonly timestamp: bigint
  readonly l1OriginNumber: bigint
  /** Whole hash, or its first 20 bytes. A span batch has it for its last block only. */
  readonly l1OriginHash: Hex | undefined
  /** Whole hash, or its first 20 bytes. A span batch has it for its first block only. */
  readonly parentHash: Hex | undefined
  /** EIP-2718 bytes, without deposits. */
  readonly transactions: readonly Hex[]
}

/** Facts of an L2 chain; times are in seconds. */
export type ChainFacts = { readonly chainId: number; readonly genesisTime: bigint; readonly blockTime: bigint }

/** Returns the blocks of a batch with their full transactions. @see specs protocol/delta/span-batches.md, "How Derivation works with Span Batches" */
export function blocksOf(batch: SeenBatch, chain: ChainFacts): readonly SeenBlock[] {
  if (batch.batchVersion === 1) return blocksOfSpan(batch, chain)
  const { timestamp, epochNumber, epochHash, parentHash, transactionList } = batch
  return [{ timestamp, l1OriginNumber: epochNumber, l1OriginHash: epochHash, parentHash, transactions: transactionList }]
}

function blocksOfSpan(span: SeenSpan, { chainId, genesisTime, blockTime }: ChainFacts): readonly SeenBlock[] {
  const lastBlock = span.blockCount - 1
  let origin = span.l1OriginNum - BigInt(span.originBits.filter(Boolean).length)
  let taken = 0
  return span.blockTxCounts.map((count, at) => {
    origin += span.originBits[at] ? 1n : 0n
    taken += count
    return {
      timestamp: genesisTime + span.relTimestamp + BigInt(at) * blockTime,
      l1OriginNumber: origin,
      l1OriginHash: at === lastBlock ? span.l1OriginCheck : undefined,
      parentHash: at === 0 ? span.parentCheck : undefined,
      transactions: span.transactions.slice(taken - count, taken).map((tx) => serialized(tx, chainId)),
    }
  })
}
