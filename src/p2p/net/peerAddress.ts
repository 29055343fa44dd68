import { ENR } from '@chainsafe/enr'
import { publicKeyFromRaw } from '@libp2p/crypto/keys'
import { peerIdFromPublicKey, peerIdFromString } from '@libp2p/peer-id'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { concatBytes } from '#lib/bytes'
import { fromHexFixed } from '#lib/hex'

/** A peer and the address at which it can be dialled. */
export type PeerAddress = { readonly peerId: string; readonly address: Multiaddr; readonly enr?: string }

const opstackKey = 'opstack'

function uvarint(value: number): Uint8Array {
  const out: number[] = []
  let rest = value
  while (rest >= 0x80) {
    out.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  return Uint8Array.from([...out, rest])
}

/** Returns the value of the ENR key `opstack`: chain id and version 0. @see specs protocol/rollup-node-p2p.md, "Structure" */
export const opstackEntry = (chainId: number): Uint8Array => concatBytes(uvarint(chainId), uvarint(0))

export const opstackPair = (chainId: number): Record<string, Uint8Array> => ({ [opstackKey]: opstackEntry(chainId) })

/** Returns whether a record is of a consensus node of the chain. */
export function isOfChain(enr: Pick<ENR, 'kvs'>, chainId: number): boolean {
  const value = enr.kvs.get(opstackKey)
  return value !== undefined && Buffer.compare(value, opstackEntry(chainId)) === 0
}

const hostPart = (host: string): string => `/${host.includes(':') ? 'ip6' : /^[\d.]+$/.test(host) ? 'ip4' : 'dns4'}/${host}`

export const tcpAddress = (host: string, port: number): string => `${hostPart(host)}/tcp/${port}`

/** Returns the IP address or name of a peer's host. */
export const hostOf = ({ address }: PeerAddress): string => address.getComponents()[0]?.value ?? ''

const peerIdOfKey = (compressed: Uint8Array): string => peerIdFromPublicKey(publicKeyFromRaw(compressed)).toString()

/** Returns the address of a record; undefined: it has no IP address or no TCP port. */
export function addressOfEnr(enr: ENR): PeerAddress | undefined {
  const [host, port] = enr.ip !== undefined ? [enr.ip, enr.tcp] : [enr.ip6, enr.tcp6 ?? enr.tcp]
  if (host === undefined || port === undefined || port === 0) return undefined
  const peerId = peerIdOfKey(enr.publicKey)
  return { peerId, address: multiaddr(`${tcpAddress(host, port)}/p2p/${peerId}`), enr: enr.encodeTxt() }
}

/** `enode://KEY@HOST:PORT`: public key without its prefix, TCP port. */
function addressOfEnode(url: string): PeerAddress {
  const { username, hostname, port } = new URL(url)
  const key = fromHexFixed(`0x${username}`, 64)
  const peerId = peerIdOfKey(concatBytes(Uint8Array.of(2 + ((key[63] ?? 0) & 1)), key.subarray(0, 32)))
  const host = hostname.replace(/^\[|\]$/g, '')
  return { peerId, address: multiaddr(`${tcpAddress(host, Number(port))}/p2p/${peerId}`) }
}

/**
 * Parses a peer: a multiaddr with `/p2p/`, an ENR, or an enode URL.
 * @throws Error with the reason
 */
export function parsePeer(text: string): PeerAddress {
  if (text.startsWith('enr:')) {
    const address = addressOfEnr(ENR.decodeTxt(text))
    if (address === undefined) throw new Error('the record has no IP address or TCP port')
    return address
  }
  if (text.startsWith('enode://')) return addressOfEnode(text)
  const address = multiaddr(text)
  const peerId = address.getComponents().find(({ name }) => name === 'p2p')?.value
  if (peerId === undefined) throw new Error('no peer id: the address ends in /p2p/ID')
  return { peerId: peerIdFromString(peerId).toString(), address }
}
