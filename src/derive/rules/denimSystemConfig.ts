import type { SystemConfig } from '#chainspec/systemConfig'

/** Blocks of Denim in the time of one block before it. */
const scale = 10
const maxDenominator = 0xffff_ffff

/**
 * Scales a system config for the first Denim block, after that block's own updates from L1. Each later update from L1 is absolute.
 * A denominator of zero selects the chain's own, which is not scaled.
 * @see base/base pull request 4565; Base's documentation, "Denim"
 */
export function denimSystemConfig(config: SystemConfig): SystemConfig {
  return {
    ...config,
    gasLimit: config.gasLimit / BigInt(scale),
    eip1559Denominator: Math.min(config.eip1559Denominator * scale, maxDenominator),
  }
}
