import fc from 'fast-check'
import { RLP } from 'micro-eth-signer/core/rlp.js'
import { expect, it } from 'vitest'
import { fromHex, toHex } from './hex.ts'
import { decodeRlp, decodeRlpPrefix, encodeRlp, encodeRlpList, RlpError, type RlpItem, rlpBigint, rlpNumber, rlpScalar } from './rlp.ts'

const { item } = fc.letrec<{ item: RlpItem }>((tie) => ({
  item: fc.oneof({ depthSize: 'small' }, fc.uint8Array({ maxLength: 70 }), fc.array(tie('item'), { maxLength: 6 })),
}))

it('lib/rlp: encodes as another implementation does, and round-trips', () => {
  fc.assert(
    fc.property(item, (value) => {
      const encoded = encodeRlp(value)
      expect(toHex(encoded)).toBe(toHex(RLP.encode(value as never)))
      expect(decodeRlp(encoded)).toEqual(value)
    }),
  )
})

it('lib/rlp: arbitrary bytes either decode to an item that re-encodes to them, or throw RlpError', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      try {
        expect(toHex(encodeRlp(decodeRlp(bytes)))).toBe(toHex(bytes))
      } catch (error) {
        expect(error).toBeInstanceOf(RlpError)
      }
    }),
    { numRuns: 2_000 },
  )
})

it.each([
  ['nothing', '0x'],
  ['a single byte with a length', '0x8101'],
  ['a short string in the long form', '0xb801ff'],
  ['a length with a leading zero', '0xb90001ff'],
  ['a cut string', '0x82ff'],
  ['a cut list', '0xc2ff'],
  ['an item beyond its list', '0xc182ffff'],
  ['bytes after the item', '0x8080'],
  ['a length of eight bytes', '0xbfffffffffffffffff'],
])('lib/rlp: rejects %s', (_what, hex) => {
  expect(() => decodeRlp(fromHex(hex))).toThrow(RlpError)
})

it('lib/rlp: rejects deep nesting instead of overflowing the stack', () => {
  let nested = encodeRlp([])
  for (let i = 0; i < 200; i++) nested = encodeRlpList([nested])
  expect(() => decodeRlp(nested)).toThrow('nested too deeply')
})

it('lib/rlp: decodes a stream of items one by one', () => {
  const stream = fromHex('0x01820102c103')
  const first = decodeRlpPrefix(stream, 0)
  const second = decodeRlpPrefix(stream, first.next)
  expect([toHex(first.item as Uint8Array), toHex(second.item as Uint8Array), second.next]).toEqual(['0x01', '0x0102', 4])
})

it('lib/rlp: rejects scalars with leading zeros or above their width', () => {
  expect(rlpBigint(rlpScalar(2n ** 64n - 1n), 'x', 8)).toBe(2n ** 64n - 1n)
  expect(rlpScalar(0)).toEqual(new Uint8Array(0))
  expect(toHex(rlpScalar(0x1234))).toBe('0x1234')
  expect(() => rlpBigint(Uint8Array.of(0), 'x')).toThrow('leading zero')
  expect(() => rlpBigint(new Uint8Array(9).fill(1), 'x', 8)).toThrow('more than 8 bytes')
  expect(() => rlpNumber(fromHex('0x20000000000000'), 'x')).toThrow('not a safe integer')
})
