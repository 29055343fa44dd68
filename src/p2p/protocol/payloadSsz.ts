import { fromHex, toHex } from '#lib/hex'
import { type Address, type Hash, zeroHash } from '#types/ids'
import type { Payload } from '#types/payload'
import type { BlockVersion } from './topics.ts'

/** Bytes of the fixed part by layout; also the value of the first offset. */
const fixedBytes: Readonly<Record<BlockVersion, number>> = { 0: 508, 1: 512, 2: 528, 3: 560 }

/** Offsets of the fixed fields. */
const at = {
  parentHash: 0,
  feeRecipient: 32,
  stateRoot: 52,
  receiptsRoot: 84,
  logsBloom: 116,
  prevRandao: 372,
  blockNumber: 404,
  gasLimit: 412,
  gasUsed: 420,
  timestamp: 428,
  extraData: 436,
  baseFeePerGas: 440,
  blockHash: 472,
  transactions: 504,
  withdrawals: 508,
  blobGasUsed: 512,
  excessBlobGas: 520,
  withdrawalsRoot: 528,
} as const

const maxExtraDataBytes = 32
const maxTransactions = 1_048_576

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Returns the timestamp without decoding the rest; undefined: too short, or 2^53 and above. */
export function timestampOfSsz(bytes: Uint8Array): number | undefined {
  return bytes.length < fixedBytes[0] ? undefined : safe(viewOf(bytes).getBigUint64(at.timestamp, true))
}

/** Returns the layout of a payload by its first offset; undefined: it has none of the layouts. */
export function versionOfSsz(bytes: Uint8Array): BlockVersion | undefined {
  if (bytes.length < fixedBytes[0]) return undefined
  const first = viewOf(bytes).getUint32(at.extraData, true)
  return ([0, 1, 2, 3] as const).find((version) => fixedBytes[version] === first)
}

const safe = (value: bigint): number | undefined => (value > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(value))

function u256Little(bytes: Uint8Array): bigint {
  return BigInt(toHex(bytes.slice().reverse()))
}

/** Returns the items of a list of byte lists; undefined: offsets out of order or out of range. */
function decodeByteLists(bytes: Uint8Array): readonly Uint8Array[] | undefined {
  if (bytes.length === 0) return []
  if (bytes.length < 4) return undefined
  const view = viewOf(bytes)
  const first = view.getUint32(0, true)
  const count = first / 4
  if (first === 0 || first % 4 !== 0 || first > bytes.length || count > maxTransactions) return undefined
  const items: Uint8Array[] = []
  let from = first
  for (let i = 1; i <= count; i++) {
    const to = i === count ? bytes.length : view.getUint32(4 * i, true)
    if (to < from || to > bytes.length) return undefined
    items.push(bytes.slice(from, to))
    from = to
  }
  return items
}

/** A payload, or the reason why the bytes are none. */
export type DecodedPayload =
  | { readonly kind: 'payload'; readonly payload: Payload }
  | { readonly kind: 'malformed'; readonly reason: string }

const malformed = (reason: string): DecodedPayload => ({ kind: 'malformed', reason })

type Parts = { readonly extraData: Uint8Array; readonly transactions: readonly Uint8Array[] }

/** Splits the variable part; a text says what is wrong. */
function partsOf(bytes: Uint8Array, version: BlockVersion): Parts | string {
  const view = viewOf(bytes)
  const extraAt = view.getUint32(at.extraData, true)
  const transactionsAt = view.getUint32(at.transactions, true)
  const endAt = version === 0 ? bytes.length : view.getUint32(at.withdrawals, true)
  if (extraAt !== fixedBytes[version]) return `first offset ${extraAt}, ${fixedBytes[version]} expected`
  if (transactionsAt < extraAt || endAt < transactionsAt || endAt > bytes.length) return 'offsets out of order'
  if (transactionsAt - extraAt > maxExtraDataBytes) return `extra data of ${transactionsAt - extraAt} bytes`
  if (endAt !== bytes.length) return 'withdrawals'
  const transactions = decodeByteLists(bytes.subarray(transactionsAt, endAt))
  return transactions === undefined ? 'transactions' : { extraData: bytes.slice(extraAt, transactionsAt), transactions }
}

