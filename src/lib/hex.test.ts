import { Buffer } from 'node:buffer'
import { expect, it } from 'vitest'
import { fromHex, fromHexFixed, hexAt, toHex, toQuantity } from './hex.ts'

it('lib/hex: bytes round-trip, and upper-case digits are accepted', () => {
  expect(toHex(fromHex('0x00Ff7e'))).toBe('0x00ff7e')
  expect(fromHex('0x')).toEqual(new Uint8Array(0))
})

it('lib/hex: toHex writes two digits per byte at every length, also for a view', () => {
  for (let length = 0; length <= 300; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => i + length)
    expect(toHex(bytes)).toBe(`0x${Buffer.from(bytes).toString('hex')}`)
    expect(fromHex(toHex(bytes))).toEqual(bytes)
    expect(hexAt(bytes, length >> 1, length >> 2)).toBe(toHex(bytes.slice(length >> 1, (length >> 1) + (length >> 2))))
  }
})

it.each(['', '00', '0x0', '0xzz', '0x0g', 'x00', '0x00 ', '0X00', '0x0\u0130', `0x${'0'.repeat(200)}g0`])(
  'lib/hex: fromHex rejects %j',
  (text) => {
    expect(() => fromHex(text)).toThrow(SyntaxError)
  },
)

it('lib/hex: fromHexFixed rejects a wrong length', () => {
  expect(() => fromHexFixed('0x0000', 3)).toThrow('3 bytes expected, 2 found')
})

it('lib/hex: a quantity has no leading zeros', () => {
  expect(toQuantity(0)).toBe('0x0')
  expect(toQuantity(0x10n)).toBe('0x10')
})
