import { ENR } from '@chainsafe/enr'
import { fromHexFixed, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { uncompressedKey } from '#lib/secp256k1'

/** A node and the address at which it can be dialled. */
export type NodeAddress = {
  /** public key without its prefix, 128 hex digits */
  readonly id: string
  readonly host: string
  readonly tcpPort: number
  readonly udpPort: number
}

export const idOfKey = (publicKey: Uint8Array): string => toHex(publicKey).slice(2)
export const keyOfId = (id: string): Uint8Array => fromHexFixed(`0x${id}`, 64)

/** Returns the id that distances of discovery and `admin_peers` use: the hash of the public key, hex without prefix. */
export const hashedId = (id: string): string => toHex(keccak256(keyOfId(id))).slice(2)

export function enodeOf({ id, host, tcpPort, udpPort }: NodeAddress): string {
  const name = host.includes(':') ? `[${host}]` : host
  return `enode://${id}@${name}:${tcpPort}${udpPort === tcpPort ? '' : `?discport=${udpPort}`}`
}

const portOf = (text: string | null, fallback: number): number => {
  if (text === null || text === '') return fallback
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new SyntaxError(`port ${text}`)
  return port
}

/**
 * Parses an enode URL or an ENR.
 * @throws Error with the reason
 */
export function parseNode(text: string): NodeAddress {
  if (text.startsWith('enr:')) {
    const address = addressOfRecord(ENR.decodeTxt(text))
    if (address === undefined) throw new SyntaxError('the record has no IP address or TCP port')
    return address
  }
  if (!text.startsWith('enode://')) throw new SyntaxError('neither an enode URL (enode://KEY@HOST:PORT) nor an ENR (enr:…)')
  const { username, hostname, port, searchParams } = new URL(text)
  const tcpPort = portOf(port, 30_303)
  const id = idOfKey(keyOfId(username.toLowerCase()))
  return { id, host: hostname.replace(/^\[|\]$/g, ''), tcpPort, udpPort: portOf(searchParams.get('discport'), tcpPort) }
}

/** Returns the address of a record; undefined: it has no IP address or no TCP port. */
export function addressOfRecord(record: ENR): NodeAddress | undefined {
  const [host, tcpPort, udpPort] =
    record.ip !== undefined ? [record.ip, record.tcp, record.udp] : [record.ip6, record.tcp6 ?? record.tcp, record.udp6]
  if (host === undefined || tcpPort === undefined || tcpPort === 0) return undefined
  return { id: idOfKey(uncompressedKey(record.publicKey)), host, tcpPort, udpPort: udpPort ?? tcpPort }
}
