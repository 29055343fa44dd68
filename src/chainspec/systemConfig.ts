import type { Address } from '#types/ids'

/** What L1 sets for L2. Fields that L1 never set are zero. @see specs protocol/system-config.md */
export type SystemConfig = {
  readonly batcher: Address
  /** Bedrock's gas overhead; zero from Ecotone's first update on */
  readonly overhead: bigint
  /** 32 bytes: Bedrock's scalar, or (first byte 1) the packed scalars of Ecotone */
  readonly scalar: bigint
  /** gas */
  readonly gasLimit: bigint
  /** Holocene; 0 and 0 mean the chain's own parameters */
  readonly eip1559Denominator: number
  readonly eip1559Elasticity: number
  /** Isthmus: millionths (Jovian: hundreds) of a wei per gas; u32 */
  readonly operatorFeeScalar: number
  /** Isthmus: wei per transaction; u64 */
  readonly operatorFeeConstant: bigint
  /** Jovian: wei per gas; u64 */
  readonly minBaseFee: bigint
  /** Jovian: gas per byte of estimated compressed size; u16; 0 stands for 400 */
  readonly daFootprintGasScalar: number
}
