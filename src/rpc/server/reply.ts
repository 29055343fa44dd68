import { STATUS_CODES } from 'node:http'
import type { Clock } from '#lib/clock'
import type { RpcError } from '../errors.ts'
import type { ByteList } from '../results/byteList.ts'
import type { Tally } from './caller.ts'
import { type Answer, errorText } from './messages.ts'

/** An HTTP response without its head. */
export type Reply = {
  readonly status: number
  readonly body: string | ByteList
  /** media type */
  readonly type: string
  readonly headers?: Readonly<Record<string, string>>
  /** the connection ends after it */
  readonly isLast?: boolean
}

export const plain = (status: number, text: string): Reply => ({ status, body: `${text}\n`, type: 'text/plain' })
export const json = (status: number, body: string | ByteList): Reply => ({ status, body, type: 'application/json' })
export const refusal = (status: number, error: RpcError): Reply => ({
  ...json(status, errorText(null, error)),
  isLast: status === 413 || status === 503,
})

/** The response to a JSON-RPC body: 429 when every call of it was over a rate limit. @see RFC 6585, section 4 */
export function answered(body: Answer | undefined, { answered: others, overRate, retryAfterMs }: Tally): Reply {
  if (body === undefined) return json(204, '')
  if (overRate === 0 || others > 0) return json(200, body)
  return { ...json(429, body), headers: { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) } }
}

/** Time for which an idle connection is kept; sent to clients in the Keep-Alive header. */
export const keepAliveMs = 65_000

const statusLine = (status: number): string => `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
const staying = `connection: keep-alive\r\nkeep-alive: timeout=${keepAliveMs / 1_000}\r\n`
const ordinary = `${statusLine(200)}${staying}content-type: application/json\r\n`

/** Writes response heads. */
export class ReplyHeads {
  readonly #clock: Clock
  #second = -1
  #date = ''

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Response head with the empty line. @param length of the body, in bytes */
  head({ status, type, headers }: Reply, length: number, connection: 'stays' | 'ends'): string {
    const date = this.#dateLine()
    if (status === 200 && connection === 'stays' && headers === undefined) return `${ordinary}${date}content-length: ${length}\r\n\r\n`
    const named = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`)
    const body = status === 204 ? '' : `content-type: ${type}\r\ncontent-length: ${length}\r\n`
    return `${statusLine(status)}${connection === 'ends' ? 'connection: close\r\n' : staying}${date}${named.join('')}${body}\r\n`
  }

  /** @see RFC 9110, section 6.6.1 */
  #dateLine(): string {
    const second = Math.floor(this.#clock.nowMs() / 1_000)
    if (second !== this.#second) {
      this.#second = second
      // biome-ignore lint/style/noRestrictedGlobals: writes a given time, reads no clock
      this.#date = `date: ${new Date(second * 1_000).toUTCString()}\r\n`
    }
    return this.#date
  }
}
