import { toHex } from '#lib/hex'
import type { FoundLog } from '#types/chainView'
import { refTo } from '../reference/schemas.ts'
import { hexListText, type WrittenCodec, written } from './text.ts'

/** A log with its position. `isRemoved`: its block is no longer canonical. */
export type LocatedLog = FoundLog & { readonly isRemoved?: boolean }

const hex = (value: number): string => value.toString(16)

/** Beginning of a log's JSON, before the address. */
const addressText = '{"address":"'
/** JSON between address and topics. */
const topicsText = ',"topics":['

/** Offset of the first topic, in quotes, in the JSON of a log. */
export const topicsAt = addressText.length + 43 + topicsText.length

const timeMsText = (timeMs: number | undefined): string => (timeMs === undefined ? '' : `"blockTimestampMs":"0x${hex(timeMs)}",`)

export function logText({ log, block, transactionHash, transactionIndex, logIndex, isRemoved = false }: LocatedLog): string {
  const { address, topics, data } = log
  return (
    `${addressText}${address}"${topicsText}${hexListText(topics).slice(1)},"data":"${toHex(data)}",` +
    `"blockHash":"${block.hash}","blockNumber":"0x${hex(block.number)}","blockTimestamp":"0x${hex(block.timestamp)}",${timeMsText(block.timeMs)}` +
    `"transactionHash":"${transactionHash}","transactionIndex":"0x${hex(transactionIndex)}",` +
    `"logIndex":"0x${hex(logIndex)}","removed":${isRemoved}}`
  )
}

/** Maximum length of a log's JSON without its data: four topics, and numbers of 16 digits. */
const plainLogBytes = 850

/** Approximate length of a log's JSON; at least the length. */
export const logTextBytes = ({ log }: LocatedLog): number => plainLogBytes + 2 * log.data.length

export const logResult: WrittenCodec<LocatedLog> = written('log', refTo('Log'), logText)
