import { Buffer } from 'node:buffer'
import { brotliDecompressSync } from 'node:zlib'
import { fromHex } from '#lib/hex'
import { exceedsDepth } from '#lib/jsonDepth'
import type { FlashblockBase, FlashblockOutcome, ReceivedFlashblock } from '#types/flashblock'
import {
  addressField,
  bigintField,
  bytesField,
  has,
  hashField,
  type Json,
  listOf,
  numberField,
  objectOf,
  ShapeError,
} from '#types/jsonShape'

/** A flashblock as published. Older formats give the block number in the base only; their later flashblocks are matched by payload id. */
export type FeedMessage = Omit<ReceivedFlashblock, 'blockNumber'> & { readonly blockNumber?: number }

/** Why a message is rejected. */
export const badMessageReasons = ['size', 'encoding', 'json', 'shape'] as const
export type BadMessageReason = (typeof badMessageReasons)[number]
export type DecodedMessage =
  | { readonly kind: 'flashblock'; readonly flashblock: FeedMessage }
  | { readonly kind: 'bad'; readonly reason: BadMessageReason; readonly text: string }

/** Maximum size in bytes of a message, and of its decompressed content. */
export const maxMessageBytes = 16 * 2 ** 20
/** Maximum nesting of lists and objects. Formats in use have up to eleven levels, in access lists. */
const maxLevels = 32
/** Maximum values of a message, including receipts and balances in its metadata; that many keys take 0.4 s to parse. */
const maxValues = 500_000
/** Maximum transactions of one flashblock; 400 million gas pay for 19,000. */
const maxTransactions = 65_536
/** Maximum index of a flashblock; a block of 2 s has eleven flashblocks at 200 ms. */
const maxIndex = 65_535
const bloomBytes = 256
const openingBrace = 0x7b
/** White space of JSON. */
const whiteSpace: readonly number[] = [0x20, 0x09, 0x0a, 0x0d]

/**
 * Decodes one message, text or binary: JSON, or a brotli stream of JSON. Unused parts may have any form, so formats back to v0.4.1 are read: the
 * metadata except the block number, the block hash, the withdrawals.
 * @see flashbots/rollup-boost, specs/flashblocks.md
 */
export function decodeMessage(message: Uint8Array): DecodedMessage {
  if (message.length > maxMessageBytes) return { kind: 'bad', reason: 'size', text: `${message.length} bytes` }
  const plain = isJson(message) ? decodeJson(message) : undefined
  if (plain && (plain.kind === 'flashblock' || plain.reason !== 'json')) return plain
  const content = decompressed(message)
  if ('reason' in content) return plain ?? content
  return decodeJson(content)
}

function decodeJson(plain: Uint8Array): DecodedMessage {
  if (exceedsDepth(plain, maxLevels, maxValues)) {
    return { kind: 'bad', reason: 'json', text: `JSON of more than ${maxLevels} levels or ${maxValues} values` }
  }
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(plain.buffer, plain.byteOffset, plain.length).toString('utf8'))
  } catch {
    return { kind: 'bad', reason: 'json', text: `${plain.length} bytes that are not JSON` }
  }
  try {
    return { kind: 'flashblock', flashblock: flashblockOf(objectOf(json, 'the message')) }
  } catch (error) {
    if (error instanceof ShapeError) return { kind: 'bad', reason: 'shape', text: error.message }
    throw error
  }
}

/** Returns whether the first byte that is not white space opens an object. A brotli stream that its publisher flushes may begin like that too. */
function isJson(message: Uint8Array): boolean {
  return message.find((byte) => !whiteSpace.includes(byte)) === openingBrace
}

function decompressed(message: Uint8Array): Uint8Array | Extract<DecodedMessage, { kind: 'bad' }> {
  try {
    return brotliDecompressSync(message, { maxOutputLength: maxMessageBytes })
  } catch (error) {
    const isTooLarge = error instanceof RangeError
    const text = isTooLarge ? `more than ${maxMessageBytes} bytes unpacked` : 'neither JSON nor a brotli stream'
    return { kind: 'bad', reason: isTooLarge ? 'size' : 'encoding', text }
  }
}

function flashblockOf(json: Json): FeedMessage {
  const payloadId = bytesField(json, 'payload_id')
  if (payloadId.length !== 8) throw new ShapeError('payload_id must have 8 bytes')
  const index = integerField(json, 'index')
  if (index > maxIndex) throw new ShapeError(`index ${index} is too large`)
  if ((index === 0) !== has(json, 'base')) throw new ShapeError(index === 0 ? 'flashblock 0 has no base' : `flashblock ${index} has a base`)
  const diff = objectOf(json['diff'], 'diff')
  const base = index === 0 ? objectOf(json['base'], 'base') : undefined
  const blockNumber = numberOf(base, json['metadata'])
  const transactions = listOf(diff['transactions'], 'transactions')
  if (transactions.length > maxTransactions) throw new ShapeError(`more than ${maxTransactions} transactions`)
  return {
    payloadId: `0x${Buffer.from(payloadId).toString('hex')}`,
    index,
    ...(blockNumber !== undefined && { blockNumber }),
    ...(base && { base: baseOf(base) }),
    transactions: transactions.map(transactionOf),
    outcome: outcomeOf(diff),
  }
}

function integerField(json: Json, key: string): number {
  const value = json[key]
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new ShapeError(`${key} must be a whole number of at least 0`)
  return value
}

/** Reads the block number from base and metadata. @throws ShapeError when the two differ */
function numberOf(base: Json | undefined, metadata: unknown): number | undefined {
  const inBase = base && numberField(base, 'block_number')
  const hasNumber = typeof metadata === 'object' && metadata !== null && has(metadata as Json, 'block_number')
  if (!hasNumber) return inBase
  const inMetadata = integerField(metadata as Json, 'block_number')
  if (inBase !== undefined && inBase !== inMetadata) {
    throw new ShapeError(`block_number is ${inBase} in the base, ${inMetadata} in the metadata`)
  }
  return inMetadata
}

function baseOf(base: Json): FlashblockBase {
  return {
    parentHash: hashField(base, 'parent_hash'),
    parentBeaconBlockRoot: hashField(base, 'parent_beacon_block_root'),
    feeRecipient: addressField(base, 'fee_recipient'),
    prevRandao: hashField(base, 'prev_randao'),
    gasLimit: bigintField(base, 'gas_limit'),
    timestamp: numberField(base, 'timestamp'),
    extraData: bytesField(base, 'extra_data'),
    baseFee: bigintField(base, 'base_fee_per_gas'),
  }
}

function outcomeOf(diff: Json): FlashblockOutcome {
  const logsBloom = bytesField(diff, 'logs_bloom')
  if (logsBloom.length !== bloomBytes) throw new ShapeError(`logs_bloom must have ${bloomBytes} bytes`)
  return {
    stateRoot: hashField(diff, 'state_root'),
    receiptsRoot: hashField(diff, 'receipts_root'),
    logsBloom,
    gasUsed: bigintField(diff, 'gas_used'),
    withdrawalsRoot: hashField(diff, 'withdrawals_root'),
    ...(has(diff, 'blob_gas_used') && { blobGasUsed: bigintField(diff, 'blob_gas_used') }),
  }
}

function transactionOf(value: unknown, at: number): Uint8Array {
  try {
    if (typeof value === 'string' && value.length > 2) return fromHex(value)
  } catch (error) {
    throw new ShapeError(`transaction ${at} is not hex`, { cause: error })
  }
  throw new ShapeError(`transaction ${at} has no bytes`)
}
