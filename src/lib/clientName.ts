import { isIP } from 'node:net'

/** Returns the groups of a valid IPv6 address as numbers. */
function groupsOf(address: string): number[] {
  const [before = '', after] = address.replace(/%.*$/, '').split('::')
  const parse = (part: string): number[] => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const [head, tail] = [parse(before), parse(after ?? '')]
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail]
}

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** Returns the IPv4 address of an IPv4-mapped IPv6 address, and other addresses unchanged. */
export const plainAddress = (address: string): string => mapped.exec(address)?.[1] ?? address

/** Returns the name of a client for limits per address. An IPv6 client owns a /64 network, so its name is that network. */
export function clientNameOf(address: string): string {
  const plain = plainAddress(address)
  if (isIP(plain) !== 6) return plain
  const network = groupsOf(plain).slice(0, 4)
  return `${network.map((group) => group.toString(16)).join(':')}::/64`
}

/** Returns the network of a client for the log, which shows no single client: 24 bits of an IPv4 address, 48 of an IPv6 address. */
export function networkOfClient(address: string): string {
  const plain = plainAddress(address)
  switch (isIP(plain)) {
    case 4:
      return plain.replace(/\.\d+$/, '.0/24')
    case 6:
      return `${groupsOf(plain)
        .slice(0, 3)
        .map((group) => group.toString(16))
        .join(':')}::/48`
    default:
      return 'unknown'
  }
}
