import { BlockList, isIP } from 'node:net'

/** The groups of an IPv6 address, as numbers; the address is one. */
function groupsOf(address: string): number[] {
  const [before = '', after] = address.replace(/%.*$/, '').split('::')
  const parse = (part: string): number[] => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const [head, tail] = [parse(before), parse(after ?? '')]
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail]
}

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** Under which name a client is known by its address: an IPv6 client has a network of 64 bits to itself. */
export function clientNameOf(address: string): string {
  const inner = mapped.exec(address)?.[1]
  if (inner !== undefined) return inner
  if (isIP(address) !== 6) return address
  const network = groupsOf(address).slice(0, 4)
  return `${network.map((group) => group.toString(16)).join(':')}::/64`
}

const plainAddress = (address: string): string => mapped.exec(address)?.[1] ?? address

/** @param ranges addresses, or networks as `10.0.0.0/8`; each is one */
export function addressList(ranges: readonly string[]): { has(address: string): boolean } {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return {
    has(address): boolean {
      const family = isIP(plainAddress(address))
      return family !== 0 && list.check(plainAddress(address), family === 6 ? 'ipv6' : 'ipv4')
    },
  }
}

/**
 * Who asks: the last address of `X-Forwarded-For` that no proxy of ours has. Whoever connects could write what he likes there, so it is read as
 * far as each that handed it on is trusted.
 */
export function trueAddressOf(connected: string, forwardedFor: string | undefined, proxies: { has(address: string): boolean }): string {
  let address = connected
  const hops = (forwardedFor ?? '').split(',').map((hop) => hop.trim())
  for (let hop = hops.pop(); hop !== undefined && proxies.has(address); hop = hops.pop()) {
    if (isIP(hop) === 0) return address
    address = hop
  }
  return address
}
