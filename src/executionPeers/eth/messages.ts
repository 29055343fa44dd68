import type { ForkId } from '#chainspec/forkId'
import { equalBytes } from '#lib/bytes'
import { fromHex, fromHexFixed, toHex } from '#lib/hex'
import {
  decodeRlp,
  encodeRlp,
  encodeRlpList,
  RlpError,
  type RlpItem,
  rlpBigint,
  rlpBytes,
  rlpHead,
  rlpList,
  rlpNumber,
  rlpScalar,
  splitRlpList,
} from '#lib/rlp'
import { type Hash, hashFromBytes } from '#types/ids'

/** Versions of the `eth` capability that this node has. */
export const ethVersions = [68, 69] as const
export type EthVersion = (typeof ethVersions)[number]

export const isEthVersion = (version: number | undefined): version is EthVersion => version === 68 || version === 69

/** Messages of `eth`, without those of transactions, which are ignored. */
export const ethMessage = {
  status: 0x00,
  getBlockHeaders: 0x03,
  blockHeaders: 0x04,
  getBlockBodies: 0x05,
  blockBodies: 0x06,
  getPooledTransactions: 0x09,
  pooledTransactions: 0x0a,
  getReceipts: 0x0f,
  receipts: 0x10,
  blockRangeUpdate: 0x11,
} as const

/** Blocks of which a node serves headers, bodies and receipts. */
export type BlockRange = { readonly earliest: number; readonly latest: number; readonly latestHash: Hash }

/** First message of both sides. eth/68 has no range, only the hash of the newest block. */
export type Status = {
  readonly version: EthVersion
  readonly networkId: number
  readonly genesis: Hash
  readonly forkId: ForkId
  readonly latestHash: Hash
  /** only eth/69 */
  readonly range?: BlockRange
}

const forkIdItem = ({ hash, next }: ForkId): RlpItem => [fromHex(hash), rlpScalar(next)]

/** A `next` above 2^53, with which some nodes name a fork that never comes, counts as none. */
function forkIdFromRlp(item: RlpItem | undefined): ForkId {
  const [hash, next] = rlpList(item, 'fork id')
  const at = rlpBigint(next, 'next fork', 8)
  return { hash: toHex(rlpBytes(hash, 'fork hash', 4)), next: at > BigInt(Number.MAX_SAFE_INTEGER) ? 0 : Number(at) }
}

/** Total difficulty of a chain without proof of work, in eth/68. */
const noDifficulty = rlpScalar(0)

export function encodeStatus({ version, networkId, genesis, forkId, latestHash, range }: Status): Uint8Array {
  const first = [rlpScalar(version), rlpScalar(networkId)]
  if (range === undefined) return encodeRlp([...first, noDifficulty, fromHex(latestHash), fromHex(genesis), forkIdItem(forkId)])
  return encodeRlp([...first, fromHex(genesis), forkIdItem(forkId), ...rangeItems(range)])
}

/** @throws RlpError */
export function decodeStatus(version: EthVersion, bytes: Uint8Array): Status {
  const fields = rlpList(decodeRlp(bytes), 'Status')
  const theirs = rlpNumber(fields[0], 'version')
  if (theirs !== version) throw new RlpError(`Status of version ${theirs}, not ${version}`)
  const networkId = rlpNumber(fields[1], 'network id')
  if (version === 68) {
    const [, , , latest, genesis, forkId] = fields
    return { version, networkId, genesis: hashOf(genesis, 'genesis'), forkId: forkIdFromRlp(forkId), latestHash: hashOf(latest, 'head') }
  }
  const range = rangeFromItems(fields.slice(4))
  return {
    version,
    networkId,
    genesis: hashOf(fields[2], 'genesis'),
    forkId: forkIdFromRlp(fields[3]),
    latestHash: range.latestHash,
    range,
  }
}

const hashOf = (item: RlpItem | undefined, what: string): Hash => hashFromBytes(rlpBytes(item, what, 32))

const rangeItems = ({ earliest, latest, latestHash }: BlockRange): RlpItem[] => [
  rlpScalar(earliest),
  rlpScalar(latest),
  fromHex(latestHash),
]

