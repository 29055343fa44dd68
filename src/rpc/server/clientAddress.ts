import { BlockList, isIP } from 'node:net'
import { plainAddress } from '#lib/clientName'

/** Set of addresses. @param ranges addresses, or networks such as `10.0.0.0/8` */
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
 * Address of the client: the last address of `X-Forwarded-For` that is not a trusted proxy. Clients can forge entries, so the header is read from
 * its end only as far as each forwarding address is trusted.
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
