import { isIP } from 'node:net'
import { equalBytes } from '#lib/bytes'

/** Largest packet of discovery, v4 and v5. */
export const maxPacketBytes = 1_280

export type Endpoint = { readonly ip: string; readonly udpPort: number; readonly tcpPort: number }
/** A node with its public key, x ‖ y. */
export type NodeRecord = Endpoint & { readonly publicKey: Uint8Array }

/** Encodes an IP address in 4 or 16 bytes; another text as 0.0.0.0. */
export function ipBytes(ip: string): Uint8Array {
  if (isIP(ip) === 4) return Uint8Array.from(ip.split('.').map(Number))
  if (isIP(ip) !== 6) return new Uint8Array(4)
  if (ip.includes('.')) return ipBytes(ip.slice(ip.lastIndexOf(':') + 1))
  const [head = '', tail] = ip.split('::')
  const groups = (text: string): number[] => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  const [left, right] = [groups(head), tail === undefined ? [] : groups(tail)]
  const all = tail === undefined ? left : [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right]
  return Uint8Array.from(all.flatMap((group) => [group >> 8, group & 0xff]))
}

/** Returns whether two texts are of the same IP address. */
export const isSameIp = (a: string, b: string): boolean => a === b || (isIP(a) !== 0 && isIP(b) !== 0 && equalBytes(ipBytes(a), ipBytes(b)))

/** Returns the text of an IP address of 4 or 16 bytes; of other lengths an empty text. */
export function ipText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  if (bytes.length !== 16) return ''
  return Array.from({ length: 8 }, (_, i) => (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16)).join(':')
}
