import type { EthContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import { setExtra, setGasLimit, setGasPrice, setMaxDASize } from './blockLimits.ts'

/** `miner_*`: limits of the blocks that this node builds. */
export const minerMethods: readonly Method<EthContext>[] = [setMaxDASize, setGasLimit, setExtra, setGasPrice]