function rangeFromItems([first, last, hash]: readonly RlpItem[]): BlockRange {
  const range = {
    earliest: rlpNumber(first, 'earliest block'),
    latest: rlpNumber(last, 'latest block'),
    latestHash: hashOf(hash, 'latest hash'),
  }
  if (range.earliest > range.latest) throw new RlpError(`blocks from ${range.earliest} to ${range.latest}`)
  return range
}

export const encodeRange = (range: BlockRange): Uint8Array => encodeRlp(rangeItems(range))
/** @throws RlpError */
export const decodeRange = (bytes: Uint8Array): BlockRange => rangeFromItems(rlpList(decodeRlp(bytes), 'range'))

/** Request for headers: `amount` of them from a block on, `skip` blocks left out between two, towards genesis when `isReverse`. */
export type HeadersQuery = {
  readonly origin: Hash | number
  readonly amount: number
  readonly skip: number
  readonly isReverse: boolean
}

export function encodeGetHeaders(id: number, { origin, amount, skip, isReverse }: HeadersQuery): Uint8Array {
  const start = typeof origin === 'number' ? rlpScalar(origin) : fromHexFixed(origin, 32)
  return encodeRlp([rlpScalar(id), [start, rlpScalar(amount), rlpScalar(skip), rlpScalar(isReverse ? 1 : 0)]])
}

/** Numbers above 2^53 become the largest one: such blocks do not exist. */
const clamped = (item: RlpItem | undefined, what: string): number => {
  const value = rlpBigint(item, what, 8)
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value)
}

/** @throws RlpError */
export function decodeGetHeaders(bytes: Uint8Array): { readonly id: bigint; readonly query: HeadersQuery } {
  const [id, query] = rlpList(decodeRlp(bytes), 'GetBlockHeaders')
  const [start, amount, skip, reverse] = rlpList(query, 'query')
  const origin = rlpBytes(start, 'origin')
  return {
    id: rlpBigint(id, 'request id', 8),
    query: {
      origin: origin.length === 32 ? hashFromBytes(origin) : clamped(start, 'origin'),
      amount: clamped(amount, 'amount'),
      skip: clamped(skip, 'skip'),
      isReverse: rlpNumber(reverse, 'reverse') !== 0,
    },
  }
}

/** Encodes a request for bodies or receipts of blocks. */
export const encodeHashes = (id: number, hashes: readonly Hash[]): Uint8Array =>
  encodeRlp([rlpScalar(id), hashes.map((hash) => fromHex(hash))])

/** Decodes a request for bodies or receipts. @throws RlpError, also above `maxHashes` */
export function decodeHashes(bytes: Uint8Array, maxHashes: number): { readonly id: bigint; readonly hashes: readonly Hash[] } {
  const [id, list] = splitRlpList(bytes, 2, 'request')
  if (id === undefined || list === undefined) throw new RlpError('request of fewer than two fields')
  const hashes = splitRlpList(list, maxHashes, 'hashes').map((item) => {
    const { isList, from, to } = rlpHead(item, 0)
    if (isList || to - from !== 32) throw new RlpError('hash of another length')
    return hashFromBytes(item.subarray(from, to))
  })
  return { id: requestId(id), hashes }
}

/** A list is refused before its items are read: a response of ten million of them would take the memory. */
function requestId(item: Uint8Array): bigint {
  const { isList, from, to } = rlpHead(item, 0)
  if (isList) throw new RlpError('request id: bytes expected')
  return rlpBigint(item.subarray(from, to), 'request id', 8)
}

/** Encodes a response of items that are encoded already. */
export const encodeResponse = (id: bigint | number, items: readonly Uint8Array[]): Uint8Array =>
  encodeRlpList([encodeRlp(rlpScalar(id)), encodeRlpList(items)])

/** Splits a response into its encoded items. @throws RlpError, also above `maxItems` */
export function decodeResponse(bytes: Uint8Array, maxItems: number): { readonly id: bigint; readonly items: readonly Uint8Array[] } {
  const [id, list] = splitRlpList(bytes, 2, 'response')
  if (id === undefined || list === undefined) throw new RlpError('response of fewer than two fields')
  return { id: requestId(id), items: splitRlpList(list, maxItems, 'response') }
}

/** Encoded empty list. */
export const emptyList: Uint8Array = Uint8Array.of(0xc0)
export const isEmptyList = (item: Uint8Array | undefined): boolean => item !== undefined && equalBytes(item, emptyList)
