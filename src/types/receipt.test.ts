import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type RecordedChainName, readRecordedChain, recordedChains } from '#devnet/recordedChain'
import { concatBytes, emptyBytes, equalBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { decodeRlp, encodeRlp, RlpError, type RlpItem } from '#lib/rlp'
import { addressFromBytes, hashFromBytes, parseAddress, parseHash } from './ids.ts'
import { bloomBits, bloomBytes, bloomOf } from './log.ts'
import { createReceipt, decodeReceipt, encodeReceipt, type Receipt } from './receipt.ts'

const bloomHas = (bloom: Uint8Array, bits: readonly number[]) =>
  bits.every((bit) => ((bloom[bloomBytes - 1 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0)

const names = Object.keys(recordedChains) as RecordedChainName[]
const recorded = names.flatMap((name) => readRecordedChain(name).blocks.flatMap(({ receipts }) => receipts))
const receipts = recorded.map(decodeReceipt)
const withLogs = receipts.filter(({ logs }) => logs.length > 0)

it('types/receipt: re-encodes receipts of other clients byte for byte', () => {
  expect(receipts.length).toBeGreaterThan(500)
  expect(receipts.map(encodeReceipt).filter((bytes, at) => !equalBytes(bytes, recorded[at] ?? emptyBytes))).toEqual([])
})

it('types/receipt: the recordings contain failed transactions, every type, and deposits with nonce, with and without version', () => {
  const kinds = receipts.map(({ type, succeeded, depositNonce, depositReceiptVersion }) =>
    type === 0x7e ? `deposit ${depositNonce !== undefined} ${depositReceiptVersion}` : `${type} ${succeeded}`,
  )
  for (const kind of ['0 true', '1 true', '2 true', '2 false', '4 true', 'deposit true undefined', 'deposit true 1']) {
    expect(kinds).toContain(kind)
  }
})

it("types/log: computes the same bloom of a receipt's logs as another client", () => {
  expect(withLogs.some(({ logs }) => logs.length > 1)).toBe(true)
  expect(withLogs.filter(({ logs, logsBloom }) => !equalBytes(bloomOf(logs), logsBloom))).toEqual([])
  for (const { logsBloom, ...rest } of withLogs.slice(0, 5)) expect(createReceipt(rest).logsBloom).toEqual(logsBloom)
})

it('types/log: a recorded bloom contains each address and topic of its logs, and not a value absent from them', () => {
  const stranger = bloomBits(new TextEncoder().encode('a stranger'))
  expect(new Set(stranger).size).toBe(3)
  for (const { logs, logsBloom } of withLogs) {
    const values = logs.flatMap(({ address, topics }) => [address, ...topics])
    expect(values.filter((value) => !bloomHas(logsBloom, bloomBits(fromHex(value))))).toEqual([])
    expect(bloomHas(logsBloom, stranger)).toBe(false)
  }
})

it('types/log: counts bloom bits from the lowest bit of the last byte', () => {
  const bits = bloomBits(fromHex('0x095e7baea6a6c7c4c2dfeb977efac326af552d87'))
  const bloom = bloomOf([{ address: parseAddress('0x095e7baea6a6c7c4c2dfeb977efac326af552d87'), topics: [], data: new Uint8Array(0) }])
  const value = BigInt(toHex(bloom))
  expect(bits.reduce((sum, bit) => sum | (1n << BigInt(bit)), 0n)).toBe(value)
  const every = Array.from({ length: 2_048 }, (_, bit) => bit)
  expect(every.filter((bit) => bloomHas(bloom, [bit]))).toEqual([...bits].sort((a, b) => a - b))
})

const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const anyLog = fc.record({ address: bytesOf(20).map(addressFromBytes), topics: fc.array(bytesOf(32).map(hashFromBytes), { maxLength: 4 }) })

it("types/log: the bloom of any logs has exactly the bits of the yellow paper's definition, computed with another Keccak", () => {
  fc.assert(
    fc.property(fc.array(anyLog, { maxLength: 5 }), (each) => {
      const digests = each.flatMap(({ address, topics }) => [address, ...topics].map((value) => keccak_256(fromHex(value))))
      const places = digests.flatMap((digest) => [0, 2, 4].map((i) => BigInt(toHex(digest.subarray(i, i + 2))) % 2_048n))
      const bloom = bloomOf(each.map((log) => ({ ...log, data: emptyBytes })))
      expect(BigInt(toHex(bloom))).toBe(places.reduce((sum, place) => sum | (1n << place), 0n))
    }),
  )
})

const byzantium: Receipt = createReceipt({
  type: 0,
  succeeded: false,
  postState: fromHex(`0x${'ab'.repeat(32)}`),
  cumulativeGasUsed: 21_000n,
  logs: [{ address: parseAddress(`0x${'11'.repeat(20)}`), topics: [parseHash(`0x${'22'.repeat(32)}`)], data: Uint8Array.of(1, 2) }],
})

it('types/receipt: a receipt before Byzantium has a state root instead of a status', () => {
  expect(decodeReceipt(encodeReceipt(byzantium))).toEqual(byzantium)
  expect((decodeRlp(encodeReceipt(byzantium)) as readonly RlpItem[])[0]).toEqual(byzantium.postState)
})

const fields = decodeRlp(encodeReceipt({ ...byzantium, postState: new Uint8Array(0) })) as readonly RlpItem[]
const replaced = (at: number, item: RlpItem): Uint8Array => encodeRlp(fields.map((field, index) => (index === at ? item : field)))
const log = [fromHex(`0x${'11'.repeat(20)}`), [], new Uint8Array(0)]
const typed = (type: number, ...more: RlpItem[]): Uint8Array => concatBytes(Uint8Array.of(type), encodeRlp([...fields, ...more]))

it.each<[string, Uint8Array]>([
  ['nothing', new Uint8Array(0)],
  ['a byte string', Uint8Array.of(0x82, 1, 2)],
  ['an explicit type 0', typed(0)],
  ['a receipt without logs', encodeRlp(fields.slice(0, 3))],
  ['an extra field', typed(2, Uint8Array.of(1))],
  ['a deposit receipt with an extra field', typed(0x7e, Uint8Array.of(1), Uint8Array.of(1), Uint8Array.of(1))],
  ['a status of 2', replaced(0, Uint8Array.of(2))],
  ['a status that is a zero byte', replaced(0, Uint8Array.of(0))],
  ['a state root of 31 bytes', replaced(0, new Uint8Array(31))],
  ['gas of 9 bytes', replaced(1, new Uint8Array(9).fill(1))],
  ['a short bloom', replaced(2, new Uint8Array(255))],
  ['a log without data', replaced(3, [log.slice(0, 2)])],
  ['a log with an extra field', replaced(3, [[...log, []]])],
  ['a topic of 31 bytes', replaced(3, [[log[0] ?? [], [new Uint8Array(31)], new Uint8Array(0)]])],
])('types/receipt: decodeReceipt rejects %s', (_what, bytes) => {
  expect(() => decodeReceipt(bytes)).toThrow(RlpError)
})
