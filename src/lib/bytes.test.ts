import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  bigintFromBytes,
  bytesFromBigint,
  compareBytes,
  concatBytes,
  equalBytes,
  latin1,
  numberFromBytes,
  padLeft,
  scalarBytes,
  trimLeft,
  u32At,
  u64Bytes,
  u64FromBytes,
} from './bytes.ts'

const bytes = fc.uint8Array({ maxLength: 40 })

it('lib/bytes: an integer round-trips through its bytes at every width', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (value) => {
      expect(bigintFromBytes(bytesFromBigint(value, 32))).toBe(value)
      expect(bigintFromBytes(scalarBytes(value))).toBe(value)
      expect(trimLeft(bytesFromBigint(value, 32))).toEqual(scalarBytes(value))
    }),
  )
})

it('lib/bytes: bytesFromBigint equals the padded hex text at a given width, or throws when the integer does not fit', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.integer({ min: 1, max: 40 }), (digits, length) => {
      const text = Buffer.from(digits).toString('hex')
      const value = BigInt(`0x${text || '0'}`)
      expect(bigintFromBytes(digits)).toBe(value)
      const made = () => Buffer.from(bytesFromBigint(value, length)).toString('hex')
      if (value >> BigInt(8 * length) === 0n) expect(made()).toBe(value.toString(16).padStart(2 * length, '0'))
      else expect(made).toThrow(RangeError)
    }),
  )
})

it('lib/bytes: compareBytes orders as the hex texts do', () => {
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      const text = (x: Uint8Array) => Buffer.from(x).toString('hex')
      const expected = text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0
      expect(Math.sign(compareBytes(a, b))).toBe(expected)
      expect(equalBytes(a, b)).toBe(expected === 0)
    }),
  )
})

it('lib/bytes: throws instead of truncating when a value does not fit', () => {
  expect(() => bytesFromBigint(256n, 1)).toThrow(RangeError)
  expect(() => bytesFromBigint(-1n, 1)).toThrow(RangeError)
  expect(() => padLeft(new Uint8Array(3), 2)).toThrow(RangeError)
  expect(() => numberFromBytes(new Uint8Array(7))).toThrow(RangeError)
  expect(() => u64FromBytes(Uint8Array.of(0, 32, 0, 0, 0, 0, 0, 0))).toThrow(RangeError)
  expect(u64FromBytes(u64Bytes(Number.MAX_SAFE_INTEGER))).toBe(Number.MAX_SAFE_INTEGER)
})

it('lib/bytes: reads a u32 at any offset, up to the highest u32', () => {
  const bytes = Uint8Array.of(9, 0xff, 0xff, 0xff, 0xfe, 0, 1)
  expect([u32At(bytes, 1), u32At(bytes, 0), u32At(bytes, 5)]).toEqual([0xffff_fffe, 0x09ff_ffff, 0x1_0000])
})

it('lib/bytes: concatBytes joins the parts in order', () => {
  expect(concatBytes(Uint8Array.of(1), new Uint8Array(0), Uint8Array.of(2, 3))).toEqual(Uint8Array.of(1, 2, 3))
  expect(padLeft(Uint8Array.of(7), 3)).toEqual(Uint8Array.of(0, 0, 7))
})

it('lib/bytes: latin1 has one character per byte, whatever the length', () => {
  for (const length of [0, 1, 33, 127, 128, 129, 1_000]) {
    const some = Uint8Array.from({ length: length + 3 }, (_, i) => (i * 37) % 256).subarray(3)
    expect(latin1(some)).toBe(Array.from(some, (byte) => String.fromCharCode(byte)).join(''))
  }
})
