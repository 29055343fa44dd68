import { concatBytes, equalBytes } from '#lib/bytes'
import { keccak256, keccak256Of } from '#lib/keccak'
import { decodeRlpPrefix, encodeRlp, RlpError, type RlpItem, rlpBytes, rlpList, rlpNumber, rlpScalar } from '#lib/rlp'
import { recoverPublicKey, signDigest } from '#lib/secp256k1'
import { type Endpoint, ipBytes, ipText, maxPacketBytes, type NodeRecord } from '../endpoint.ts'

const [hashBytes, signatureBytes] = [32, 65]

/** Messages of discovery v4. `expires`: seconds since 1970. */
export type Message =
  | { readonly kind: 'ping'; readonly from: Endpoint; readonly to: Endpoint; readonly expires: number; readonly enrSequence?: number }
  | { readonly kind: 'pong'; readonly to: Endpoint; readonly pingHash: Uint8Array; readonly expires: number; readonly enrSequence?: number }
  | { readonly kind: 'findNode'; readonly target: Uint8Array; readonly expires: number }
  | { readonly kind: 'neighbours'; readonly nodes: readonly NodeRecord[]; readonly expires: number }
  | { readonly kind: 'enrRequest'; readonly expires: number }
  | { readonly kind: 'enrResponse'; readonly requestHash: Uint8Array; readonly record: Uint8Array }

const ids = { ping: 1, pong: 2, findNode: 3, neighbours: 4, enrRequest: 5, enrResponse: 6 } as const
/** Nodes of a packet: more do not fit. */
export const maxNeighbours = 12

const endpointItem = ({ ip, udpPort, tcpPort }: Endpoint): RlpItem[] => [ipBytes(ip), rlpScalar(udpPort), rlpScalar(tcpPort)]

const portOf = (item: RlpItem | undefined): number => {
  const port = rlpNumber(item, 'port')
  if (port > 65_535) throw new RlpError(`port ${port}`)
  return port
}

function endpointFromRlp(item: readonly RlpItem[]): Endpoint {
  const [ip, udp, tcp] = item
  return { ip: ipText(rlpBytes(ip, 'address')), udpPort: portOf(udp), tcpPort: portOf(tcp) }
}

function fieldsOf(message: Message): readonly RlpItem[] {
  switch (message.kind) {
    case 'ping':
      return [
        rlpScalar(4),
        endpointItem(message.from),
        endpointItem(message.to),
        rlpScalar(message.expires),
        rlpScalar(message.enrSequence ?? 0),
      ]
    case 'pong':
      return [endpointItem(message.to), message.pingHash, rlpScalar(message.expires), rlpScalar(message.enrSequence ?? 0)]
    case 'findNode':
      return [message.target, rlpScalar(message.expires)]
    case 'neighbours':
      return [message.nodes.map((node) => [...endpointItem(node), node.publicKey]), rlpScalar(message.expires)]
    case 'enrRequest':
      return [rlpScalar(message.expires)]
    case 'enrResponse':
      return [message.requestHash, decodeRlpPrefix(message.record, 0).item]
  }
}

/** Signs a message. @returns the packet and its hash, which a response names */
export function encodePacket(privateKey: Uint8Array, message: Message): { readonly packet: Uint8Array; readonly hash: Uint8Array } {
  const data = concatBytes(Uint8Array.of(ids[message.kind]), encodeRlp(fieldsOf(message)))
  const { signature, yParity } = signDigest(keccak256(data), privateKey)
  const signed = concatBytes(signature, Uint8Array.of(yParity), data)
  const hash = keccak256(signed)
  return { packet: concatBytes(hash, signed), hash }
}

/** A message with its sender. */
export type Received = { readonly message: Message; readonly publicKey: Uint8Array; readonly hash: Uint8Array }

/**
 * Reads a packet; later fields, and bytes after the list, are ignored (EIP-8).
 * @throws RlpError when it is malformed, or its hash or signature is wrong
 */
export function decodePacket(packet: Uint8Array): Received {
  const head = hashBytes + signatureBytes
  if (packet.length <= head || packet.length > maxPacketBytes) throw new RlpError(`packet of ${packet.length} bytes`)
  const hash = packet.slice(0, hashBytes)
  if (!equalBytes(keccak256(packet.subarray(hashBytes)), hash)) throw new RlpError('wrong hash of a packet')
  const parity = packet[head - 1]
  const data = packet.subarray(head)
  const signature = packet.subarray(hashBytes, head - 1)
  const publicKey = parity === 0 || parity === 1 ? recoverPublicKey(keccak256Of(data), signature, parity) : undefined
  if (publicKey === undefined) throw new RlpError('wrong signature of a packet')
  return { message: messageFrom(data), publicKey, hash }
}

function messageFrom(data: Uint8Array): Message {
  const fields = rlpList(decodeRlpPrefix(data, 1).item, 'packet')
  const sequence = (item: RlpItem | undefined): { readonly enrSequence?: number } =>
    item instanceof Uint8Array && item.length <= 6 ? { enrSequence: rlpNumber(item, 'sequence') } : {}
  switch (data[0]) {
    case ids.ping: {
      const [from, to] = [rlpList(fields[1], 'from'), rlpList(fields[2], 'to')].map(endpointFromRlp)
      if (from === undefined || to === undefined) throw new RlpError('ping without endpoints')
      return { kind: 'ping', from, to, expires: rlpNumber(fields[3], 'expiration'), ...sequence(fields[4]) }
    }
    case ids.pong:
      return {
        kind: 'pong',
        to: endpointFromRlp(rlpList(fields[0], 'to')),
        pingHash: rlpBytes(fields[1], 'hash', 32),
        expires: rlpNumber(fields[2], 'expiration'),
        ...sequence(fields[3]),
      }
    case ids.findNode:
      return { kind: 'findNode', target: rlpBytes(fields[0], 'target', 64), expires: rlpNumber(fields[1], 'expiration') }
    case ids.neighbours: {
      const nodes = rlpList(fields[0], 'nodes')
      return {
        kind: 'neighbours',
        nodes: nodes.slice(0, maxNeighbours + 4).map((node) => {
          const items = rlpList(node, 'node')
          return { ...endpointFromRlp(items), publicKey: rlpBytes(items[3], 'public key', 64) }
        }),
        expires: rlpNumber(fields[1], 'expiration'),
      }
    }
    case ids.enrRequest:
      return { kind: 'enrRequest', expires: rlpNumber(fields[0], 'expiration') }
    case ids.enrResponse:
      return { kind: 'enrResponse', requestHash: rlpBytes(fields[0], 'hash', 32), record: encodeRlp(rlpList(fields[1], 'record')) }
    default:
      throw new RlpError(`packet of type ${data[0]}`)
  }
}
