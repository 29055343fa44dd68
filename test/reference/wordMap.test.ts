import fc from 'fast-check'
import { expect, it } from 'vitest'
import { nameOf, WordMap, WordSet } from './wordMap.ts'

const anyWord = fc.bigInt(0n, 2n ** 256n - 1n)

it('reference/wordMap: distinct words are distinct entries', () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyWord, { maxLength: 40 }), anyWord, (words, other) => {
      const map = new WordMap<number>()
      const set = new WordSet()
      for (const [i, word] of words.entries()) {
        map.set(word, i)
        set.add(word)
      }
      expect(words.map((word) => map.get(word))).toEqual([...words.keys()])
      expect([...map.values()]).toEqual([...words.keys()])
      expect(words.every((word) => set.has(word))).toBe(true)
      if (!words.includes(other)) expect([map.get(other), set.has(other)]).toEqual([undefined, false])
    }),
  )
})

it.each([0n, 32n, 64n, 128n, 192n, 240n])(
  'reference/wordMap: words that differ only from bit %i on get names that differ in the low 64 bits',
  (bit) => {
    const low = Array.from({ length: 4_096 }, (_, i) => BigInt.asUintN(64, nameOf(BigInt(i) << bit)))
    expect(new Set(low).size).toBe(low.length)
  },
)
