import { isIP } from 'node:net'

/** The groups of an IPv6 address, as numbers; the address is valid. */
function groupsOf(address: string): number[] {
  const [before = '', after] = address.replace(/%.*$/, '').split('::')
  const parse = (part: string): number[] => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const [head, tail] = [parse(before), parse(after ?? '')]
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail]
}

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** IPv4 address of an address that is IPv4 mapped into IPv6; other addresses as they are. */
export const plainAddress = (address: string): string => mapped.exec(address)?.[1] ?? address

/** Name of a client for limits by address. An IPv6 client has a network of 64 bits to itself, so its name is that network. */
export function clientNameOf(address: string): string {
  const plain = plainAddress(address)
  if (isIP(plain) !== 6) return plain
  const network = groupsOf(plain).slice(0, 4)
  return `${network.map((group) => group.toString(16)).join(':')}::/64`
}
