import type { RollupContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import { outputAtBlock, rollupConfig, safeHeadAtL1Block, syncStatus, version } from './rollup.ts'

/** `optimism_*`: the state of derivation and the rollup config. */
export const optimismMethods: readonly Method<RollupContext>[] = [syncStatus, outputAtBlock, rollupConfig, safeHeadAtL1Block, version]
