import { BlockList, isIP } from 'node:net'

/** `private`: of this machine, of a private network, or shared by a provider. `unusable`: unspecified, of the link, multicast or reserved. */
export type AddressRange = 'public' | 'private' | 'unusable'

function listOf(subnets: string): BlockList {
  const list = new BlockList()
  for (const subnet of subnets.split(' ')) {
    const [ip = '', bits] = subnet.split('/')
    list.addSubnet(ip, Number(bits), isIP(ip) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

const unusable = listOf('0.0.0.0/8 169.254.0.0/16 224.0.0.0/3 ::/128 fe80::/10 ff00::/8')
const privates = listOf('10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 172.16.0.0/12 192.168.0.0/16 ::1/128 fc00::/7')

/** Returns the range of an IP address; a host name counts as public. */
export function addressRange(host: string): AddressRange {
  const family = isIP(host)
  if (family === 0) return 'public'
  const type = family === 6 ? 'ipv6' : 'ipv4'
  return unusable.check(host, type) ? 'unusable' : privates.check(host, type) ? 'private' : 'public'
}
