import { type ForkSchedule, isActive } from '#chainspec/forks'
import { fastLzLength } from './fastLz.ts'

/** L1 fee parameters in L1Block. Fields of forks that are not active yet are zero. */
export type L1FeeParams = {
  /** wei per gas */
  readonly baseFee: bigint
  /** wei per blob gas */
  readonly blobBaseFee: bigint
  /** Bedrock: gas that is added to each transaction */
  readonly overhead: bigint
  /** Bedrock: scalar in millionths */
  readonly scalar: bigint
  /** Ecotone: base fee scalar in millionths */
  readonly baseFeeScalar: bigint
  /** Ecotone: blob base fee scalar in millionths */
  readonly blobBaseFeeScalar: bigint
}

/** Formula of the L1 data fee. */
export type L1FeeRule = 'beforeRegolith' | 'bedrock' | 'ecotone' | 'fjord'

const million = 1_000_000n

/** Returns whether L1Block already holds parameters in Ecotone's format. */
export function hasEcotoneValues(params: Pick<L1FeeParams, 'blobBaseFee' | 'baseFeeScalar' | 'blobBaseFeeScalar'>): boolean {
  return params.blobBaseFee !== 0n || params.baseFeeScalar !== 0n || params.blobBaseFeeScalar !== 0n
}

/**
 * Returns the formula for a block. In the first Ecotone block L1Block still holds Bedrock's parameters, so Bedrock's formula applies there, even
 * when Fjord activates in the same block.
 * @param timestamp of the block, in seconds
 * @see specs protocol/exec-engine.md, "Ecotone L1-Cost fee changes (EIP-4844 DA)"
 */
export function l1FeeRuleAt(schedule: ForkSchedule, timestamp: number, params: L1FeeParams): L1FeeRule {
  if (hasEcotoneValues(params) && isActive(schedule, 'fjord', timestamp)) return 'fjord'
  if (hasEcotoneValues(params) && isActive(schedule, 'ecotone', timestamp)) return 'ecotone'
  return isActive(schedule, 'regolith', timestamp) ? 'bedrock' : 'beforeRegolith'
}

/** Calldata gas of the bytes on L1: 4 per zero byte, 16 per other byte. */
function calldataGas(raw: Uint8Array): bigint {
  let zeros = 0
  for (const byte of raw) if (byte === 0) zeros++
  return BigInt(zeros * 4 + (raw.length - zeros) * 16)
}

/**
 * Estimates the size of a transaction in a compressed batch, in millionths of a byte; at least 100 bytes.
 * @see specs protocol/fjord/exec-engine.md, "L1-Cost fee changes (FastLZ estimator)"
 */
export function estimatedSizeMillionths(raw: Uint8Array): bigint {
  const estimate = 836_500n * BigInt(fastLzLength(raw)) - 42_585_600n
  return estimate < 100n * million ? 100n * million : estimate
}

/** L1 data fee of a transaction. */
export type L1DataFee = {
  /** wei, rounded down */
  readonly fee: bigint
  /** gas; the `l1GasUsed` field of receipts */
  readonly gasUsed: bigint
}

/**
 * Computes the L1 data fee of one transaction.
 * @param raw EIP-2718 bytes, including the signature, of a transaction that is not a deposit: deposits pay no L1 data fee
 * @param sizeOf `estimatedSizeMillionths`, or a version of it with a cache
 * @see specs protocol/exec-engine.md, "L1-Cost fees (L1 Fee Vault)", and the same section of Ecotone and Fjord
 */
export function l1DataFee(
  rule: L1FeeRule,
  params: L1FeeParams,
  raw: Uint8Array,
  sizeOf: (raw: Uint8Array) => bigint = estimatedSizeMillionths,
): L1DataFee {
  const perByte = 16n * params.baseFee * params.baseFeeScalar + params.blobBaseFee * params.blobBaseFeeScalar
  switch (rule) {
    case 'beforeRegolith':
    case 'bedrock': {
      const signature = rule === 'beforeRegolith' ? 68n * 16n : 0n
      const gasUsed = calldataGas(raw) + signature + params.overhead
      return { gasUsed, fee: (gasUsed * params.baseFee * params.scalar) / million }
    }
    case 'ecotone': {
      const gasUsed = calldataGas(raw)
      return { gasUsed, fee: (gasUsed * perByte) / (16n * million) }
    }
    case 'fjord': {
      const size = sizeOf(raw)
      return { gasUsed: (size * 16n) / million, fee: (size * perByte) / (million * million) }
    }
  }
}
