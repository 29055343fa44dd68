import { isIPv6 } from 'node:net'
import { ENR } from '@chainsafe/enr'
import type { ForkId } from '#chainspec/forkId'
import { concatBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp, type RlpItem, rlpScalar } from '#lib/rlp'
import { compressedKeyOf, signDigest } from '#lib/secp256k1'
import { type Endpoint, ipBytes } from './endpoint.ts'

/** Keys under which execution nodes name their fork: of the OP family in reth, of all others. */
const forkKeys = ['opel', 'eth'] as const

export type RecordFacts = {
  readonly sequence: number
  /** absent: the address is not known */
  readonly host?: string | undefined
  readonly tcpPort: number
  readonly udpPort: number
  readonly forkId: ForkId
}

export type NodeRecordText = { readonly bytes: Uint8Array; readonly text: string; readonly sequence: number }

/** Makes and signs the record of this node. @see EIP-778; EIP-2124, "ENR entry" */
export function createRecord(privateKey: Uint8Array, { sequence, host, tcpPort, udpPort, forkId }: RecordFacts): NodeRecordText {
  const fork: RlpItem = [[fromHex(forkId.hash), rlpScalar(forkId.next)]]
  const isSix = host !== undefined && isIPv6(host)
  const pairs: readonly (readonly [string, RlpItem])[] = [
    ['id', Buffer.from('v4')],
    ['secp256k1', compressedKeyOf(privateKey)],
    ...forkKeys.map((key) => [key, fork] as const),
    ...(host === undefined ? [] : [[isSix ? 'ip6' : 'ip', ipBytes(host)] as const]),
    [isSix ? 'tcp6' : 'tcp', rlpScalar(tcpPort)],
    [isSix ? 'udp6' : 'udp', rlpScalar(udpPort)],
  ]
  const sorted = [...pairs].sort(([a], [b]) => (a < b ? -1 : 1))
  const content: RlpItem[] = [rlpScalar(sequence), ...sorted.flatMap(([key, value]): RlpItem[] => [Buffer.from(key), value])]
  const { signature } = signDigest(keccak256(encodeRlp(content)), privateKey)
  const bytes = encodeRlp([signature, ...content])
  return { bytes, sequence, text: `enr:${Buffer.from(bytes).toString('base64url')}` }
}

/** A record whose signature is valid, with its encoded form. */
export type SignedRecord = { readonly enr: ENR; readonly bytes: Uint8Array }

/** Reads a record; undefined when it is malformed or its signature is wrong. */
export function decodeRecord(bytes: Uint8Array): ENR | undefined {
  try {
    return ENR.decode(concatBytes(bytes))
  } catch {
    return undefined
  }
}

/** Returns the fork ids that a record names; those of another form are left out. */
export function forkIdsOf(record: ENR): readonly ForkId[] {
  return forkKeys.flatMap((key): ForkId[] => {
    const value: unknown = record.kvs.get(key)
    const first: unknown = Array.isArray(value) ? value[0] : undefined
    const [hash, next] = Array.isArray(first) ? (first as unknown[]) : []
    if (!(hash instanceof Uint8Array) || hash.length !== 4 || !(next instanceof Uint8Array) || next.length > 8) return []
    const at = next.reduce((sum, byte) => sum * 256 + byte, 0)
    return [{ hash: toHex(hash), next: Number.isSafeInteger(at) ? at : 0 }]
  })
}

/** Returns where the node of a record answers discovery, with its TCP port, 0 when there is none; undefined: the record has no address or UDP port. */
export function endpointOfRecord({ ip, ip6, tcp, tcp6, udp, udp6 }: ENR): Endpoint | undefined {
  if (ip !== undefined && udp !== undefined) return { ip, udpPort: udp, tcpPort: tcp ?? 0 }
  if (ip6 !== undefined && udp6 !== undefined) return { ip: ip6, udpPort: udp6, tcpPort: tcp6 ?? tcp ?? 0 }
  return undefined
}
