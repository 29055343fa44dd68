import { BlockList, isIP } from 'node:net'
import { plainAddress } from '#lib/clientName'

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
