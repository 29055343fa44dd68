import { expect, it } from 'vitest'
import { type RecordedChainName, readRecordedChain, recordedChains } from '#devnet/recordedChain'
import { decodeRlp, encodeRlp, RlpError, type RlpItem } from '#lib/rlp'
import { decodeWholeBlock } from '#test/ethereum/wholeBlock'
import { decodeBlock, encodeBlock, encodedBlockSize } from './block.ts'
import { hashHeader } from './header.ts'
import { zeroAddress } from './ids.ts'

const names = Object.keys(recordedChains) as RecordedChainName[]
const chains = new Map(names.map((name) => [name, readRecordedChain(name).blocks]))
const raws = names.flatMap((name) => chains.get(name)?.map(({ raw }) => raw) ?? [])
const fieldsOf = (raw: Uint8Array): readonly RlpItem[] => decodeRlp(raw) as readonly RlpItem[]
/** A block before Canyon and one from Canyon on, each with a signed transaction. */
const bedrock = raws.find((raw) => fieldsOf(raw).length === 3 && decodeBlock(raw).transactions.length > 1) ?? new Uint8Array(0)
const canyon = raws.find((raw) => fieldsOf(raw).length === 4 && decodeBlock(raw).transactions.length > 1) ?? new Uint8Array(0)

it.each(names)('types/block: %s: decodes blocks of another client to their hash and re-encodes them byte for byte', (name) => {
  for (const { raw, hash } of chains.get(name) ?? []) {
    const block = decodeBlock(raw)
    expect(hashHeader(block.header)).toBe(hash)
    expect(encodeBlock(block)).toEqual(raw)
    expect(encodedBlockSize(block)).toBe(raw.length)
  }
})

it('types/block: encodedBlockSize equals the encoded length, also where the length prefix grows', () => {
  const block = decodeBlock(canyon)
  for (const length of [0, 1, 55, 56, 57, 255, 256, 65_535, 65_536, 70_000]) {
    for (const type of [2, 0x7e]) {
      const sized = { ...block, transactions: [new Uint8Array(length).fill(type), Uint8Array.of(0xc1, 1)] }
      expect(encodedBlockSize(sized)).toBe(encodeBlock(sized).length)
    }
  }
})

it('types/block: encodes legacy transactions as lists and typed ones as byte strings; the recordings contain both', () => {
  const types = new Set(raws.flatMap((raw) => decodeBlock(raw).transactions.map((bytes) => Math.min(bytes[0] ?? 0, 0xc0))))
  expect([...types].sort((a, b) => a - b)).toEqual([1, 2, 4, 0x7e, 0xc0])
})

it('types/block: decodeWholeBlock keeps ommers and withdrawals, and reads one block of several', () => {
  const block = decodeBlock(canyon)
  const withdrawals = [{ index: 1n, validatorIndex: 2n ** 64n - 1n, address: zeroAddress, amountGwei: 100n }]
  const whole = { ...block, ommers: [block.header, decodeBlock(bedrock).header], withdrawals }
  const bytes = encodeBlock(whole)
  expect(encodedBlockSize(whole)).toBe(bytes.length)
  expect(() => decodeBlock(bytes)).toThrow('block with ommers')
  const file = new Uint8Array([...bytes, ...bedrock])
  const first = decodeWholeBlock(file, 0)
  expect(first).toEqual({ block: whole, next: bytes.length })
  expect(decodeWholeBlock(file, first.next)).toEqual({ block: { ...decodeBlock(bedrock), ommers: [] }, next: file.length })
  expect(() => decodeWholeBlock(file.subarray(0, -1), first.next)).toThrow(RlpError)
})

const [header = [], transactions = []] = fieldsOf(canyon)
const [oldHeader = [], oldTransactions = []] = fieldsOf(bedrock)

it.each<[string, RlpItem]>([
  ['no list', Uint8Array.of(1)],
  ['an empty list', []],
  ['a header alone', [header]],
  ['a block without ommers', [header, transactions]],
  ['a block with an ommer', [header, transactions, [header], []]],
  ['a block with a withdrawal', [header, transactions, [], [[]]]],
  ['a block without the withdrawals that its header announces', [header, transactions, []]],
  ['a block with withdrawals but no withdrawals root', [oldHeader, oldTransactions, [], []]],
  ['a block with an extra field', [header, transactions, [], [], []]],
  ['a legacy transaction in a byte string', [header, [encodeRlp([Uint8Array.of(1)])], [], []]],
  ['an empty transaction', [header, [new Uint8Array(0)], [], []]],
])('types/block: rejects %s', (_what, item) => {
  expect(() => decodeBlock(encodeRlp(item))).toThrow(RlpError)
})
