import { once } from 'node:events'
import { brotliCompressSync, constants, createBrotliCompress } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import { threadCpuMs } from '#test/harness/threadTime'
import { badMessageReasons, type DecodedMessage, decodeMessage, type FeedMessage, maxMessageBytes } from './decode.ts'

type Fields = Record<string, unknown>
const word = (digit: string): string => `0x${digit.repeat(64)}`

const base: Fields = {
  parent_beacon_block_root: word('1'),
  parent_hash: word('2'),
  fee_recipient: `0x${'42'.repeat(20)}`,
  prev_randao: word('3'),
  block_number: '0xb',
  gas_limit: '0x1c9c380',
  timestamp: '0x6b016a7b',
  extra_data: '0x01000000fa000000060000000000000000',
  base_fee_per_gas: '0x3985a57c',
}
const diff: Fields = {
  state_root: word('0'),
  receipts_root: word('4'),
  logs_bloom: `0x${'00'.repeat(256)}`,
  gas_used: '0xb436',
  block_hash: word('5'),
  transactions: ['0x7e01', '0x02f0'],
  withdrawals: [],
  withdrawals_root: word('6'),
  blob_gas_used: '0x9c40',
}
const first: Fields = { payload_id: '0x033e389bc258967D', index: 0, base, diff, metadata: { block_number: 11 } }
const { base: _, ...withoutBase } = first
const later: Fields = { ...withoutBase, index: 3 }

const bytesOf = (json: unknown): Uint8Array => Buffer.from(JSON.stringify(json))
const decode = (json: unknown): DecodedMessage => decodeMessage(bytesOf(json))
function flashblockOf(decoded: DecodedMessage): FeedMessage {
  if (decoded.kind === 'bad') throw new Error(decoded.text)
  return decoded.flashblock
}

it('flashblocks/decode: decodes flashblock 0 with all its fields', () => {
  expect(flashblockOf(decode(first))).toEqual({
    payloadId: '0x033e389bc258967d',
    index: 0,
    blockNumber: 11,
    base: {
      parentHash: word('2'),
      parentBeaconBlockRoot: word('1'),
      feeRecipient: `0x${'42'.repeat(20)}`,
      prevRandao: word('3'),
      gasLimit: 30_000_000n,
      timestamp: 0x6b016a7b,
      extraData: Uint8Array.from([1, 0, 0, 0, 0xfa, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0]),
      baseFee: 0x3985a57cn,
    },
    transactions: [Uint8Array.of(0x7e, 1), Uint8Array.of(2, 0xf0)],
    outcome: {
      stateRoot: word('0'),
      receiptsRoot: word('4'),
      logsBloom: new Uint8Array(256),
      gasUsed: 0xb436n,
      withdrawalsRoot: word('6'),
      blobGasUsed: 0x9c40n,
    },
  })
})

it('flashblocks/decode: decodes a brotli stream like its content, and ignores white space before the object', () => {
  const plain = flashblockOf(decode(first))
  expect(flashblockOf(decodeMessage(brotliCompressSync(bytesOf(first))))).toEqual(plain)
  expect(flashblockOf(decodeMessage(Buffer.concat([Buffer.from('\r\n\t '), bytesOf(first)])))).toEqual(plain)
})

/** Compresses a message as a publisher does that flushes its stream before the end. */
async function flushed(text: string, windowBits: number): Promise<Buffer> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: windowBits }
  const stream = createBrotliCompress({ params })
  const parts: Buffer[] = []
  stream.on('data', (part: Buffer) => parts.push(part))
  stream.write(text)
  await new Promise<void>((resolve) => stream.flush(() => resolve()))
  stream.end()
  await once(stream, 'end')
  return Buffer.concat(parts)
}

it.each([
  [0x09, 21],
  [0x0b, 22],
  [0x0d, 23],
])('flashblocks/decode: decodes a brotli stream whose first bytes are %i and an opening brace', async (firstByte, windowBits) => {
  const packed = await flushed(JSON.stringify(first).padEnd(2_295), windowBits)
  expect([...packed.subarray(0, 2)]).toEqual([firstByte, 0x7b])
  expect(decodeMessage(packed)).toEqual(decode(first))
})

it.each([
  [
    'v0.4.1: receipts tagged by their type, and balances',
    { block_number: 11, receipts: { [word('7')]: { Deposit: { status: '0x1' } } }, new_account_balances: {} },
  ],
  [
    'v0.5.0-rc.3: an access list too',
    { block_number: 11, receipts: {}, new_account_balances: {}, access_list: { account_changes: [], fal_hash: word('8') } },
  ],
  ['v0.8.0: the number alone', { block_number: 11 }],
  ['receipts of an unknown form', { block_number: 11, receipts: 7 }],
])('flashblocks/decode: accepts metadata of any form: %s', (_case, metadata) => {
  expect(flashblockOf(decode({ ...later, metadata })).blockNumber).toBe(11)
})

it('flashblocks/decode: takes the number from the base without metadata; a later flashblock has none', () => {
  const numberOf = (json: Fields): number | undefined => flashblockOf(decode({ ...json, metadata: undefined })).blockNumber
  expect([first, later].map(numberOf)).toEqual([11, undefined])
})

