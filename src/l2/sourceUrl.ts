import { type Endpoint, parseEndpoint } from '#lib/endpoint'
import { l2Fault } from './faults.ts'

/** `socket` absent: heads are polled. */
export type SourceEndpoints = { readonly rpc: Endpoint; readonly socket?: Endpoint }

const socketProtocols: readonly string[] = ['ws:', 'wss:']

/** Whether calls to it go over a WebSocket. */
export const isSocket = ({ url }: Endpoint): boolean => socketProtocols.includes(new URL(url).protocol)

function endpointOf(text: string, protocols: readonly string[], what: string): Endpoint {
  const endpoint = parseEndpoint(text, protocols)
  if (endpoint === undefined) throw l2Fault('SOURCE_URL_INVALID', { reason: `${what} expected` })
  return endpoint
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
