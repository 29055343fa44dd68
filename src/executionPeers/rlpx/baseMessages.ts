import { decodeRlpPrefix, encodeRlp, RlpError, rlpBytes, rlpList, rlpNumber, rlpScalar, splitRlpList } from '#lib/rlp'

/** Message ids of the base protocol; those of capabilities follow from 16 on. */
export const baseMessage = { hello: 0, disconnect: 1, ping: 2, pong: 3 } as const
export const baseMessageCount = 16

/** Version of the base protocol from which messages are compressed. */
export const snappyVersion = 5

/** Reasons of a disconnect. @see devp2p rlpx.md, "Disconnect (0x01)" */
export const disconnectReasons = {
  requested: 0,
  network_error: 1,
  protocol_error: 2,
  useless_peer: 3,
  too_many_peers: 4,
  already_connected: 5,
  incompatible_version: 6,
  invalid_identity: 7,
  quitting: 8,
  unexpected_identity: 9,
  self: 10,
  timeout: 11,
  subprotocol_error: 16,
} as const
export type DisconnectReason = keyof typeof disconnectReasons

const reasonNames = new Map<number, DisconnectReason>(
  (Object.entries(disconnectReasons) as [DisconnectReason, number][]).map(([name, id]) => [id, name]),
)

export type Capability = { readonly name: string; readonly version: number }

/** First message of both sides. */
export type Hello = {
  readonly version: number
  /** name of the client */
  readonly client: string
  readonly capabilities: readonly Capability[]
  /** 0: the node does not listen, or does not say where */
  readonly port: number
  /** public key, 64 bytes */
  readonly id: Uint8Array
}

const maxCapabilities = 64
const maxNameBytes = 256
const maxFields = 64

const printable = (bytes: Uint8Array): string =>
  Buffer.from(bytes.subarray(0, maxNameBytes))
    .toString('latin1')
    .replace(/[^\x20-\x7e]/g, '?')

export function encodeHello({ version, client, capabilities, port, id }: Hello): Uint8Array {
  return encodeRlp([
    rlpScalar(version),
    Buffer.from(client),
    capabilities.map(({ name, version: of }) => [Buffer.from(name), rlpScalar(of)]),
    rlpScalar(port),
    id,
  ])
}

/** Decodes a Hello; later fields are ignored (EIP-8). @throws RlpError */
export function decodeHello(bytes: Uint8Array): Hello {
  const [version, client, capabilities, port, id] = splitRlpList(bytes, maxFields, 'Hello')
  const item = (encoded: Uint8Array | undefined): Uint8Array | undefined => encoded && (decodeRlpPrefix(encoded, 0).item as Uint8Array)
  if (capabilities === undefined) throw new RlpError('Hello: capabilities expected')
  return {
    version: rlpNumber(item(version), 'version'),
    client: printable(rlpBytes(item(client), 'client')),
    capabilities: splitRlpList(capabilities, maxCapabilities, 'capabilities').map((capability) => {
      const [name, of] = rlpList(decodeRlpPrefix(capability, 0).item, 'capability')
      return { name: printable(rlpBytes(name, 'name')), version: rlpNumber(of, 'version') }
    }),
    port: rlpNumber(item(port), 'port'),
    id: rlpBytes(item(id), 'id', 64),
  }
}

export const encodeDisconnect = (reason: DisconnectReason): Uint8Array => encodeRlp([rlpScalar(disconnectReasons[reason])])

/** Decodes a reason, which some clients send without a list around it. Never throws; an unknown one is `requested`. */
export function decodeDisconnect(bytes: Uint8Array): DisconnectReason {
  const last = bytes.at(-1) ?? 0
  return bytes.length > 2 ? 'requested' : (reasonNames.get(last === 0x80 || last === 0xc0 ? 0 : last) ?? 'requested')
}
