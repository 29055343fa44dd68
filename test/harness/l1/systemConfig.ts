import type { SystemConfig } from '#chainspec/systemConfig'
import { zeroAddress } from '#types/ids'

/** System config before Holocene with zero L1 fees, and the given fields. */
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
