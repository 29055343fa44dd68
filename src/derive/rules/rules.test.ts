import { describe, expect, it } from 'vitest'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { fromHex } from '#lib/hex'
import { headerOf } from '#test/harness/chain/headers'
import { DeriveWorld, forksTo, userTransaction } from '#test/harness/derive/world'
import type { L1Ref, L2Ref } from '#types/blockRef'
import { hashFromBytes } from '#types/ids'
import { TransactionList } from '../codec/transactionList.ts'
import type { SafeBlock } from '../ports.ts'
import type { SingularCandidate, SpanCandidate, SpanElement } from './candidate.ts'
import { maxBankBytes, maxRlpBytes } from './channelLimits.ts'
import { payloadAttributes } from './payloadAttributes.ts'
import { checkSingularBatch } from './singularBatch.ts'
import { checkSpanBatch } from './spanBatch.ts'
import { checkSpanBatchPrefix } from './spanBatchPrefix.ts'
import type { BatchContext, SafeBlocks } from './validity.ts'

const hash = (value: number): L1Ref['hash'] => hashFromBytes(new Uint8Array(32).fill(value))
/** L1 block n is at second 12 n, L2 block n at second 2 n. Block 5 of origin 0 is safe, and block 6 may be of origin 1. */
const l1 = (number: number): L1Ref => ({ number, hash: hash(100 + number), parentHash: hash(99 + number), timestamp: 1000 + 12 * number })
const l2 = (number: number, origin: number): L2Ref => ({
  number,
  hash: hash(number),
  parentHash: hash(number - 1),
  timestamp: 1000 + 2 * number,
  l1Origin: { number: origin, hash: l1(origin).hash },
  sequenceNumber: 0,
})
const base = new DeriveWorld(forksTo('granite')).config
const config: RollupConfig = {
  ...base,
  genesis: { ...base.genesis, l2TimeSec: 1000 },
  maxSequencerDriftSec: 20,
  sequencingWindowBlocks: 10,
  schedule: forksTo('ecotone'),
}
const holocene: RollupConfig = { ...config, schedule: forksTo('holocene') }
const context: BatchContext = { config, epochs: [l1(0), l1(1), l1(2), l1(3)], safe: l2(5, 0), inclusion: l1(3) }
const inHolocene: BatchContext = { ...context, config: holocene }
const list = (...transactions: readonly Uint8Array[]): TransactionList => TransactionList.of(transactions)
const own = [userTransaction(1)]
const transactions = list(...own)
const noBlocks: SafeBlocks = { read: () => undefined }

