import type { SystemConfig } from '#chainspec/systemConfig'
import { zeroAddress } from '#types/ids'

/** A system config of before Holocene whose data costs nothing on L1, with the fields that matter to the test. */
export function systemConfigWith(fields: Partial<SystemConfig>): SystemConfig {
  return {
    batcher: zeroAddress,
    overhead: 0n,
    scalar: 0n,
    gasLimit: 30_000_000n,
    eip1559Denominator: 0,
    eip1559Elasticity: 0,
    operatorFeeScalar: 0,
    operatorFeeConstant: 0n,
    minBaseFee: 0n,
    daFootprintGasScalar: 0,
    ...fields,
  }
}
