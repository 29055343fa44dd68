import { Buffer } from 'node:buffer'

export type Hex = `0x${string}`

const pattern = /^0x(?:[0-9a-fA-F]{2})*$/

/** Lower-case hex with `0x`. */
export function toHex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`
}

/** Bytes of a hex string with `0x` and an even number of digits; SyntaxError otherwise. */
export function fromHex(hex: string): Uint8Array {
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
