import type { Hex } from 'viem'
import { type Cursor, cursorOver, demand } from './cursor.ts'
import { rlpOf } from './rlp.ts'
import { type SeenTransaction, type VariablePart, variablePartOf } from './transaction.ts'

export type SeenSpan = {
  readonly batchVersion: 1
  readonly relTimestamp: bigint
  readonly l1OriginNum: bigint
  /** 20 bytes. */
  readonly parentCheck: Hex
  /** 20 bytes. */
  readonly l1OriginCheck: Hex
  readonly blockCount: number
  /** One per block. */
  readonly originBits: readonly boolean[]
  readonly blockTxCounts: readonly number[]
  /** Transactions of all blocks, in order. */
  readonly transactions: readonly SeenTransaction[]
}

const hex = (bytes: Buffer): Hex => `0x${bytes.toString('hex')}`
const repeat = <T>(count: number, read: () => T): T[] => Array.from({ length: count }, read)
const maxElements = 10_000_000n

function count(cursor: Cursor, field: string): number {
  const value = cursor.varint(field)
  demand(value <= maxElements, `${field}: ${value}`)
  return Number(value)
}

/**
 * Reads a span batch without its version byte.
 * @see specs protocol/delta/span-batches.md, "Span batch format"; isthmus/derivation.md, "Span Batch Updates"
 */
export function spanOf(content: Uint8Array): SeenSpan {
  const cursor = cursorOver(content)
  const relTimestamp = cursor.varint('rel_timestamp')
  const l1OriginNum = cursor.varint('l1_origin_num')
  const parentCheck = hex(cursor.bytes(20, 'parent_check'))
  const l1OriginCheck = hex(cursor.bytes(20, 'l1_origin_check'))
  const blockCount = count(cursor, 'block_count')
  demand(blockCount > 0, 'block_count 0')
  const originBits = cursor.bits(blockCount, 'origin_bits')
  const blockTxCounts = repeat(blockCount, () => count(cursor, 'block_tx_counts'))
  const total = blockTxCounts.reduce((sum, one) => sum + one, 0)
  const transactions = transactionsOf(cursor, total)
  demand(cursor.left() === 0, `${cursor.left()} bytes after the span batch`)
  return { batchVersion: 1, relTimestamp, l1OriginNum, parentCheck, l1OriginCheck, blockCount, originBits, blockTxCounts, transactions }
}

/** Reads `txs`, one column after another. */
function transactionsOf(cursor: Cursor, total: number): readonly SeenTransaction[] {
  const creations = cursor.bits(total, 'contract_creation_bits')
  const parities = cursor.bits(total, 'y_parity_bits')
  const signatures = repeat(total, () => ({ r: uint256(cursor, 'tx_sigs r'), s: uint256(cursor, 'tx_sigs s') }))
  const tos = creations.map((isCreation) => (isCreation ? undefined : hex(cursor.bytes(20, 'tx_tos'))))
  const parts = repeat(total, () => txData(cursor))
  const nonces = repeat(total, () => cursor.varint('tx_nonces'))
  const gases = repeat(total, () => cursor.varint('tx_gases'))
  const legacyRows = new Map(parts.flatMap(({ type }, at) => (type === 'legacy' ? [at] : [])).map((at, nth) => [at, nth]))
  const protectedBits = cursor.bits(legacyRows.size, 'protected_bits')
  return parts.map((part, at) => {
    const common = {
      nonce: cell(nonces, at),
      gas: cell(gases, at),
      to: tos[at],
      yParity: parities[at] ? 1 : 0,
      ...cell(signatures, at),
    } as const
    if (part.type !== 'legacy') return { ...part, ...common }
    return { ...part, ...common, isProtected: cell(protectedBits, legacyRows.get(at) ?? -1) }
  })
}

const uint256 = (cursor: Cursor, field: string): bigint => BigInt(hex(cursor.bytes(32, field)))

function cell<T>(column: readonly T[], row: number): T {
  demand(row >= 0 && row < column.length, `row ${row} is missing`)
  return column[row] as T
}

function txData(cursor: Cursor): VariablePart {
  const first = cursor.rlpItem('tx_datas')
  const [lead = 0] = first
  if (lead >= 0xc0) return variablePartOf(undefined, rlpOf(first, 'tx_datas'))
  demand(first.length === 1, 'tx_datas: neither a list nor a type')
  return variablePartOf(lead, rlpOf(cursor.rlpItem('tx_datas'), 'tx_datas'))
}
