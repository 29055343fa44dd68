import { toHex, toQuantity } from '#lib/hex'
import type { Hash } from '#types/ids'
import type { Log } from '#types/log'
import type { ResultCodec } from '../registry.ts'
import { refTo } from '../schemas.ts'

/** A log with its place in the chain. */
export type PlacedLog = {
  readonly log: Log
  readonly block: { readonly hash: Hash; readonly number: number; readonly timestamp: number }
  readonly transactionHash: Hash
  readonly transactionIndex: number
  /** in the block */
  readonly logIndex: number
  /** its block is not canonical any more */
  readonly isRemoved?: boolean
}

export const logResult: ResultCodec<PlacedLog> = {
  doc: 'log',
  schema: refTo('Log'),
  encode: ({ log, block, transactionHash, transactionIndex, logIndex, isRemoved = false }) => ({
    address: log.address,
    topics: log.topics,
    data: toHex(log.data),
    blockHash: block.hash,
    blockNumber: toQuantity(block.number),
    blockTimestamp: toQuantity(block.timestamp),
    transactionHash,
    transactionIndex: toQuantity(transactionIndex),
    logIndex: toQuantity(logIndex),
    removed: isRemoved,
  }),
}
