import { type Endpoint, endpointOf } from '#lib/endpoint'
import type { FlagValues, RawFlags } from '../flags.ts'
import { readFlagsOfMode } from '../readFlags.ts'

/** Flags that name a running node. */
export const addressFlags = ['url', 'metrics-url'] as const

/** Where a node may answer. Endpoints of one page are tried in order. */
export type NodeAddress = {
  readonly rpc: Endpoint
  /** bases of `/metrics` and `/readyz`, the metrics port first */
  readonly pages: readonly URL[]
}

const loopback = '127.0.0.1'
/** Returns an address under which this machine reaches a server that listens on `host`. */
const reachable = (host: string): string => {
  if (host === '0.0.0.0') return loopback
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/** Returns the URL of a server that the environment of a node configures; `off` is read as its usual port. */
function serverUrl(addr: string, port: number | 'off', usual: number): URL {
  return new URL(`http://${reachable(addr)}:${port === 'off' || port === 0 ? usual : port}`)
}

/**
 * Returns where the node is: by the flags, else on this machine, on the ports that the environment sets for `basalt node`.
 * @param ofNode flags of `basalt node`, which precede its environment
 * @throws Fault BAD_FLAG, CONFLICTING_VARIABLES (fatal) for the environment
 */
export function nodeAddressOf(
  given: FlagValues<(typeof addressFlags)[number]>,
  env: NodeJS.ProcessEnv,
  ofNode: RawFlags = {},
): NodeAddress {
  const { mode } = readFlagsOfMode(['mode'], 'all', ofNode, env).values
  const names = ['http.addr', 'http.port', 'rollup.addr', 'rollup.port', 'metrics.addr', 'metrics.port'] as const
  const own = readFlagsOfMode(names, mode, ofNode, env).values
  const rpc = given.url === undefined ? serverUrl(own['http.addr'], own['http.port'], 8545) : new URL(given.url)
  const metrics = given['metrics-url']
  if (metrics !== undefined) return { rpc: endpointOf(rpc), pages: [new URL(metrics)] }
  const pages = [serverUrl(own['metrics.addr'], own['metrics.port'], 7300), serverUrl(own['rollup.addr'], own['rollup.port'], 7545)]
  if (given.url !== undefined) for (const page of pages) page.hostname = rpc.hostname
  return { rpc: endpointOf(rpc), pages }
}

/** Returns the endpoint of a page of a node. @param base URL of the node's metrics, with or without the page's path */
export function pageOf(base: URL, path: '/metrics' | '/readyz'): Endpoint {
  if (path === '/metrics' && base.pathname !== '/') return endpointOf(base)
  return endpointOf(new URL(path, base))
}
