import { has, type Json, numberField, objectOf, ShapeError } from '#types/jsonShape'
import type { Io } from '../../command.ts'
import { inUnits } from '../../devnet/units.ts'
import { cliFault } from '../../faults.ts'
import type { FlagValues } from '../../flags.ts'
import { type addressFlags, nodeAddressOf } from '../../localNode/nodeAddress.ts'
import { NodeClient } from '../../localNode/nodeClient.ts'
import { sendByHttp } from '../../localNode/sendByHttp.ts'
import { count } from '../../textLayout.ts'

/** Opens a client of the node that the flags name. */
export function clientOf(io: Io, given: FlagValues<(typeof addressFlags)[number]>): NodeClient {
  return new NodeClient({ fetch: sendByHttp, clock: io.clock, signal: io.signal }, nodeAddressOf(given, io.env).rpc)
}

const isHash = (text: string): boolean => /^0x[0-9a-f]{64}$/i.test(text)

/** Returns a block parameter: a tag, or a number as a quantity. @throws Fault BAD_FLAG (fatal) for a hash or another text */
export function blockTag(text: string, flag: string): string {
  if (/^(?:latest|pending|safe|finalized|earliest)$/.test(text)) return text
  if (/^\d{1,15}$/.test(text)) return `0x${Number(text).toString(16)}`
  if (/^0x[0-9a-f]{1,13}$/i.test(text)) return text
  throw cliFault('BAD_FLAG', { flag, value: text, expected: 'a block number or a tag such as latest' })
}

/** Returns a block by number, tag or hash; undefined: the node has none. @throws Fault NODE_SILENT, NODE_REFUSED, BAD_FLAG (fatal) */
export async function readBlock(client: NodeClient, text: string, withTransactions: boolean): Promise<Json | undefined> {
  const block = isHash(text)
    ? await client.call('eth_getBlockByHash', [text, withTransactions])
    : await client.call('eth_getBlockByNumber', [blockTag(text, 'BLOCK'), withTransactions])
  return block === null ? undefined : parsed(client, () => objectOf(block, 'the block'))
}

/** Reads a foreign value. @throws Fault NODE_REFUSED (fatal) when it has another form */
export function parsed<T>(client: NodeClient, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    throw cliFault('NODE_REFUSED', { name: client.name, method: 'a call', reason: `malformed answer: ${error.message}` }, error)
  }
}

/** @throws Fault BAD_USAGE (fatal) */
export function requireHash(text: string, what: string): string {
  if (isHash(text)) return text
  throw cliFault('BAD_USAGE', { problem: `${what} must be 0x and 64 hex digits` })
}

/** @throws Fault BAD_USAGE (fatal) */
export function requireAddress(text: string): string {
  if (/^0x[0-9a-f]{40}$/i.test(text)) return text.toLowerCase()
  throw cliFault('BAD_USAGE', { problem: 'the address must be 0x and 40 hex digits' })
}

export const ether = (wei: bigint): string => `${inUnits(wei, 18)} ETH`
export const gwei = (wei: bigint): string => `${inUnits(wei, 9)} gwei`

/** Formats a count of a foreign JSON value; `–`: it is none. */
export const countOf = (value: unknown): string =>
  typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value) ? count(BigInt(value)) : '–'

/** Formats any foreign value as text. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : value == null ? '–' : JSON.stringify(value))

/** Time of a block in ms: from Denim on it has milliseconds. */
export const timeMsOf = (block: Json): number =>
  has(block, 'timestampMs') ? numberField(block, 'timestampMs') : numberField(block, 'timestamp') * 1_000

/** Formats a time: `2026-11-26T22:31:49.200Z`. */
export function timeText(ms: number): string {
  // biome-ignore lint/style/noRestrictedGlobals: formats a time, does not read the clock
  const time = new Date(ms)
  return Number.isNaN(time.getTime()) ? '–' : time.toISOString()
}
