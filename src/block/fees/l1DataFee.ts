import { type ForkSchedule, isActive } from '#chainspec/forks'
import { fastLzLength } from './fastLz.ts'

/** What L1Block says about the price of L1 data. Fields of forks that are not active yet are zero. */
export type L1FeeParams = {
  /** wei per gas */
  readonly baseFee: bigint
  /** wei per blob gas */
  readonly blobBaseFee: bigint
  /** Bedrock: gas added to each transaction */
  readonly overhead: bigint
  /** Bedrock: millionths */
  readonly scalar: bigint
  /** Ecotone: millionths */
  readonly baseFeeScalar: bigint
  /** Ecotone: millionths */
  readonly blobBaseFeeScalar: bigint
}

/** Which formula prices L1 data in a block. */
export type L1FeeRule = 'beforeRegolith' | 'bedrock' | 'ecotone' | 'fjord'

const million = 1_000_000n

/** Whether L1Block has been filled by Ecotone's rules already. */
export function hasEcotoneValues(params: Pick<L1FeeParams, 'blobBaseFee' | 'baseFeeScalar' | 'blobBaseFeeScalar'>): boolean {
  return params.blobBaseFee !== 0n || params.baseFeeScalar !== 0n || params.blobBaseFeeScalar !== 0n
}

/**
 * The formula for a block of this time. The first Ecotone block still has Bedrock's values in L1Block, and so Bedrock's formula, also when
 * Fjord begins with the same block.
 * @see specs protocol/exec-engine.md, "Ecotone L1-Cost fee changes (EIP-4844 DA)"
 */
export function l1FeeRuleAt(schedule: ForkSchedule, timestamp: number, params: L1FeeParams): L1FeeRule {
  if (hasEcotoneValues(params) && isActive(schedule, 'fjord', timestamp)) return 'fjord'
  if (hasEcotoneValues(params) && isActive(schedule, 'ecotone', timestamp)) return 'ecotone'
  return isActive(schedule, 'regolith', timestamp) ? 'bedrock' : 'beforeRegolith'
}

/** Gas that the bytes would cost as calldata on L1: 4 a zero byte, 16 any other. */
function calldataGas(raw: Uint8Array): bigint {
  let zeros = 0
  for (const byte of raw) if (byte === 0) zeros++
  return BigInt(zeros * 4 + (raw.length - zeros) * 16)
}

/**
 * Size that the transaction is expected to have in a compressed batch, in millionths of a byte.
 * @see specs protocol/fjord/exec-engine.md, "L1-Cost fee changes (FastLZ estimator)"
 */
export function estimatedSizeMillionths(raw: Uint8Array): bigint {
  const estimate = 836_500n * BigInt(fastLzLength(raw)) - 42_585_600n
  return estimate < 100n * million ? 100n * million : estimate
}

/** The price of a transaction's place on L1. */
export type L1DataFee = {
  /** wei, rounded down */
  readonly fee: bigint
  /** what receipts show as `l1GasUsed`; gas */
  readonly gasUsed: bigint
}

/**
 * L1 data fee of one transaction.
 * @param raw EIP-2718 bytes, signature included; never a deposit: it pays none
 * @param sizeOf `estimatedSizeMillionths`, for who remembers what it said
 * @see specs protocol/exec-engine.md, "L1-Cost fees (L1 Fee Vault)" and the same of Ecotone and Fjord
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
