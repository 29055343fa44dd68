import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fromHex, toHex } from '#lib/hex'
import { encodeRlpList, RlpError } from '#lib/rlp'
import { parseHash } from '#types/ids'
import { createReceipt } from '#types/receipt'
import { depositType } from '#types/transaction'
import { decodeBody, encodeBody, encodeReceipts } from './blocks.ts'
import {
  decodeGetHeaders,
  decodeHashes,
  decodeRange,
  decodeResponse,
  decodeStatus,
  emptyList,
  encodeGetHeaders,
  encodeHashes,
  encodeRange,
  encodeResponse,
  encodeStatus,
} from './messages.ts'

const hash = parseHash(`0x${'00'.repeat(28)}deadc0de`)
const other = parseHash(`0x${'00'.repeat(28)}feedbeef`)

/** Encodings of EIP-2481, "Test Cases", which all later versions of eth keep. */
it.each([
  ['by number', encodeGetHeaders(1_111, { origin: 9_999, amount: 5, skip: 5, isReverse: false }), '0xca820457c682270f050580'],
  [
    'by hash',
    encodeGetHeaders(1_111, { origin: hash, amount: 5, skip: 5, isReverse: false }),
    '0xe8820457e4a000000000000000000000000000000000000000000000000000000000deadc0de050580',
  ],
  [
    'of bodies',
    encodeHashes(1_111, [hash, other]),
    '0xf847820457f842a000000000000000000000000000000000000000000000000000000000deadc0dea000000000000000000000000000000000000000000000000000000000feedbeef',
  ],
  ['without headers', encodeResponse(1_111, []), '0xc4820457c0'],
])('executionPeers/eth/messages: encodes a message %s as EIP-2481 does', (_, bytes, expected) => {
  expect(toHex(bytes)).toBe(expected)
})

it('executionPeers/eth/messages: reads its requests and responses', () => {
  const query = { origin: hash, amount: 1_024, skip: 0, isReverse: true }
  expect(decodeGetHeaders(encodeGetHeaders(7, query))).toEqual({ id: 7n, query })
  expect(decodeHashes(encodeHashes(8, [hash, other]), 2)).toEqual({ id: 8n, hashes: [hash, other] })
  expect(() => decodeHashes(encodeHashes(8, [hash, other]), 1)).toThrow('more than 1 items')
  expect(decodeResponse(encodeResponse(9n, [Uint8Array.of(0xc0), Uint8Array.of(1)]), 2).items.map(toHex)).toEqual(['0xc0', '0x01'])
})

it('executionPeers/eth/messages: reads the Status of both versions', () => {
  const common = { networkId: 8_453, genesis: hash, forkId: { hash: '0xdeadbeef', next: 0xbadd_cafe } as const, latestHash: other }
  const range = { earliest: 5, latest: 9, latestHash: other }
  for (const status of [{ version: 68, ...common } as const, { version: 69, ...common, range } as const])
    expect(decodeStatus(status.version, encodeStatus(status))).toEqual(status)
  expect(decodeRange(encodeRange(range))).toEqual(range)
  expect(() => decodeRange(encodeRange({ ...range, earliest: 10 }))).toThrow('blocks from 10 to 9')
  expect(() => decodeStatus(69, encodeStatus({ version: 68, ...common }))).toThrow(RlpError)
})

it('executionPeers/eth/blocks: reads bodies of legacy and typed transactions, and refuses ommers, withdrawals and strings without a type', () => {
  const transactions = [Uint8Array.of(0xc2, 1, 2), Uint8Array.of(2, 0xc0), Uint8Array.of(depositType, 0xc0)]
  for (const withdrawalsRoot of [undefined, hash]) {
    const body = encodeBody(withdrawalsRoot === undefined ? {} : ({ withdrawalsRoot } as never), transactions)
    expect(decodeBody(body).map(toHex)).toEqual(transactions.map(toHex))
  }
  for (const wrong of ['0xc2c0c0c0', '0xc3c0c1c0', '0xc4c0c0c1c0', '0xc4c281ffc0', '0xc3c180c0', '0xc1c0', '0x80'])
    expect(() => decodeBody(fromHex(wrong))).toThrow(RlpError)
})

it('executionPeers/eth/blocks: receipts have no bloom and their type in front in eth/69', () => {
  const legacy = createReceipt({ type: 0, succeeded: true, cumulativeGasUsed: 555n, logs: [] })
  const deposit = createReceipt({
    ...{ type: depositType, succeeded: true, cumulativeGasUsed: 555n, logs: [], depositNonce: 0x7a7n, depositReceiptVersion: 1n },
  })
  expect(toHex(encodeReceipts(69, [legacy, deposit]))).toBe('0xd2c6800182022bc0ca7e0182022bc08207a701')
  const [first] = decodeResponse(encodeResponse(1, [encodeReceipts(68, [legacy])]), 1).items
  // a list of one list: status, gas, bloom of 256 bytes, logs
  expect(first?.length).toBe(3 + 3 + 1 + 3 + 259 + 1)
})

it('executionPeers/eth/messages: the items of a list instead of a request id are not read', () => {
  // an item that exceeds its list
  const id = fromHex('0xc1ff')
  const message = encodeRlpList([id, emptyList])
  for (const read of [() => decodeResponse(message, 10), () => decodeHashes(message, 10)])
    expect(read).toThrow('request id: bytes expected')
})

it('executionPeers/eth/messages: arbitrary bytes are a value or an RlpError', () => {
  const readers = [
    decodeGetHeaders,
    (b: Uint8Array) => decodeHashes(b, 10),
    (b: Uint8Array) => decodeResponse(b, 10),
    decodeRange,
    decodeBody,
  ]
  const hostile = fc.oneof(
    fc.uint8Array({ maxLength: 80 }),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Uint8Array.of(0xc0 + bytes.length, ...bytes)),
  )
  fc.assert(
    fc.property(hostile, fc.constantFrom(68, 69), (bytes, version) => {
      for (const read of [...readers, (b: Uint8Array) => decodeStatus(version as 68 | 69, b)]) {
        try {
          read(bytes)
        } catch (error) {
          if (!(error instanceof RlpError)) throw error
        }
      }
    }),
  )
})