describe('derive/singularBatch', () => {
  const good: SingularCandidate = {
    kind: 'singular',
    parentHash: hash(5),
    epochNumber: 1,
    epochHash: l1(1).hash,
    timestamp: 1012,
    transactions,
  }
  const late = (seconds: number): BatchContext => ({
    ...context,
    safe: { ...context.safe, timestamp: 1010, number: 5 },
    config: { ...config, genesis: { ...config.genesis, l2TimeSec: 1000 + seconds } },
  })

  it.each<[string, string, Partial<SingularCandidate>, Partial<BatchContext>]>([
    ['the next block in the next epoch', 'accept', {}, {}],
    ['in the same epoch', 'accept', { epochNumber: 0, epochHash: l1(0).hash }, {}],
    ['no L1 block known', 'undecided', {}, { epochs: [] }],
    ['later than the next block', 'future', { timestamp: 1014 }, {}],
    ['earlier than the next block', 'drop', { timestamp: 1010 }, {}],
    ['between two blocks', 'drop', { timestamp: 1011 }, {}],
    ['on another parent', 'drop', { parentHash: hash(4) }, {}],
    ['in the last block of the window', 'accept', {}, { inclusion: l1(11) }],
    ['included after the window', 'drop', {}, { inclusion: l1(12) }],
    ['in an epoch before the current one', 'drop', { epochNumber: 0, epochHash: l1(0).hash }, { epochs: [l1(1), l1(2)] }],
    ['two epochs ahead', 'drop', { epochNumber: 2, epochHash: l1(2).hash }, {}],
    ['in an epoch that is not read yet', 'undecided', {}, { epochs: [l1(0)] }],
    ['with the epoch hash of another block', 'drop', { epochHash: l1(0).hash }, {}],
    ['before the time of its origin', 'drop', {}, { epochs: [l1(0), { ...l1(1), timestamp: 1013 }] }],
    ['with an empty transaction', 'drop', { transactions: list(new Uint8Array(0)) }, {}],
    ['with a deposit', 'drop', { transactions: list(Uint8Array.of(0x7e, 1)) }, {}],
    ['with a set-code transaction', 'drop', { transactions: list(Uint8Array.of(4, 1)) }, {}],
    ['with a transaction that execution refuses', 'accept', { transactions: list(Uint8Array.of(3, 1)) }, {}],
  ])('%s: %s', (_what, kind, batch, changes) => {
    expect(checkSingularBatch({ ...context, ...changes }, { ...good, ...batch }, noBlocks).kind).toBe(kind)
  })

  it.each<[string, string, Partial<SingularCandidate>]>([
    ['later than the next block', 'drop', { timestamp: 1014 }],
    ['earlier than the next block', 'past', { timestamp: 1010 }],
    ['earlier, with all other fields wrong', 'past', { timestamp: 1000, parentHash: hash(9), epochNumber: 9 }],
  ])('from Holocene, %s: %s', (_what, kind, batch) => {
    expect(checkSingularBatch(inHolocene, { ...good, ...batch }, noBlocks).kind).toBe(kind)
  })

  // drift 20 s, origin 0 at 1000: the block at 1020 is the last within it
  it.each<[string, string, number, Partial<SingularCandidate>, readonly L1Ref[]]>([
    ['within the drift', 'accept', 8, {}, [l1(0)]],
    ['beyond it with transactions', 'drop', 10, {}, [l1(0), { ...l1(1), timestamp: 1050 }]],
    ['beyond it and empty, before the next origin', 'accept', 10, { transactions: list() }, [l1(0), { ...l1(1), timestamp: 1050 }]],
    ['beyond it and empty, after the next origin', 'drop', 10, { transactions: list() }, [l1(0), { ...l1(1), timestamp: 1022 }]],
    ['beyond it and empty, next origin unknown', 'undecided', 10, { transactions: list() }, [l1(0)]],
  ])('%s: %s', (_what, kind, delay, changes, epochs) => {
    const batch = { ...good, epochNumber: 0, epochHash: l1(0).hash, timestamp: 1012 + delay, ...changes }
    expect(checkSingularBatch({ ...late(delay), epochs }, batch, noBlocks).kind).toBe(kind)
  })

  it('accepts an empty block in a new epoch far behind it', () => {
    const batch = { ...good, timestamp: 1062, transactions: list() }
    expect(checkSingularBatch(late(50), batch, noBlocks).kind).toBe('accept')
    expect(checkSingularBatch(late(50), { ...batch, transactions }, noBlocks).kind).toBe('drop')
  })
})