/**
 * Decodes the SSZ container `ExecutionPayload` of one layout. Fields that the layout lacks are absent. Copies all bytes.
 * @returns 'malformed' also for a block with withdrawals, which no OP-Stack chain has, and for numbers of 2^53 and above
 * @see specs protocol/rollup-node-p2p.md, "Block encoding"
 */
export function decodePayload(bytes: Uint8Array, version: BlockVersion): DecodedPayload {
  if (bytes.length < fixedBytes[version]) return malformed(`${bytes.length} bytes`)
  const parts = partsOf(bytes, version)
  if (typeof parts === 'string') return malformed(parts)
  const view = viewOf(bytes)
  const u64 = (offset: number): bigint => view.getBigUint64(offset, true)
  const hash = (offset: number): Hash => toHex(bytes.subarray(offset, offset + 32)) as Hash
  const [blockNumber, timestamp] = [safe(u64(at.blockNumber)), safe(u64(at.timestamp))]
  if (blockNumber === undefined || timestamp === undefined) return malformed('number or timestamp')
  const payload: Payload = {
    parentHash: hash(at.parentHash),
    feeRecipient: toHex(bytes.subarray(at.feeRecipient, at.stateRoot)) as Address,
    stateRoot: hash(at.stateRoot),
    receiptsRoot: hash(at.receiptsRoot),
    logsBloom: bytes.slice(at.logsBloom, at.prevRandao),
    prevRandao: hash(at.prevRandao),
    blockNumber,
    gasLimit: u64(at.gasLimit),
    gasUsed: u64(at.gasUsed),
    timestamp,
    ...parts,
    baseFeePerGas: u256Little(bytes.subarray(at.baseFeePerGas, at.blockHash)),
    blockHash: hash(at.blockHash),
    ...(version >= 1 && { withdrawals: [] as const }),
    ...(version >= 2 && { blobGasUsed: u64(at.blobGasUsed), excessBlobGas: u64(at.excessBlobGas) }),
    ...(version >= 3 && { withdrawalsRoot: hash(at.withdrawalsRoot) }),
  }
  return { kind: 'payload', payload }
}

/** Encodes a payload in one layout. Fields that the layout has and the payload lacks are zero. */
export function encodePayload(payload: Payload, version: BlockVersion): Uint8Array {
  const { transactions, extraData } = payload
  const fixed = fixedBytes[version]
  const transactionsAt = fixed + extraData.length
  const end = transactions.reduce((sum, { length }) => sum + length, transactionsAt + 4 * transactions.length)
  const out = new Uint8Array(end)
  const view = viewOf(out)
  const u64 = (offset: number, value: bigint | number): void => view.setBigUint64(offset, BigInt(value), true)
  const hex = (offset: number, value: string): void => out.set(fromHex(value), offset)
  hex(at.parentHash, payload.parentHash)
  hex(at.feeRecipient, payload.feeRecipient)
  hex(at.stateRoot, payload.stateRoot)
  hex(at.receiptsRoot, payload.receiptsRoot)
  out.set(payload.logsBloom, at.logsBloom)
  hex(at.prevRandao, payload.prevRandao)
  u64(at.blockNumber, payload.blockNumber)
  u64(at.gasLimit, payload.gasLimit)
  u64(at.gasUsed, payload.gasUsed)
  u64(at.timestamp, payload.timestamp)
  view.setUint32(at.extraData, fixed, true)
  for (let i = 0; i < 4; i++) u64(at.baseFeePerGas + 8 * i, (payload.baseFeePerGas >> BigInt(64 * i)) & 0xffff_ffff_ffff_ffffn)
  hex(at.blockHash, payload.blockHash)
  view.setUint32(at.transactions, transactionsAt, true)
  if (version >= 1) view.setUint32(at.withdrawals, end, true)
  if (version >= 2) {
    u64(at.blobGasUsed, payload.blobGasUsed ?? 0n)
    u64(at.excessBlobGas, payload.excessBlobGas ?? 0n)
  }
  if (version >= 3) hex(at.withdrawalsRoot, payload.withdrawalsRoot ?? zeroHash)
  out.set(extraData, fixed)
  let to = transactionsAt + 4 * transactions.length
  transactions.forEach((transaction, i) => {
    view.setUint32(transactionsAt + 4 * i, to - transactionsAt, true)
    out.set(transaction, to)
    to += transaction.length
  })
  return out
}
