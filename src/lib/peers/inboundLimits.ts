import { isIPv6 } from 'node:net'

/** Addresses of this machine, which many nodes may share. */
export const ownAddresses: readonly string[] = ['127.0.0.1', '::1']

/** Most connections of one address in a direction: above it, other clients lower the score of its peers too. */
const maxPerAddress = 10

/** Returns what one person controls: an IPv4 address, or the first 64 bits of an IPv6 address. */
export function addressGroup(ip: string): string {
  if (!isIPv6(ip)) return ip
  if (ip.includes('.')) return ip.slice(ip.lastIndexOf(':') + 1)
  const [head = '', tail = ''] = ip.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === '' ? [] : tail.split(':')
  const zeros = ip.includes('::') ? Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0') : []
  return [...left, ...zeros, ...right]
    .slice(0, 4)
    .map((part) => Number.parseInt(part, 16).toString(16))
    .join(':')
}

/** An open connection; without an address it counts for none. */
export type OpenConnection = { readonly direction: 'inbound' | 'outbound'; readonly ip: string | undefined }

/**
 * Returns whether there is a place for an inbound connection. A third of the places is kept for peers that this node dials, so that nobody takes all of
 * them, and one address has at most ten, and at most half.
 * @param ip of the new connection
 */
export function hasInboundPlace(open: readonly OpenConnection[], maxPeers: number, ip: string | undefined): boolean {
  const inbound = open.filter(({ direction }) => direction === 'inbound')
  return inbound.length < maxPeers - Math.floor(maxPeers / 3) && hasShareLeft(open, 'inbound', maxPeers, ip)
}

/**
 * Returns whether there is a place for a connection that this node opens to a node it has found. One address has at most ten, and at most half.
 * @param ip of the node
 */
export const hasOutboundPlace = (open: readonly OpenConnection[], maxPeers: number, ip: string): boolean =>
  open.length < maxPeers && hasShareLeft(open, 'outbound', maxPeers, ip)

function hasShareLeft(
  open: readonly OpenConnection[],
  direction: OpenConnection['direction'],
  maxPeers: number,
  ip: string | undefined,
): boolean {
  if (ip === undefined || ownAddresses.includes(ip)) return true
  const group = addressGroup(ip)
  const same = open.filter((other) => other.direction === direction && addressGroup(other.ip ?? '') === group)
  return same.length < Math.max(1, Math.min(maxPerAddress, Math.floor(maxPeers / 2)))
}