describe('derive/spanBatch', () => {
  const element = (number: number, epochNumber: number, all = transactions): SpanElement => ({
    epochNumber,
    timestamp: 1000 + 2 * number,
    transactions: all,
  })
  const spanOf = (elements: readonly SpanElement[], parent = 5, changes: Partial<SpanCandidate> = {}): SpanCandidate => {
    const [first] = elements
    const last = elements.at(-1)
    if (!first || !last) throw new Error('empty span')
    const checks = { parentCheck: fromHex(hash(parent)).subarray(0, 20), l1OriginCheck: fromHex(l1(last.epochNumber).hash).subarray(0, 20) }
    return { kind: 'span', ...checks, first, last, elements, ...changes }
  }
  const known = (...blocks: SafeBlock[]): SafeBlocks => ({ read: (number) => blocks.find(({ ref }) => ref.number === number) })
  const none = known()
  const deposit = Uint8Array.of(0x7e)
  const safe4: SafeBlock = { ref: l2(4, 0), transactions: [deposit, ...own] }
  const safe5: SafeBlock = { ref: l2(5, 0), transactions: [deposit, ...own] }
  const fresh = [element(6, 1), element(7, 1)]

  it.each<[string, string, SpanCandidate, Partial<BatchContext>]>([
    ['the next two blocks', 'accept', spanOf(fresh), {}],
    ['no L1 block known', 'undecided', spanOf(fresh), { epochs: [] }],
    ['a first epoch that is not read yet', 'undecided', spanOf(fresh), { epochs: [l1(0)] }],
    ['a last epoch that is not read yet', 'undecided', spanOf([element(6, 1), element(7, 2)]), { epochs: [l1(0), l1(1)] }],
    ['before Delta', 'drop', spanOf(fresh), { config: { ...config, schedule: forksTo('canyon') } }],
    ['Delta at the first origin', 'accept', spanOf(fresh), { config: { ...config, schedule: { ...forksTo('canyon'), delta: 1012 } } }],
    ['Delta after the first origin', 'drop', spanOf(fresh), { config: { ...config, schedule: { ...forksTo('canyon'), delta: 1013 } } }],
    ['a gap before it', 'future', spanOf([element(7, 1)], 6), {}],
    ['no new block', 'drop', spanOf([element(4, 0), element(5, 0)], 3), {}],
    ['between two blocks', 'drop', spanOf([{ ...element(6, 1), timestamp: 1011 }, element(7, 1)]), {}],
    ['not aligned with the overlap', 'drop', spanOf([{ ...element(4, 0), timestamp: 1009 }, element(7, 1)], 4), {}],
    ['another parent', 'drop', spanOf(fresh, 4), {}],
    ['in the last block of the window', 'accept', spanOf(fresh), { inclusion: l1(11) }],
    ['after the window', 'drop', spanOf(fresh), { inclusion: l1(12) }],
    ['a first epoch too far ahead', 'drop', spanOf([element(6, 2), element(7, 2)]), {}],
    ["a first epoch before the parent's", 'drop', spanOf([element(6, -1), element(7, 1)]), {}],
    ['the hash of another last origin', 'drop', spanOf(fresh, 5, { l1OriginCheck: new Uint8Array(20) }), {}],
    ['a block before its origin', 'drop', spanOf([element(6, 1), element(7, 2)]), {}],
    ['a deposit in the second block', 'drop', spanOf([element(6, 1), element(7, 1, list(deposit))]), {}],
    ['an empty transaction', 'drop', spanOf([element(6, 1), element(7, 1, list(new Uint8Array(0)))]), {}],
  ])('%s: %s', (_what, kind, span, changes) => {
    expect(checkSpanBatch({ ...context, ...changes }, span, none).kind).toBe(kind)
  })

  it('needs the overlapped safe blocks, and compares them', () => {
    const span = spanOf([element(5, 0), ...fresh], 4)
    expect(checkSpanBatch(context, span, none)).toEqual({ kind: 'need', l2Number: 4 })
    expect(checkSpanBatch(context, span, known(safe4))).toEqual({ kind: 'need', l2Number: 5 })
    expect(checkSpanBatch(context, span, known(safe4, safe5)).kind).toBe('accept')
  })

  it.each<[string, SpanElement, SafeBlock]>([
    ['fewer transactions', element(5, 0, list()), safe5],
    ['other transactions', element(5, 0, list(userTransaction(2))), safe5],
    ['another origin', element(5, 0), { ...safe5, ref: l2(5, 1) }],
  ])('drops an overlapped block with %s', (_what, first, safe) => {
    expect(checkSpanBatch(context, spanOf([first, ...fresh], 4), known(safe4, safe)).kind).toBe('drop')
  })

  it('accepts overlapped blocks in an epoch before the current one', () => {
    const span = spanOf([element(5, 0), ...fresh], 4)
    expect(checkSpanBatch({ ...context, epochs: context.epochs.slice(1) }, span, known(safe4, safe5)).kind).toBe('accept')
  })

  it.each<[string, string, readonly number[]]>([
    ['when each has the next origin', 'accept', [1, 2]],
    ['when the second keeps its origin although the next is available', 'drop', [1, 1]],
  ])('empty blocks far ahead of L1, %s: %s', (_what, kind, origins) => {
    const span = spanOf(
      origins.map((origin, i) => element(30 + i, origin, list())),
      29,
    )
    expect(checkSpanBatch({ ...context, safe: l2(29, 0) }, span, none).kind).toBe(kind)
  })

  it('drops a span with the first block of the chain, which has no block before its parent', () => {
    const span = spanOf([element(0, 0), element(6, 1)], 0)
    expect(checkSpanBatch(context, span, none)).toMatchObject({ kind: 'drop' })
  })

  // drift 20 s, origin 0 at 1000; L1 block 1 is at 1032
  const slow = {
    ...context,
    safe: l2(9, 0),
    epochs: [l1(0), { ...l1(1), timestamp: 1032 }, { ...l1(2), timestamp: 1100 }],
    inclusion: l1(2),
  }
  const run = (from: number, to: number, epochOf: (number: number) => number, late: TransactionList): SpanCandidate =>
    spanOf(
      Array.from({ length: to - from + 1 }, (_, i) => element(from + i, epochOf(from + i), from + i > 10 ? late : transactions)),
      from - 1,
    )

  it.each<[string, string, SpanCandidate, readonly L1Ref[]]>([
    ['empty blocks until the next origin', 'accept', run(10, 16, (number) => (number < 16 ? 0 : 1), list()), slow.epochs],
    ['transactions beyond the drift', 'drop', run(10, 16, (number) => (number < 16 ? 0 : 1), transactions), slow.epochs],
    ['empty blocks beyond the next origin', 'drop', run(10, 16, () => 0, list()), slow.epochs],
    ['next origin unknown', 'undecided', run(10, 14, () => 0, list()), slow.epochs.slice(0, 1)],
  ])('drift, %s: %s', (_what, kind, span, epochs) => {
    expect(checkSpanBatch({ ...slow, epochs }, span, none).kind).toBe(kind)
  })

  it.each<[string, string, SpanCandidate]>([
    ['a gap before it', 'drop', spanOf([element(7, 1)], 6)],
    ['no new block', 'past', spanOf([element(4, 0), element(5, 0)], 9)],
    ['a first epoch too far ahead', 'drop', spanOf([element(6, 2), element(7, 2)])],
    ['new blocks', 'fits', spanOf(fresh)],
    ['blocks that are judged later', 'fits', spanOf([element(6, 1), element(7, 1, list(deposit))])],
  ])('the prefix from Holocene, %s: %s', (_what, kind, span) => {
    expect(checkSpanBatchPrefix(inHolocene, span, none).kind).toBe(kind)
  })
})

