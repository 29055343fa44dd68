import { toQuantity } from '#lib/hex'
import type { Json } from '../json.ts'
import { refTo } from '../reference/schemas.ts'
import type { ResultCodec } from '../registry.ts'

/** Fee data of one block of a fee history. */
export type BlockFees = {
  /** wei per gas */
  readonly baseFee: bigint
  /** wei per blob gas */
  readonly blobFee: number
  /** share of the gas limit, 0 to 1 */
  readonly gasUsedRatio: number
  /** priority fees at the requested percentiles, wei per gas */
  readonly rewards: readonly bigint[]
}

export type FeeHistory = {
  readonly oldest: number
  /** oldest first */
  readonly blocks: readonly BlockFees[]
  /** fees of the block after the newest one */
  readonly next: Pick<BlockFees, 'baseFee' | 'blobFee'> | undefined
  readonly hasRewards: boolean
}

export const feeHistoryResult: ResultCodec<FeeHistory> = {
  doc: 'oldestBlock; baseFeePerGas and baseFeePerBlobGas of each block and the next one; gasUsedRatio, blobGasUsedRatio, and reward by percentile, of each block',
  schema: refTo('FeeHistory'),
  encode({ oldest, blocks, next, hasRewards }): Json {
    const fees = [...blocks, ...(next ? [next] : [])]
    return {
      oldestBlock: toQuantity(oldest),
      baseFeePerGas: fees.map(({ baseFee }) => toQuantity(baseFee)),
      gasUsedRatio: blocks.map(({ gasUsedRatio }) => gasUsedRatio),
      baseFeePerBlobGas: fees.map(({ blobFee }) => toQuantity(blobFee)),
      blobGasUsedRatio: blocks.map(() => 0),
      ...(hasRewards && { reward: blocks.map(({ rewards }) => rewards.map(toQuantity)) }),
    }
  },
}
