import { bigintFromBytes } from '#lib/bytes'
import type { Header } from '#types/header'
import { addressFromBytes, hashFromBytes } from '#types/ids'

/** Longest extra data: L2 headers have at most 17 bytes, L1 headers 32. */
const maxExtraBytes = 4_096
const bloomBytes = 256

/** Thrown inside this file for bytes that are no header. */
class NotCompact extends Error {}

/** Reads fields one after the other. A read beyond the end throws NotCompact. */
class Fields {
  readonly #bytes: Uint8Array
  #at: number

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  take(length: number): Uint8Array {
    const from = this.#at
    this.#at += length
    if (this.#at > this.#bytes.length) throw new NotCompact()
    return this.#bytes.subarray(from, this.#at)
  }

  rest(): Uint8Array {
    return this.take(this.#bytes.length - this.#at)
  }

  /** Reads an integer without leading zeros. */
  integer(length: number, maxLength: number): bigint {
    const bytes = this.take(length)
    if (length > maxLength || bytes[0] === 0) throw new NotCompact()
    return bigintFromBytes(bytes)
  }

  number(length: number): number {
    const value = Number(this.integer(length, 8))
    if (!Number.isSafeInteger(value)) throw new NotCompact()
    return value
  }

  /** Reads an optional field of variable size: its length in one byte, then the field. */
  optional<T>(isPresent: boolean, read: (length: number) => T): T | undefined {
    if (!isPresent) return undefined
    const length = this.take(1)[0] ?? 0
    if (length >= 0x80) throw new NotCompact()
    return read(length)
  }
}

/**
 * Decodes a header in the other client's Compact encoding: 4 bytes of flags, then the fields in its own order, integers big-endian without leading zeros.
 * Flags, from the lowest bit: withdrawals root present; 6 bits length of the difficulty; 4 bits each length of number, gas limit, gas used, timestamp,
 * nonce; one bit each base fee, blob gas used, excess blob gas, parent beacon block root, extension present. Extra data is the rest.
 * The extension has flags of its own, whose lowest bit means the requests hash.
 * @returns undefined for other bytes. The hash of the result is the proof that nothing was lost
 */
export function decodeCompactHeader(bytes: Uint8Array): Header | undefined {
  try {
    return headerFrom(bytes)
  } catch (error) {
    if (error instanceof NotCompact) return undefined
    throw error
  }
}

function headerFrom(bytes: Uint8Array): Header {
  if (bytes.length < 4) throw new NotCompact()
  const flags = ((bytes[0] ?? 0) | ((bytes[1] ?? 0) << 8) | ((bytes[2] ?? 0) << 16) | ((bytes[3] ?? 0) << 24)) >>> 0
  const has = (bit: number): boolean => ((flags >>> bit) & 1) === 1
  const length = (bit: number): number => (flags >>> bit) & 0xf
  const fields = new Fields(bytes, 4)
  const hash = (): Header['parentHash'] => hashFromBytes(fields.take(32))
  const optionalHash = (isPresent: boolean): Header['parentHash'] | undefined => (isPresent ? hash() : undefined)
  const integer = (size: number): bigint => fields.integer(size, 8)

  const roots = { parentHash: hash(), ommersHash: hash(), beneficiary: addressFromBytes(fields.take(20)) }
  const tries = { stateRoot: hash(), transactionsRoot: hash(), receiptsRoot: hash() }
  const withdrawalsRoot = optionalHash(has(0))
  const logsBloom = fields.take(bloomBytes).slice()
  const difficulty = fields.integer((flags >>> 1) & 0x3f, 32)
  const number = fields.number(length(7))
  const gas = { gasLimit: integer(length(11)), gasUsed: integer(length(15)) }
  const timestamp = fields.number(length(19))
  const mixHash = hash()
  const nonce = nonceOf(fields.take(length(23)))
  const baseFeePerGas = fields.optional(has(27), integer)
  const blobGasUsed = fields.optional(has(28), integer)
  const excessBlobGas = fields.optional(has(29), integer)
  const parentBeaconBlockRoot = optionalHash(has(30))
  const requestsHash = fields.optional(has(31), (size) => requestsHashOf(fields, size))
  const extraData = fields.rest().slice()
  if (extraData.length > maxExtraBytes) throw new NotCompact()
  return {
    ...roots,
    ...tries,
    ...gas,
    ...{ logsBloom, difficulty, number, timestamp, extraData, mixHash, nonce },
    ...(baseFeePerGas !== undefined && { baseFeePerGas }),
    ...(withdrawalsRoot !== undefined && { withdrawalsRoot }),
    ...(blobGasUsed !== undefined && { blobGasUsed }),
    ...(excessBlobGas !== undefined && { excessBlobGas }),
    ...(parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot }),
    ...(requestsHash !== undefined && { requestsHash }),
  }
}

/** The header's nonce is stored as an integer. */
function nonceOf(integer: Uint8Array): Uint8Array {
  if (integer.length > 8) throw new NotCompact()
  const nonce = new Uint8Array(8)
  nonce.set(integer, 8 - integer.length)
  return nonce
}

/** Decodes the extension of a header. A field of a later fork than Isthmus is unknown here, and would change the hash. */
function requestsHashOf(fields: Fields, size: number): Header['parentHash'] | undefined {
  const [flags = 0] = fields.take(1)
  if (flags > 1 || size !== 1 + 32 * flags) throw new NotCompact()
  return flags === 1 ? hashFromBytes(fields.take(32)) : undefined
}
