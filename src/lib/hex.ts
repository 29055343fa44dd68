import { Buffer } from 'node:buffer'

export type Hex = `0x${string}`

const pattern = /^0x(?:[0-9a-fA-F]{2})*$/

/** So many bytes at most are turned into digits, or read from them, here: what is longer is quicker in Buffer. */
const shortBytes = 64
const shortText = Buffer.alloc(2 + 2 * shortBytes)
shortText.write('0x', 'latin1')
/** Two digits at a time, as the text has them. */
const shortPairs = new Uint16Array(shortText.buffer, shortText.byteOffset, 1 + shortBytes)
const digitPairs = new Uint16Array(256)
const pairsText = Buffer.from(digitPairs.buffer)
for (let byte = 0; byte < 256; byte++) pairsText.write(byte.toString(16).padStart(2, '0'), 2 * byte, 'latin1')

/**
 * Lower-case hex with `0x`, of so many bytes from a place on. A short text is made in one piece: joined of two, it would be copied together
 * when it is first compared, hashed or read.
 */
export function hexAt(bytes: Uint8Array, from: number, count: number): Hex {
  if (count > shortBytes) return `0x${Buffer.from(bytes.buffer, bytes.byteOffset + from, count).toString('hex')}`
  for (let i = 0; i < count; i++) shortPairs[i + 1] = digitPairs[bytes[from + i] ?? 0] ?? 0
  return shortText.toString('latin1', 0, 2 + 2 * count) as Hex
}

/** Lower-case hex with `0x`. */
export function toHex(bytes: Uint8Array): Hex {
  return hexAt(bytes, 0, bytes.length)
}

const noDigit = 0xff
/** The value of each digit by its character. */
const digitValues = new Uint8Array(256).fill(noDigit)
for (const [value, digit] of Array.from('0123456789abcdef').entries()) {
  digitValues[digit.charCodeAt(0)] = value
  digitValues[digit.toUpperCase().charCodeAt(0)] = value
}

/** @param hex `0x` and twice as many characters as there are bytes. @returns undefined when one of them is no digit */
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

/** Bytes of a hex string with `0x` and an even number of digits; SyntaxError otherwise. */
export function fromHex(hex: string): Uint8Array {
  const isShort = hex.length <= 2 + 2 * shortBytes && hex.length % 2 === 0 && hex.startsWith('0x')
  const short = isShort ? shortFromHex(hex, (hex.length >> 1) - 1) : undefined
  if (short) return short
  if (!pattern.test(hex)) throw new SyntaxError(`not hex bytes: ${hex.slice(0, 80)}`)
  return new Uint8Array(Buffer.from(hex.slice(2), 'hex'))
}

/** As `fromHex`, and SyntaxError unless there are exactly `length` bytes. */
export function fromHexFixed(hex: string, length: number): Uint8Array {
  const bytes = fromHex(hex)
  if (bytes.length !== length) throw new SyntaxError(`${length} bytes expected, ${bytes.length} found: ${hex.slice(0, 80)}`)
  return bytes
}

/** JSON-RPC quantity: hex without leading zeros. */
export function toQuantity(value: number | bigint): Hex {
  return `0x${value.toString(16)}`
}
