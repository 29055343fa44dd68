import { expect, it } from 'vitest'
import { CacheSet } from '#lib/caches'
import { account, type FakeBlock, fakeChain, topic } from '#test/harness/rpc/fakes'
import type { ChainView } from '#types/chainView'
import { blockResult } from '../results/block.ts'
import { logText } from '../results/log.ts'
import { receiptText } from '../results/receipt.ts'
import { transactionText } from '../results/transaction.ts'
import { createBlockCache, type DecodedBlock } from './blockCache.ts'

const log = (emitter: number) => ({ address: account(emitter), topics: [topic(emitter)], data: Uint8Array.of(emitter) })
/** Transactions with increasing numbers of logs. */
const blockOf = (transactions: number): FakeBlock =>
  Array.from({ length: transactions }, (_, at) => Array.from({ length: at }, (_log, emitter) => log(emitter)))
const chain = fakeChain([[], blockOf(20), []])

function read(number: number, cache = createBlockCache(new CacheSet({ blocks: 1_000_000 }))): DecodedBlock {
  using view = chain.view()
  return cache.read(view, chain.blocks[number]?.hash ?? expect.fail()) ?? expect.fail()
}
const indexes = Array.from({ length: 20 }, (_, index) => index)

it('rpc/cache/blockText: kept parts equal parts that are encoded singly', () => {
  const block = read(1)
  expect(String(block.text.receipts())).toBe(`[${indexes.map((index) => receiptText(block.receipt(index) ?? expect.fail())).join(',')}]`)
  const full = {
    hash: block.of.hash,
    block: block.of.block,
    sizeBytes: 0,
    transactions: { kind: 'full', full: block.transactions() },
  } as const
  const withoutSize = (text: string) => text.replace(/"size":"0x[\da-f]+"/, '')
  expect(withoutSize(String(block.text.block('full')))).toBe(withoutSize(blockResult.text(full)))
  expect(JSON.parse(String(block.text.block('hashes')))).toMatchObject({ hash: block.of.hash, transactions: block.hashes() })
})

it('rpc/cache/blockText: a block without transactions has empty lists', () => {
  const { text } = read(2)
  expect([String(text.receipts()), text.logs().matching({ addresses: new Set(), topics: [] }).length]).toEqual(['[]', 0])
  expect(JSON.parse(String(text.block('full')))).toMatchObject({ transactions: [] })
  expect([text.transaction(0), text.receipt(0)]).toEqual([undefined, undefined])
})

it('rpc/cache/blockText: keeps no more memory than it counts', () => {
  const { text } = read(1)
  const kept = [text.block('hashes'), text.block('full'), text.receipts()].flatMap((list) =>
    [...list.pieces()].filter(({ length }) => length > 1),
  )
  const memory = new Set(kept.map(({ buffer }) => buffer))
  const bytes = [...memory].reduce((sum, { byteLength }) => sum + byteLength, 0)
  expect(bytes).toBeGreaterThan(10_000)
  expect(bytes).toBeLessThanOrEqual(text.sizeBytes)
})

it('rpc/cache/blockText: single parts are equal before and after all are kept', () => {
  const block = read(1)
  const { text } = block
  const fresh = read(1)
  for (const [kind, all] of [
    ['transaction', () => text.block('full')],
    ['receipt', () => text.receipts()],
  ] as const) {
    const first = indexes.map((index) => text[kind](index))
    expect(indexes.map((index) => text[kind](index))).toEqual(first)
    expect([text[kind](20), text[kind](99)]).toEqual([undefined, undefined])
    const whole = String(all())
    for (const single of first) expect(whole).toContain(single)
    expect(indexes.map((index) => text[kind](index))).toEqual(first)
    expect([text[kind](20), text[kind](99)]).toEqual([undefined, undefined])
  }
  fresh.text.block('full')
  fresh.text.receipts()
  expect(block.text.sizeBytes, 'memory after single parts and all').toBe(fresh.text.sizeBytes)
  expect(block.of.hash).toBe(fresh.of.hash)
  expect(text.receipt(7)).toBe(receiptText(fresh.receipt(7) ?? expect.fail()))
  expect(text.transaction(7)).toBe(transactionText(fresh.transaction(7) ?? expect.fail()))
  expect(text.receipt(7)).toContain(logText({ ...placed(fresh), log: log(0), logIndex: 21 }))
})

const placed = (block: DecodedBlock) => ({ block: block.place, transactionHash: block.hashAt(7), transactionIndex: 7 })

const emptyView = { block: () => undefined, header: () => undefined } as unknown as ChainView

it('rpc/cache/blockCache: counts parts that are made later, and evicts other blocks', () => {
  const alone = read(1)
  const bytes = alone.sizeBytes
  alone.text.receipts()
  expect(alone.sizeBytes).toBeGreaterThan(bytes + 10_000)
  const cache = createBlockCache(new CacheSet({ blocks: alone.sizeBytes + read(2).sizeBytes - 1 }))
  const other = read(2, cache)
  const grows = read(1, cache)
  const kept = ({ of }: DecodedBlock) => cache.pass(emptyView, of.hash)
  expect(kept(other)).toBe(other)
  grows.text.receipts()
  expect([kept(grows), kept(other)]).toEqual([grows, undefined])
})