it('derive/payloadAttributes: of more transactions than the gas limit allows, the first ones, enough that execution refuses the block', () => {
  const epoch = { ...l1(0), header: headerOf({ number: 0, timestamp: 1000 }), deposits: [], configReceipts: [] }
  const systemConfig = { ...config.genesis.systemConfig, gasLimit: 100_000n }
  const written = (raws: readonly Uint8Array[]): readonly Uint8Array[] => {
    const attributes = payloadAttributes(config, { ref: l2(5, 0), systemConfig }, epoch, list(...raws))
    return typeof attributes === 'string' ? [] : attributes.transactions.slice(1)
  }
  const raws = Array.from({ length: 9 }, (_, i) => Uint8Array.of(2, i))
  expect(written(raws.slice(0, 4))).toEqual(raws.slice(0, 4))
  expect(written(raws)).toEqual(raws.slice(0, 5))
})

it('derive/channelLimits: grows the limits tenfold with Fjord, by the time of the L1 block', () => {
  const at = { ...config, schedule: { ...forksTo('ecotone'), fjord: 1012 } }
  expect([l1(0), l1(1)].map((block) => maxRlpBytes(at, block))).toEqual([10_000_000, 100_000_000])
  expect([l1(0), l1(1)].map((block) => maxBankBytes(at, block))).toEqual([100_000_000, 1_000_000_000])
})
