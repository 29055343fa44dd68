import { toHex } from '#lib/hex'
import type { Hash } from '#types/ids'
import type { Log } from '#types/log'
import { refTo } from '../schemas.ts'
import { hexListText, type WrittenCodec, written } from './text.ts'

/** A log with its place in the chain. */
export type LocatedLog = {
  readonly log: Log
  readonly block: { readonly hash: Hash; readonly number: number; readonly timestamp: number }
  readonly transactionHash: Hash
  readonly transactionIndex: number
  /** in the block */
  readonly logIndex: number
  /** its block is not canonical any more */
  readonly isRemoved?: boolean
}

const hex = (value: number): string => value.toString(16)

/** The text of a log begins with its address … */
const addressText = '{"address":"'
/** … and goes on with its topics. */
const topicsText = ',"topics":['

/** Where in the text of a log the first topic begins, in quotes if there is any. */
export const topicsAt = addressText.length + 43 + topicsText.length

export function logText({ log, block, transactionHash, transactionIndex, logIndex, isRemoved = false }: LocatedLog): string {
  const { address, topics, data } = log
  return (
    `${addressText}${address}"${topicsText}${hexListText(topics).slice(1)},"data":"${toHex(data)}",` +
    `"blockHash":"${block.hash}","blockNumber":"0x${hex(block.number)}","blockTimestamp":"0x${hex(block.timestamp)}",` +
    `"transactionHash":"${transactionHash}","transactionIndex":"0x${hex(transactionIndex)}",` +
    `"logIndex":"0x${hex(logIndex)}","removed":${isRemoved}}`
  )
}

export const logResult: WrittenCodec<LocatedLog> = written('log', refTo('Log'), logText)
