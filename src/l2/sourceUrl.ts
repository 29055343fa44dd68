import { Buffer } from 'node:buffer'
import { l2Fault } from './faults.ts'

/** A server to ask. Only `name` may be shown: the URL often holds a key. */
export type SourceEndpoint = {
  /** without credentials */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** host and port */
  readonly name: string
}

/** `socket` absent: heads are polled. */
export type SourceEndpoints = { readonly rpc: SourceEndpoint; readonly socket?: SourceEndpoint }

const socketProtocols: readonly string[] = ['ws:', 'wss:']

/** Whether calls to it go over a WebSocket. */
export const isSocket = ({ url }: SourceEndpoint): boolean => socketProtocols.includes(new URL(url).protocol)

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a `%` that begins no escape
  }
}

function endpointOf(text: string, protocols: readonly string[], what: string): SourceEndpoint {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !protocols.includes(url.protocol)) throw l2Fault('SOURCE_URL_INVALID', { reason: `${what} expected` })
  const secret = `${decoded(url.username)}:${decoded(url.password)}`
  url.username = ''
  url.password = ''
  const headers = secret === ':' ? {} : { authorization: `Basic ${Buffer.from(secret).toString('base64')}` }
  return { url: url.href, headers, name: url.host }
}

/**
 * The endpoints in the value of `--source.l2.rpc`: an HTTP URL, which blocks come from, and if there is one the WebSocket URL of the same
 * node after a comma, which tells of heads; or a WebSocket URL alone, which serves for both.
 * @throws Fault SOURCE_URL_INVALID (fatal); the URL itself is not shown
 */
export function parseSourceUrl(text: string): SourceEndpoints {
  const [rpc = '', socket, ...more] = text.split(',').map((part) => part.trim())
  if (more.length > 0) throw l2Fault('SOURCE_URL_INVALID', { reason: `at most two URLs expected, ${more.length + 2} found` })
  if (/^wss?:/i.test(rpc)) {
    if (socket !== undefined) throw l2Fault('SOURCE_URL_INVALID', { reason: 'of two URLs the HTTP one comes first' })
    const both = endpointOf(rpc, socketProtocols, 'a ws or wss URL')
    return { rpc: both, socket: both }
  }
  return {
    rpc: endpointOf(rpc, ['http:', 'https:'], 'an http or https URL'),
    ...(socket !== undefined && { socket: endpointOf(socket, socketProtocols, 'a ws or wss URL after the comma') }),
  }
}
