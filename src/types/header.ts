import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { decodeRlp, encodeRlp, type RlpItem, rlpBigint, rlpBytes, rlpList, rlpNumber, rlpScalar } from '#lib/rlp'
import { type Address, addressFromBytes, type Hash, hashFromBytes } from './ids.ts'

/**
 * A block header of L1 or L2, with u64 gas. Fields of later forks are absent before the fork. `extra` holds header fields after `requestsHash` that
 * this version does not know, so that newer L1 headers still hash correctly.
 */
export type Header = {
  readonly parentHash: Hash
  readonly ommersHash: Hash
  readonly beneficiary: Address
  readonly stateRoot: Hash
  readonly transactionsRoot: Hash
  readonly receiptsRoot: Hash
  readonly logsBloom: Uint8Array
  readonly difficulty: bigint
  readonly number: number
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly extraData: Uint8Array
  /** prevRandao since the merge. */
  readonly mixHash: Hash
  /** 8 bytes. */
  readonly nonce: Uint8Array
  /** Wei per gas; from London. */
  readonly baseFeePerGas?: bigint
  /** From Shanghai (L1) or Canyon (L2). */
  readonly withdrawalsRoot?: Hash
  /** Blob gas, from Cancun (L1) or Ecotone (L2). From Jovian on: DA footprint. */
  readonly blobGasUsed?: bigint
  readonly excessBlobGas?: bigint
  readonly parentBeaconBlockRoot?: Hash
  /** From Prague (L1) or Isthmus (L2). */
  readonly requestsHash?: Hash
  readonly extra?: readonly Uint8Array[]
}

const hash = (value: Hash): Uint8Array => fromHex(value)

function headerFields(header: Header): RlpItem[] {
  const optional: (Uint8Array | undefined)[] = [
    header.baseFeePerGas === undefined ? undefined : rlpScalar(header.baseFeePerGas),
    header.withdrawalsRoot === undefined ? undefined : hash(header.withdrawalsRoot),
    header.blobGasUsed === undefined ? undefined : rlpScalar(header.blobGasUsed),
    header.excessBlobGas === undefined ? undefined : rlpScalar(header.excessBlobGas),
    header.parentBeaconBlockRoot === undefined ? undefined : hash(header.parentBeaconBlockRoot),
    header.requestsHash === undefined ? undefined : hash(header.requestsHash),
    ...(header.extra ?? []),
  ]
  const present = optional.indexOf(undefined)
  const tail = present < 0 ? optional : optional.slice(0, present)
  if (optional.slice(tail.length).some((field) => field !== undefined)) throw new RangeError('header: a later field without an earlier one')
  return [
    hash(header.parentHash),
    hash(header.ommersHash),
    fromHex(header.beneficiary),
    hash(header.stateRoot),
    hash(header.transactionsRoot),
    hash(header.receiptsRoot),
    header.logsBloom,
    rlpScalar(header.difficulty),
    rlpScalar(header.number),
    rlpScalar(header.gasLimit),
    rlpScalar(header.gasUsed),
    rlpScalar(header.timestamp),
    header.extraData,
    hash(header.mixHash),
    header.nonce,
    ...(tail as Uint8Array[]),
  ]
}

/** Encodes a header as canonical RLP. Throws RangeError when a field of a later fork is set without the fields before it. */
export function encodeHeader(header: Header): Uint8Array {
  return encodeRlp(headerFields(header))
}

/** Returns the block hash: keccak of the header's RLP. */
export function hashHeader(header: Header): Hash {
  return hashFromBytes(keccak256(encodeHeader(header)))
}

/** Decodes a header. Throws RlpError on other bytes. */
export function decodeHeader(bytes: Uint8Array): Header {
  return headerFromRlp(decodeRlp(bytes))
}

/** Converts a decoded RLP item to a header. Throws RlpError on another shape. */
export function headerFromRlp(item: RlpItem): Header {
  const fields = rlpList(item, 'header')
  const hash32 = (at: number, what: string): Hash => hashFromBytes(rlpBytes(fields[at], what, 32))
  const scalar = (at: number, what: string): bigint => rlpBigint(fields[at], what)
  return {
    parentHash: hash32(0, 'parent hash'),
    ommersHash: hash32(1, 'ommers hash'),
    beneficiary: addressFromBytes(rlpBytes(fields[2], 'beneficiary', 20)),
    stateRoot: hash32(3, 'state root'),
    transactionsRoot: hash32(4, 'transactions root'),
    receiptsRoot: hash32(5, 'receipts root'),
    logsBloom: rlpBytes(fields[6], 'logs bloom', 256),
    difficulty: scalar(7, 'difficulty'),
    number: rlpNumber(fields[8], 'number'),
    gasLimit: rlpBigint(fields[9], 'gas limit', 8),
    gasUsed: rlpBigint(fields[10], 'gas used', 8),
    timestamp: rlpNumber(fields[11], 'timestamp'),
    extraData: rlpBytes(fields[12], 'extra data'),
    mixHash: hash32(13, 'mix hash'),
    nonce: rlpBytes(fields[14], 'nonce', 8),
    ...(fields.length > 15 && { baseFeePerGas: scalar(15, 'base fee') }),
    ...(fields.length > 16 && { withdrawalsRoot: hash32(16, 'withdrawals root') }),
    ...(fields.length > 17 && { blobGasUsed: rlpBigint(fields[17], 'blob gas used', 8) }),
    ...(fields.length > 18 && { excessBlobGas: rlpBigint(fields[18], 'excess blob gas', 8) }),
    ...(fields.length > 19 && { parentBeaconBlockRoot: hash32(19, 'parent beacon block root') }),
    ...(fields.length > 20 && { requestsHash: hash32(20, 'requests hash') }),
    ...(fields.length > 21 && { extra: fields.slice(21).map((field) => rlpBytes(field, 'later field')) }),
  }
}
