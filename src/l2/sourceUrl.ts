import { type Endpoint, parseEndpoint } from '#lib/endpoint'
import { l2Fault } from './faults.ts'

/** Endpoints of the followed node. Without `socket`, heads are polled. */
export type SourceEndpoints = { readonly rpc: Endpoint; readonly socket?: Endpoint }

const socketProtocols: readonly string[] = ['ws:', 'wss:']

/** Returns whether calls to the endpoint use a WebSocket. */
export const isSocket = ({ url }: Endpoint): boolean => socketProtocols.includes(new URL(url).protocol)

function endpointOf(text: string, protocols: readonly string[], what: string): Endpoint {
  const endpoint = parseEndpoint(text, protocols)
  if (endpoint === undefined) throw l2Fault('SOURCE_URL_INVALID', { reason: `${what} expected` })
  return endpoint
}

/**
 * Parses the value of `--source.l2.rpc`: an HTTP URL for blocks, optionally with the WebSocket URL of the same node after a comma, for heads; or a
 * WebSocket URL alone, for both.
 * @throws Fault SOURCE_URL_INVALID (fatal); the message does not contain the URL
 */
export function parseSourceUrl(text: string): SourceEndpoints {
  const [rpc = '', socket, ...more] = text.split(',').map((part) => part.trim())
  if (more.length > 0) throw l2Fault('SOURCE_URL_INVALID', { reason: `at most two URLs expected, ${more.length + 2} found` })
  if (/^wss?:/i.test(rpc)) {
    if (socket !== undefined) throw l2Fault('SOURCE_URL_INVALID', { reason: 'the HTTP URL must be the first of two URLs' })
    const both = endpointOf(rpc, socketProtocols, 'a ws or wss URL')
    return { rpc: both, socket: both }
  }
  return {
    rpc: endpointOf(rpc, ['http:', 'https:'], 'an http or https URL'),
    ...(socket !== undefined && { socket: endpointOf(socket, socketProtocols, 'a ws or wss URL after the comma') }),
  }
}