const withDiff = (changes: Fields): Fields => ({ ...first, diff: { ...diff, ...changes } })
const withBase = (changes: Fields): Fields => ({ ...first, base: { ...base, ...changes } })
it.each([
  ['a list', 'encoding', [first]],
  ['a payload id of 7 bytes', 'shape', { ...first, payload_id: '0x033e389bc25896' }],
  ['a payload id that is a number', 'shape', { ...first, payload_id: 7 }],
  ['an index that is text', 'shape', { ...first, index: '0x0' }],
  ['an index that is not a whole number', 'shape', { ...later, index: 1.5 }],
  ['an index below zero', 'shape', { ...later, index: -1 }],
  ['an index that is too large', 'shape', { ...later, index: 65_536 }],
  ['a flashblock 0 without a base', 'shape', { ...later, index: 0 }],
  ['a later flashblock with a base', 'shape', { ...first, index: 1 }],
  ['a base that is a list', 'shape', { ...first, base: [] }],
  ['no diff', 'shape', { ...first, diff: null }],
  ['two numbers', 'shape', { ...first, metadata: { block_number: 12 } }],
  ['a number that is text', 'shape', { ...later, metadata: { block_number: '0xb' } }],
  ['a parent hash of 31 bytes', 'shape', withBase({ parent_hash: word('2').slice(0, -2) })],
  ['a time above 2^53', 'shape', withBase({ timestamp: '0xffffffffffffffff' })],
  ['no gas limit', 'shape', withBase({ gas_limit: undefined })],
  ['transactions that are not a list', 'shape', withDiff({ transactions: {} })],
  ['65,537 transactions', 'shape', withDiff({ transactions: new Array(65_537).fill('0x00') })],
  ['a transaction that is a number', 'shape', withDiff({ transactions: [7] })],
  ['a transaction of an odd number of digits', 'shape', withDiff({ transactions: ['0x123'] })],
  ['a transaction without bytes', 'shape', withDiff({ transactions: ['0x'] })],
  ['a bloom of 255 bytes', 'shape', withDiff({ logs_bloom: `0x${'00'.repeat(255)}` })],
  ['gas that is a number', 'shape', withDiff({ gas_used: 7 })],
])('flashblocks/decode: refuses %s', (_case, reason, json) => {
  expect(decode(json)).toMatchObject({ kind: 'bad', reason })
})

it.each([
  ['truncated JSON', 'json', bytesOf(first).subarray(0, 100)],
  ['a hundred thousand open lists', 'json', Buffer.from(`{"a":${'['.repeat(100_000)}`)],
  ['text', 'encoding', Buffer.from('hello')],
  ['nothing', 'encoding', Buffer.from('')],
  ['truncated brotli', 'encoding', brotliCompressSync(bytesOf(first)).subarray(0, -5)],
  ['brotli of a text that is not JSON', 'json', brotliCompressSync(Buffer.from('hello'))],
  ['a small message that unpacks to a large one', 'size', brotliCompressSync(new Uint8Array(maxMessageBytes + 1))],
  ['a large message', 'size', new Uint8Array(maxMessageBytes + 1).fill(0x20)],
])('flashblocks/decode: refuses %s', (_case, reason, message) => {
  expect(decodeMessage(message)).toMatchObject({ kind: 'bad', reason })
})

const nested = (levels: number): Buffer => {
  const metadata = { block_number: 11, receipts: '#' }
  const lists = `${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}`
  return Buffer.from(JSON.stringify({ ...later, metadata }).replace('"#"', lists))
}
it('flashblocks/decode: rejects JSON that nests deeper than 32 levels, plain and as brotli, and names the limit', () => {
  expect(flashblockOf(decodeMessage(nested(32))).index).toBe(3)
  for (const message of [nested(33), brotliCompressSync(nested(33))]) {
    expect(decodeMessage(message)).toEqual({ kind: 'bad', reason: 'json', text: 'JSON of more than 32 levels or 500000 values' })
  }
})

it.each(['[]', '{}', '0', '[[[[[[[[]]]]]]]]', '{"a":0}'])('flashblocks/decode: rejects 16 MB of %s within half a second', (value) => {
  const values = `${value},`.repeat(Math.floor((maxMessageBytes - 10) / (value.length + 1)))
  const message = Buffer.from(`{"a":[${values}0]}`)
  const startMs = threadCpuMs()
  expect(decodeMessage(message)).toMatchObject({ kind: 'bad', reason: 'json', text: expect.stringContaining('values') })
  expect(threadCpuMs() - startMs).toBeLessThan(500)
})

it('flashblocks/decode: rejects 40 bytes of brotli that are 16 MB of open lists within half a second', () => {
  const bomb = brotliCompressSync(Buffer.from(`{"a":${'['.repeat(maxMessageBytes - 5)}`), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5 },
  })
  expect(bomb.length).toBeLessThan(100)
  const startMs = threadCpuMs()
  expect(decodeMessage(bomb)).toMatchObject({ kind: 'bad', reason: 'json' })
  expect(threadCpuMs() - startMs).toBeLessThan(500)
})

it('flashblocks/decode: names the field and quotes no value when it refuses a message', () => {
  expect(decode(withDiff({ gas_used: 'secret' }))).toEqual({ kind: 'bad', reason: 'shape', text: 'gas_used is not a quantity' })
})

it('flashblocks/decode: returns a flashblock or a refusal for any bytes', () => {
  const whole = bytesOf(first)
  const changed = fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 })).map(([at, byte]) => {
    const bytes = Uint8Array.from(whole)
    bytes[at] = byte
    return bytes
  })
  fc.assert(
    fc.property(
      fc.oneof(
        changed,
        fc.uint8Array(),
        fc.json().map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        const decoded = decodeMessage(bytes)
        if (decoded.kind === 'bad') expect(badMessageReasons).toContain(decoded.reason)
        else expect(toHex(decoded.flashblock.transactions[0] ?? new Uint8Array())).toMatch(/^0x/)
      },
    ),
    { numRuns: 300 },
  )
})
