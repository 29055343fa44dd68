import { describe, expect, it } from 'vitest'
import { dice } from '#test/harness/dice'
import { decodeLz4Block } from './lz4.ts'

const bytes = (...parts: (number | string)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...Buffer.from(part)])))
const text = (block: Uint8Array, max = 1_000): string | undefined => {
  const out = decodeLz4Block(block, max)
  return out && Buffer.from(out).toString()
}

describe('snapshot/reth/lz4: decodes by the block format', () => {
  it.each<[string, Uint8Array, string]>([
    ['literals alone', bytes(0x30, 'abc'), 'abc'],
    ['no bytes', bytes(0x00), ''],
    ['a match of the shortest length', bytes(0x40, 'abcd', 4, 0, 0x10, 'e'), 'abcdabcde'],
    ['a match that overlaps itself', bytes(0x11, 'a', 1, 0, 0x10, 'b'), 'aaaaaab'],
    ['a long run of literals', bytes(0xf0, 5, 'abcdefghijklmnopqrst'), 'abcdefghijklmnopqrst'],
    ['a long match', bytes(0x1f, 'a', 1, 0, 255, 1, 0x10, 'b'), `${'a'.repeat(1 + 4 + 15 + 256)}b`],
  ])('%s', (_, block, expected) => {
    expect(text(block)).toBe(expected)
  })

  it.each<[string, Uint8Array]>([
    ['an empty block', bytes()],
    ['literals beyond the end', bytes(0x50, 'abc')],
    ['a match without a distance', bytes(0x30, 'abc', 1)],
    ['a distance of zero', bytes(0x30, 'abc', 0, 0, 0x10, 'd')],
    ['a distance before the first byte', bytes(0x30, 'abc', 4, 0, 0x10, 'd')],
    ['a length without an end', bytes(0xf0, 255, 255)],
    ['a block that ends with a match', bytes(0x30, 'abc', 3, 0)],
    ['more bytes than allowed', bytes(0x1f, 'a', 1, 0, 255, 255, 255, 255, 1, 0x10, 'b')],
  ])('refuses %s', (_, block) => {
    expect(text(block)).toBeUndefined()
  })

  it('ends on any bytes, with at most the allowed output', () => {
    const roll = dice(4)
    const sizes = Array.from({ length: 2_000 }, () => {
      const block = Uint8Array.from({ length: roll(60) }, () => roll(roll(2) === 0 ? 256 : 20))
      return decodeLz4Block(block, 100)?.length ?? 0
    })
    expect(Math.max(...sizes)).toBeLessThanOrEqual(100)
  })
})
