import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ByteList, ByteWriter } from './byteList.ts'

const piece = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 50 }),
  fc.integer({ min: 0, max: 40_000 }).map((length) => 'x'.repeat(length)),
)

it('rpc/results/byteList: contains the written bytes, of copied and of shared pieces', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(piece, fc.boolean())), (written) => {
      const writer = new ByteWriter()
      for (const [text, isAscii] of written) {
        if (isAscii) writer.ascii(text)
        else writer.bytes(Buffer.from(`<${text}>`), 1, text.length + 1)
      }
      const all = written.map(([text]) => text).join('')
      expect(writer.length).toBe(all.length)
      const list = writer.finish()
      expect([String(list), list.length]).toEqual([all, all.length])
    }),
  )
})

it('rpc/results/byteList: a long list has few blocks, and a short one a small block', () => {
  const listOf = (lines: number): ByteList => {
    const writer = new ByteWriter()
    for (let line = 0; line < lines; line++) writer.ascii('x'.repeat(1_000))
    return writer.finish()
  }
  expect([...listOf(8_000).pieces()].length).toBeLessThan(16)
  expect([...listOf(1).pieces()][0]?.buffer.byteLength).toBeLessThan(40_000)
})

it('rpc/results/byteList: does not copy a long piece', () => {
  const long = Buffer.alloc(20_000, 'a')
  const writer = new ByteWriter()
  writer.ascii('[')
  writer.bytes(long)
  writer.ascii(']')
  const pieces = [...writer.finish().pieces()]
  expect(pieces.map(({ length }) => length)).toEqual([1, 20_000, 1])
  expect(pieces[1]?.buffer).toBe(long.buffer)
})

it('rpc/results/byteList: between counts the added text in bytes', () => {
  const around = new ByteList([Buffer.from('b')]).between('é', '!')
  expect([String(around), around.length]).toEqual(['éb!', 4])
})

it('rpc/results/byteList: a lazy chunk is encoded when its turn comes, each time', () => {
  const encoded: string[] = []
  const chunkOf = (text: string) => ({
    length: text.length,
    encode: () => {
      encoded.push(text)
      return Buffer.from(text)
    },
  })
  const writer = new ByteWriter()
  writer.ascii('[')
  writer.lazy(chunkOf('1,'))
  writer.lazy(chunkOf('2'))
  writer.ascii(']')
  const list = writer.finish().between('<', '>')
  expect([list.length, list.isLazy, encoded]).toEqual([7, true, []])
  const pieces = list.pieces()
  expect([pieces.next(), pieces.next(), pieces.next()].map(({ value }) => String(value))).toEqual(['<', '[', '1,'])
  expect(encoded).toEqual(['1,'])
  expect(String(list)).toBe('<[1,2]>')
  expect(encoded).toEqual(['1,', '1,', '2'])
})
