import { BlockList, isIP } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whether an address is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  const family = isIP(host)
  return family === 0 ? host === 'localhost' : loopback.check(host, family === 4 ? 'ipv4' : 'ipv6')
}

/** The name in a Host header, without port and brackets. */
function nameOf(header: string): string {
  const bracketed = /^\[([^\]]*)\]/.exec(header)
  return (bracketed?.[1] ?? header.replace(/:\d*$/, '')).toLowerCase()
}

/**
 * Whether to accept a request with this Host header. A web page whose name was pointed at this address (DNS rebinding) sends its own name; it
 * cannot send an IP address or localhost. A request without the header does not come from a browser.
 */
export function isHostAllowed(header: string | undefined, names: readonly string[] | 'any'): boolean {
  if (header === undefined || names === 'any') return true
  const name = nameOf(header)
  return isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost') || names.includes(name)
}
