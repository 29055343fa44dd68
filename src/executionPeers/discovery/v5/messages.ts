import { concatBytes } from '#lib/bytes'
import { decodeRlp, encodeRlp, RlpError, type RlpItem, rlpBytes, rlpList, rlpNumber, rlpScalar } from '#lib/rlp'
import { ipBytes, ipText } from '../endpoint.ts'

/** Messages of discovery v5. `request`: id that the answer repeats, at most 8 bytes. */
export type Message = { readonly request: Uint8Array } & Body
type Body =
  | { readonly kind: 'ping'; readonly enrSequence: number }
  | { readonly kind: 'pong'; readonly enrSequence: number; readonly ip: string; readonly udpPort: number }
  /** `distances`: 0 to 256, logarithmic, from the receiver */
  | { readonly kind: 'findNode'; readonly distances: readonly number[] }
  /** `total`: messages of the whole answer; `records`: encoded */
  | { readonly kind: 'nodes'; readonly total: number; readonly records: readonly Uint8Array[] }
  | { readonly kind: 'talkRequest' }
  | { readonly kind: 'talkResponse'; readonly response: Uint8Array }

const types = { ping: 1, pong: 2, findNode: 3, nodes: 4, talkRequest: 5, talkResponse: 6 } as const
const maxRequestIdBytes = 8
const maxDistance = 256
/** Distances and records of a message that are read: the recommended size of a whole answer. */
export const maxItems = 16

function fieldsOf(message: Message): readonly RlpItem[] {
  switch (message.kind) {
    case 'ping':
      return [rlpScalar(message.enrSequence)]
    case 'pong':
      return [rlpScalar(message.enrSequence), ipBytes(message.ip), rlpScalar(message.udpPort)]
    case 'findNode':
      return [message.distances.map((distance) => rlpScalar(distance))]
    case 'nodes':
      return [rlpScalar(message.total), message.records.map((record) => decodeRlp(record))]
    case 'talkRequest':
      return [new Uint8Array(0), new Uint8Array(0)]
    case 'talkResponse':
      return [message.response]
  }
}

/** @see discv5-wire.md, "Protocol Messages" */
export function encodeMessage(message: Message): Uint8Array {
  return concatBytes(Uint8Array.of(types[message.kind]), encodeRlp([message.request, ...fieldsOf(message)]))
}

/** Reads a message; of distances and records the first ones. @throws RlpError when it is malformed or of an unknown kind */
export function decodeMessage(bytes: Uint8Array): Message {
  const fields = rlpList(decodeRlp(bytes.subarray(1)), 'message')
  const request = rlpBytes(fields[0], 'request id')
  if (request.length > maxRequestIdBytes) throw new RlpError(`request id of ${request.length} bytes`)
  return { request, ...bodyFrom(bytes[0], fields) }
}

function bodyFrom(type: number | undefined, fields: readonly RlpItem[]): Body {
  switch (type) {
    case types.ping:
      return { kind: 'ping', enrSequence: rlpNumber(fields[1], 'sequence') }
    case types.pong: {
      const udpPort = rlpNumber(fields[3], 'port')
      return { kind: 'pong', enrSequence: rlpNumber(fields[1], 'sequence'), ip: ipText(rlpBytes(fields[2], 'address')), udpPort }
    }
    case types.findNode: {
      const distances = rlpList(fields[1], 'distances')
        .slice(0, maxItems)
        .map((distance) => rlpNumber(distance, 'distance'))
      if (distances.some((distance) => distance > maxDistance)) throw new RlpError('distance above 256')
      return { kind: 'findNode', distances }
    }
    case types.nodes: {
      const records = rlpList(fields[2], 'records').slice(0, maxItems)
      return { kind: 'nodes', total: rlpNumber(fields[1], 'total'), records: records.map((record) => encodeRlp(record)) }
    }
    case types.talkRequest:
      return { kind: 'talkRequest' }
    case types.talkResponse:
      return { kind: 'talkResponse', response: rlpBytes(fields[1], 'response') }
    default:
      throw new RlpError(`message of type ${type}`)
  }
}
