import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ShapeError } from '#types/jsonShape'
import { depositType } from '#types/transaction'
import { payloadOfBlockJson } from './blockJson.ts'

type BlockJson = Record<string, unknown> & { transactions: Record<string, unknown>[] }
/** One block of each of two clients, each with deposits, contract creations and types 0 to 2. */
const recorded = JSON.parse(readFileSync('test/fixtures/l2-blocks.json', 'utf8')) as { client: string; block: BlockJson }[]
const [geth = expect.fail(), reth = expect.fail()] = recorded.map(({ block }) => block)
const refused = (json: unknown, reason: string | RegExp) => {
  expect(() => payloadOfBlockJson(json)).toThrow(ShapeError)
  expect(() => payloadOfBlockJson(json)).toThrow(reason)
}
const without = (key: string, block = reth) => Object.fromEntries(Object.entries(block).filter(([name]) => name !== key))
const withTransaction = (index: number, change: Record<string, unknown>, block = reth) => ({
  ...block,
  transactions: block.transactions.map((tx, at) => (at === index ? { ...tx, ...change } : tx)),
})

describe('engine/blockJson', () => {
  it.each(recorded)("returns the payload of a block's hash from the JSON of $client", ({ block }) => {
    const payload = payloadOfBlockJson(block)
    expect(payload.blockHash).toBe(block['hash'])
    expect(payload.blockNumber).toBe(Number(block['number']))
    expect(payload.transactions).toHaveLength(block.transactions.length)
    expect(new Set(payload.transactions.map(([type = 0]) => (type < 0xc0 ? type : 0)))).toEqual(new Set([0, 1, 2, depositType]))
  })

  it('a payload has a withdrawals root only from Isthmus on', () => {
    expect(payloadOfBlockJson(reth).withdrawalsRoot).toBe(reth['withdrawalsRoot'])
    expect(payloadOfBlockJson(geth)).toMatchObject({ withdrawals: [] })
    expect(payloadOfBlockJson(geth)).not.toHaveProperty('withdrawalsRoot')
  })

  it('accepts the variants of clients: null, absent and zero mint, false for isSystemTx, no recipient', () => {
    const expected = payloadOfBlockJson(reth)
    for (const mint of [null, undefined, '0x0']) expect(payloadOfBlockJson(withTransaction(0, { mint }))).toEqual(expected)
    expect(payloadOfBlockJson(withTransaction(0, { isSystemTx: false, nonce: undefined, v: undefined }))).toEqual(expected)
    expect(payloadOfBlockJson({ ...reth, withdrawals: null, size: undefined, unknown: { deep: [] } })).toEqual(expected)
  })

  it.each([
    ['a header field', { ...reth, gasUsed: '0x1' }, /hash is 0x/],
    ['the hash', { ...reth, hash: geth['hash'] }, /hash is 0x/],
    ['a missing header field', without('requestsHash'), /hash is 0x/],
    ['a header field without those before it', without('blobGasUsed'), /without the ones before/],
    ['the value of a transaction', withTransaction(1, { value: '0x1234' }), 'transaction 1 has another hash'],
    ['a minted amount', withTransaction(0, { mint: '0x1' }), 'transaction 0 has another hash'],
    ['the order', { ...reth, transactions: reth.transactions.toReversed() }, 'transactions root differs'],
    ['a missing transaction', { ...reth, transactions: reth.transactions.slice(1) }, 'transactions root differs'],
    ['no transactions', { ...reth, transactions: [] }, 'transactions root differs'],
    ['hashes for transactions', { ...reth, transactions: reth.transactions.map((tx) => tx['hash']) }, 'transaction is not an object'],
    ['an unsupported type', withTransaction(1, { type: '0x7d' }), 'of a type that this version'],
    ['withdrawals', { ...reth, withdrawals: [{}] }, 'withdrawals are not empty'],
    ['nothing', null, 'block is not an object'],
    ['a list', [reth], 'block is not an object'],
    ['a number too large', { ...reth, timestamp: '0xffffffffffffffff' }, 'timestamp is not a safe integer'],
    ['a number for a quantity', { ...reth, gasLimit: 30_000_000 }, 'gasLimit is not a text'],
    ['half a byte', { ...reth, extraData: '0x1' }, 'extraData is malformed'],
  ])('refuses a block with a change of %s', (_what, json, reason) => refused(json, reason))

  it('any value of a field results in a payload of the recorded hash or in an error', () => {
    const keys = fc.constantFrom(...Object.keys(reth))
    const value = fc.oneof(
      fc.jsonValue(),
      fc.string().map((text) => `0x${text}`),
      fc.bigInt({ min: 0n }).map((n) => `0x${n.toString(16)}`),
    )
    fc.assert(
      fc.property(keys, value, (key, changed) => {
        try {
          expect(payloadOfBlockJson({ ...reth, [key]: changed }).blockHash).toBe(reth['hash'])
        } catch (error) {
          expect(error).toBeInstanceOf(ShapeError)
        }
      }),
    )
  })

  it('any value in a transaction results in a payload of the recorded hash or in an error', () => {
    const keys = fc.constantFrom(...reth.transactions.flatMap((tx) => Object.keys(tx)))
    fc.assert(
      fc.property(keys, fc.nat(reth.transactions.length - 1), fc.jsonValue(), (key, index, changed) => {
        try {
          expect(payloadOfBlockJson(withTransaction(index, { [key]: changed })).blockHash).toBe(reth['hash'])
        } catch (error) {
          expect(error).toBeInstanceOf(ShapeError)
        }
      }),
    )
  })
})
