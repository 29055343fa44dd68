import { concatBytes } from '#lib/bytes'
import type { Payload } from '#types/payload'
import { decodeBody, encodeBody } from './envelope.ts'
import { decodeFramedSnappy, encodeFramedSnappy } from './framedSnappy.ts'
import { maxMessageBytes } from './messageId.ts'
import { versionOfSsz } from './payloadSsz.ts'
import type { BlockVersion } from './topics.ts'

/** Protocol ids of a chain: op-node registers the first, Base's client and the specification the second. */
export const payloadProtocols = (chainId: number): readonly [string, string] => {
  const id = `/opstack/req/payload_by_number/${chainId}/0`
  return [id, `${id}/`]
}

export const requestBytes = 8
/** Maximum size of a response: a message that does not compress, the headers of its chunks, the result and the version. */
export const maxResponseBytes: number = maxMessageBytes + 65_536

/** First byte of a response. */
const responseCodes = { found: 0, notFound: 1, badRequest: 2, serverError: 3 } as const

/** Versions of a response. op-node sends and expects 1 from Ecotone on, also for Isthmus blocks, for which the specification has 2. */
const responseVersions = { payload: 0, withRoot: 1, isthmus: 2 } as const

export function encodeRequest(number: number): Uint8Array {
  const out = new Uint8Array(requestBytes)
  new DataView(out.buffer).setBigUint64(0, BigInt(number), true)
  return out
}

/** Returns the requested number; undefined: fewer than eight bytes, or 2^53 and above. Further bytes are ignored. */
export function decodeRequest(bytes: Uint8Array): number | undefined {
  if (bytes.length < requestBytes) return undefined
  const value = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(0, true)
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(value)
}

/** Encodes a found block. @param version layout by the fork of its timestamp */
export function encodeFound(payload: Payload, version: BlockVersion): Uint8Array {
  const header = Uint8Array.of(responseCodes.found, version >= 2 ? responseVersions.withRoot : responseVersions.payload, 0, 0, 0)
  return concatBytes(header, encodeFramedSnappy(encodeBody(payload, version)))
}

export const encodeFailure = (code: Exclude<keyof typeof responseCodes, 'found'>): Uint8Array => Uint8Array.of(responseCodes[code])

/** Content of a response. `malformed`: the peer is at fault. */
export type PayloadResponse =
  | { readonly kind: 'found'; readonly payload: Payload }
  | { readonly kind: 'notFound' | 'badRequest' | 'serverError' }
  | { readonly kind: 'malformed'; readonly reason: string }

const malformed = (reason: string): PayloadResponse => ({ kind: 'malformed', reason })

/** Decodes a whole response. The layout follows from the first SSZ offset; the block is not verified. */
export function decodeResponse(bytes: Uint8Array): PayloadResponse {
  const [code] = bytes
  if (code === responseCodes.notFound) return { kind: 'notFound' }
  if (code === responseCodes.badRequest) return { kind: 'badRequest' }
  if (code === responseCodes.serverError) return { kind: 'serverError' }
  if (code !== responseCodes.found) return malformed(code === undefined ? 'empty response' : `result ${code}`)
  if (bytes.length < 5) return malformed('no version')
  const version = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(1, true)
  if (version > responseVersions.isthmus) return malformed(`version ${version}`)
  const body = decodeFramedSnappy(bytes.subarray(5), maxMessageBytes)
  if (body === undefined) return malformed('compression')
  const layout = versionOfSsz(version === responseVersions.payload ? body : body.subarray(32))
  if (layout === undefined || layout >= 2 !== version > responseVersions.payload) return malformed('layout')
  const decoded = decodeBody(body, layout)
  return decoded.kind === 'payload' ? { kind: 'found', payload: decoded.payload } : malformed(decoded.reason)
}
