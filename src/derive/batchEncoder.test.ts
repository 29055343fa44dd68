import { expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import { encodeRlp } from '#lib/rlp'
import { encodeBatch, spanBatchOf } from '#test/harness/derive/channels'
import { DeriveWorld, forksTo, userTransaction } from '#test/harness/derive/world'
import { createBatchWriter, singularBatchOf } from './batchEncoder.ts'
import { SpanTransactionWriter } from './codec/spanTransactionWriter.ts'

const world = new DeriveWorld(forksTo('jovian'))
world.mineEmpty(3)
const blocks = world.sequence(20, (number) => Array.from({ length: number % 4 }, (_, i) => userTransaction(number * 10 + i)))
const chainId = world.config.l2ChainId

it('derive/batchEncoder: the writer returns the same bytes as the batch codec', () => {
  const span = createBatchWriter(world.config, 'span')
  const singular = createBatchWriter(world.config, 'singular')
  for (const block of blocks) for (const writer of [span, singular]) writer.add(block)
  expect(toHex(span.finish())).toBe(toHex(encodeRlp(encodeBatch(spanBatchOf(world.config, blocks), chainId))))
  const each = blocks.map((block) => toHex(encodeRlp(encodeBatch(singularBatchOf(block), chainId))).slice(2))
  expect(toHex(singular.finish())).toBe(`0x${each.join('')}`)
  expect([span.blocks, span.transactions, singular.transactions]).toEqual([20, 30, 30])
  expect(singular.bytes).toBe(singular.finish().length)
  expect(Math.abs(span.bytes - span.finish().length)).toBeLessThan(120)
})

it.each(['span', 'singular'] as const)('derive/batchEncoder: refuses a channel of %s batches without blocks', (form) => {
  expect(() => createBatchWriter(world.config, form).finish()).toThrow(RangeError)
})

it('derive/batchEncoder: refuses a gap between the blocks of a span', () => {
  const writer = createBatchWriter(world.config, 'span')
  const [first, , third] = blocks
  if (!first || !third) throw new Error('no blocks')
  writer.add(first)
  expect(() => writer.add(third)).toThrow(RangeError)
})

const base = userTransaction(1)
it.each([
  ['no bytes', new Uint8Array(0)],
  ['a deposit', Uint8Array.of(0x7e, 0xc0)],
  ['a blob transaction', Uint8Array.of(0x03, 0xc0)],
  ['a list cut off', base.subarray(0, -1)],
  ['a missing field', Uint8Array.of(0x02, 0xc1, 0x80)],
  ['bytes after the list', Uint8Array.from([...base, 0])],
  ['another chain', Uint8Array.from(base).fill(0x01, 5, 6)],
])('derive/batchEncoder: refuses a span transaction with %s', (_what, raw) => {
  expect(() => new SpanTransactionWriter(chainId).add(raw)).toThrow()
})
