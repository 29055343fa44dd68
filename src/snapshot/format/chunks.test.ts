import { expect, it } from 'vitest'
import { encodeRlp, encodeRlpList, RlpError } from '#lib/rlp'
import { l2Headers } from '#test/harness/trust/l2Headers'
import { encodeHeader, type Header } from '#types/header'
import { FormatError } from './byteReader.ts'
import { decodeBlocks, encodeBlocks, valueRowsOf } from './chunks.ts'

const [header] = l2Headers(1, 1, 1_700_000_000) as [Header]
const emptyLists = (count: number): Uint8Array => encodeRlpList(Array.from({ length: count }, () => Uint8Array.of(0xc0)))
const blockOf = (...parts: readonly Uint8Array[]): Uint8Array => encodeRlpList([encodeRlpList(parts)])

it('format/chunks: blocks are read as they are written, with and without transactions and receipts', () => {
  const [transactions, receipts] = [
    [new Uint8Array(62).fill(1), new Uint8Array(70_000).fill(2)],
    [new Uint8Array(264).fill(3), new Uint8Array(300).fill(4)],
  ]
  const blocks = [
    { header, transactions: undefined, receipts: undefined },
    { header, transactions, receipts: undefined },
    { header, transactions: [], receipts: [] },
    { header, transactions, receipts },
  ]
  expect(decodeBlocks(encodeBlocks(blocks))).toEqual(blocks)
})

it.each<[string, Uint8Array, string]>([
  ['blocks', emptyLists(40_000), 'blocks: more than 32768 items'],
  ['parts of a block', encodeRlpList([emptyLists(1_000)]), 'block: more than 3 items'],
  ['lists in a header', blockOf(encodeRlp(emptyLists(5_000))), 'a string of at most 4096 bytes is expected'],
  [
    'lists instead of transactions',
    blockOf(encodeRlp(encodeHeader(header)), encodeRlpList([emptyLists(1_000)]), Uint8Array.of(0xc0)),
    'list: more than 31 items',
  ],
  ['lists of receipts', blockOf(encodeRlp(encodeHeader(header)), Uint8Array.of(0xc0), emptyLists(1_000)), 'part: more than 1 items'],
])('format/chunks: refuses many %s before there is an object for each', (_, raw, reason) => {
  expect(() => decodeBlocks(raw)).toThrow(new RlpError(reason))
})

it.each<[string, Uint8Array, string]>([
  ['rows of values without bytes', new Uint8Array(2 ** 20), 'it has values of 0 bytes'],
  ['rows of values', Buffer.alloc(8 * 40_000, '0000000400000000', 'hex'), 'it has values of more than 32768 blocks'],
])('format/chunks: refuses many %s before there is an object for each', (_, raw, reason) => {
  expect(() => valueRowsOf(raw)).toThrow(new FormatError(reason))
})
