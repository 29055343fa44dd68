import { Buffer } from 'node:buffer'

export type Hex = `0x${string}`

const pattern = /^0x(?:[0-9a-fA-F]{2})*$/

/** Longest input, in bytes, that is converted here; Buffer is faster above this size. */
const shortBytes = 64
const shortText = Buffer.alloc(2 + 2 * shortBytes)
shortText.write('0x', 'latin1')
/** View of the text as pairs of digits, one u16 per byte. */
const shortPairs = new Uint16Array(shortText.buffer, shortText.byteOffset, 1 + shortBytes)
const digitPairs = new Uint16Array(256)
const pairsText = Buffer.from(digitPairs.buffer)
for (let byte = 0; byte < 256; byte++) pairsText.write(byte.toString(16).padStart(2, '0'), 2 * byte, 'latin1')

/**
 * Returns `count` bytes from offset `from` as lower-case hex with `0x`. A short text is created as one flat string: a concatenated string would be
 * copied again when it is first compared, hashed or read.
 */
export function hexAt(bytes: Uint8Array, from: number, count: number): Hex {
  if (count > shortBytes) return `0x${Buffer.from(bytes.buffer, bytes.byteOffset + from, count).toString('hex')}`
  for (let i = 0; i < count; i++) shortPairs[i + 1] = digitPairs[bytes[from + i] ?? 0] ?? 0
  return shortText.toString('latin1', 0, 2 + 2 * count) as Hex
}

/** Encodes bytes as lower-case hex with `0x`. */
export function toHex(bytes: Uint8Array): Hex {
  return hexAt(bytes, 0, bytes.length)
}

/** Longest input, in bytes, that is decoded here: `Buffer` needs a check of all digits before, and its result is copied. */
const shortHexBytes = 256
const noDigit = 0xff
/** Value of each hex digit, indexed by character code. */
const digitValues = new Uint8Array(256).fill(noDigit)
for (const [value, digit] of Array.from('0123456789abcdef').entries()) {
  digitValues[digit.charCodeAt(0)] = value
  digitValues[digit.toUpperCase().charCodeAt(0)] = value
}

/** Decodes short hex. @param hex `0x` and two characters per byte. @returns undefined when a character is not a hex digit */
function shortFromHex(hex: string, length: number): Uint8Array | undefined {
  const bytes = new Uint8Array(length)
  let seen = 0
  for (let i = 0, at = 2; i < length; i++, at += 2) {
    const high = digitValues[hex.charCodeAt(at)] ?? noDigit
    const low = digitValues[hex.charCodeAt(at + 1)] ?? noDigit
    seen |= high | low
    bytes[i] = (high << 4) | low
  }
  return seen > 0xf ? undefined : bytes
}

/** Decodes a hex string with `0x` and an even number of digits; throws SyntaxError otherwise. */
export function fromHex(hex: string): Uint8Array {
  const isShort = hex.length <= 2 + 2 * shortHexBytes && hex.length % 2 === 0 && hex.startsWith('0x')
  const short = isShort ? shortFromHex(hex, (hex.length >> 1) - 1) : undefined
  if (short) return short
  if (!pattern.test(hex)) throw new SyntaxError(`not hex bytes: ${hex.slice(0, 80)}`)
  return new Uint8Array(Buffer.from(hex.slice(2), 'hex'))
}

/** Decodes like `fromHex`; also throws SyntaxError unless there are exactly `length` bytes. */
export function fromHexFixed(hex: string, length: number): Uint8Array {
  const bytes = fromHex(hex)
  if (bytes.length !== length) throw new SyntaxError(`${length} bytes expected, ${bytes.length} found: ${hex.slice(0, 80)}`)
  return bytes
}

/** Encodes a JSON-RPC quantity: hex without leading zeros. */
export function toQuantity(value: number | bigint): Hex {
  return `0x${value.toString(16)}`
}
