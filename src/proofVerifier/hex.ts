import { Refusal } from './refusal.ts'

export type Hex = `0x${string}`

/** Returns the start of a foreign value as text, for a message of one line. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : String(value).slice(0, 80)
}

/** Returns the refusal of a value of another form. */
export function otherForm(value: unknown, at: string, expected: string): Refusal {
  return new Refusal('MALFORMED', at, value === undefined ? `missing, expected ${expected}` : `${shown(value)}, expected ${expected}`)
}

/** Encodes bytes as lower-case hex with `0x`. */
export function toHex(bytes: Uint8Array): Hex {
  let text = '0x'
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text as Hex
}

/** Returns the value of a hex digit, or NaN. */
const digitAt = (text: string, at: number): number => {
  const code = text.charCodeAt(at)
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN
}

/**
 * Decodes hex with `0x` and two digits for each byte. A text that is too long is refused before it is read.
 * @throws Refusal MALFORMED
 */
export function bytesOf(value: unknown, at: string, maxBytes: number): Uint8Array {
  if (typeof value !== 'string' || !value.startsWith('0x') || value.length % 2 !== 0)
    throw otherForm(value, at, '0x and an even number of hex digits')
  const length = value.length / 2 - 1
  if (length > maxBytes) throw new Refusal('MALFORMED', at, `${length} bytes, expected at most ${maxBytes}`)
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i++) {
    const byte = digitAt(value, 2 + 2 * i) * 16 + digitAt(value, 3 + 2 * i)
    if (Number.isNaN(byte))
      throw new Refusal('MALFORMED', at, `${shown(value.slice(2 + 2 * i, 4 + 2 * i))} at byte ${i}, expected two hex digits`)
    bytes[i] = byte
  }
  return bytes
}

/** Decodes hex of exactly `length` bytes. @throws Refusal MALFORMED */
export function fixedBytesOf(value: unknown, at: string, length: number): Uint8Array {
  const bytes = bytesOf(value, at, length)
  if (bytes.length !== length) throw new Refusal('MALFORMED', at, `${bytes.length} bytes, expected ${length}`)
  return bytes
}

/** Decodes a quantity of at most 32 bytes: `0x` and 1 to 64 digits; leading zeros are accepted. @throws Refusal MALFORMED */
export function quantityOf(value: unknown, at: string): bigint {
  if (typeof value !== 'string' || value.length > 66 || !/^0x[0-9a-fA-F]+$/.test(value))
    throw otherForm(value, at, '0x and 1 to 64 hex digits')
  return BigInt(value)
}

/** Encodes an integer below 2^256 as 32 bytes in hex. */
export const wordHex = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`
