import { afterEach, expect, it } from 'vitest'
import type { ParentBlock } from '#block/execution/executeBlock'
import { ExecutionGuard } from '#block/execution/executionGuard'
import { ExecutionWatch } from '#block/execution/executionWatch'
import { createSenders } from '#block/execution/senders'
import { createExecution, type Execution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { createWasmEvm } from '#evm/wasmEvm'
import { silentLog } from '#lib/log'
import { createMemoryJournal } from '#store/memoryJournal'
import { accountOf, attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createManualClock, settle } from '#test/harness/clock'
import { testAddress } from '#test/harness/evm/sessions'
import { flashblocksOf } from '#test/harness/flashblocks/flashblocks'
import { takeNext } from '#test/harness/flashblocks/takeNext'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { BlockId } from '#types/blockRef'
import type { Flashblock } from '#types/flashblock'
import type { Payload } from '#types/payload'
import type { FlashblockLocation } from '#types/pendingBlock'
import { hashTransaction } from '#types/transaction'
import { PendingChain } from './pendingChain.ts'
import { maxPendingBlocks } from './pendingPort.ts'

const denimSec = 2 ** 40
const schedule = scheduleTo('jovian', { denim: denimSec })
const { genesis, config } = smallChain(schedule)
const genesisId: BlockId = config.genesis.l2
const evm = createWasmEvm()
type Segments = NonNullable<Parameters<typeof createMemoryJournal>[0]>
const target = testAddress(0x77)
const nonce = { alice: 0n, bob: 0n }

const opened: Execution[] = []
afterEach(async () => {
  for (const execution of opened.splice(0)) if (execution !== maker) await execution.close()
})

function open(segments: Segments = new Map(), kv = createMemoryKv()) {
  const journal = createMemoryJournal(segments)
  const clock = createManualClock()
  const execution = createExecution({ kv, journal, evm, config, genesis: () => genesis, clock, log: silentLog })
  opened.push(execution)
  const setUnsafe = async (payload: Payload): Promise<void> =>
    execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, payload) })
  const seal = async (payload: Payload): Promise<void> => {
    expect(await execution.insert(payload)).toEqual({ kind: 'valid' })
    await setUnsafe(payload)
  }
  const take = (flashblock: Flashblock | undefined, freshMs = 4_000) =>
    takeNext(execution, flashblock as Flashblock, clock.nowMs() + freshMs)
  return { execution, clock, segments, kv, seal, take, setUnsafe }
}

/** Builds blocks one on another, with alice's transfers to the target, and their flashblocks. */
async function makeBlocks(counts: readonly number[], branch = 0) {
  const { execution: maker } = open()
  const payloads: Payload[] = []
  nonce.alice = 0n
  for (const [i, count] of counts.entries()) {
    const parent = payloads.at(-1)
    const transactions = Array.from({ length: count }, () => signedBy('alice', { nonce: nonce.alice++ }))
    const on = parent ? { number: parent.blockNumber, hash: parent.blockHash } : genesisId
    const built = await maker.build(on, attributesAt(schedule, i + 1, transactions, branch))
    if (built.kind === 'invalid') throw new Error(built.reason)
    payloads.push(built.payload)
  }
  const told = payloads.map((payload) => flashblocksOf(maker, payload, [1, 2].slice(0, payload.transactions.length - 1)))
  return { maker, payloads, told }
}

/** Reads the pending blocks of a view, and the balance of the target there. */
function shown(execution: Execution) {
  using view = execution.view()
  const { latest, pending, unsealed = [] } = view.heads
  const at = pending ?? latest
  return {
    latest: latest.number,
    pending: pending?.number,
    blocks: unsealed.map(({ hash }) => view.block(hash)?.block.transactions.length),
    balance: view.state(at)?.account(target)?.balance ?? 0n,
  }
}

const changed = (flashblock: Flashblock | undefined, changes: Partial<Flashblock>): Flashblock => ({
  ...(flashblock as Flashblock),
  ...changes,
})

const { maker, payloads, told } = await makeBlocks([3, 2, 2, 2])
const [first, second, third] = payloads as [Payload, Payload, Payload]

it('pending/pendingChain: extends one block by flashblocks, and its state is that of the flashblocks so far', async () => {
  const { execution, take } = open()
  expect(shown(execution)).toEqual({ latest: 0, pending: undefined, blocks: [], balance: 0n })
  const sizes = [1, 2, 4]
  for (const [i, flashblock] of (told[0] ?? []).entries()) {
    expect(await take(flashblock)).toEqual({ kind: 'taken', gasUsed: flashblock.outcome.gasUsed })
    expect(shown(execution)).toEqual({ latest: 0, pending: 1, blocks: [sizes[i]], balance: BigInt((sizes[i] ?? 0) - 1) })
  }
  using view = execution.view()
  const id = view.heads.pending as BlockId
  expect(view.header(id.hash)).toMatchObject({ parentHash: genesisId.hash, number: 1, gasUsed: first.gasUsed })
  expect(view.receipts(id.hash)?.map(({ receipt }) => receipt)).toEqual(
    maker
      .view()
      .receipts(first.blockHash)
      ?.map(({ receipt }) => receipt),
  )
  expect(view.transaction(hashTransaction(first.transactions[2] as Uint8Array))).toEqual({ block: id, index: 2 })
  expect(view.canonicalHash(1)).toBeUndefined()
  expect(view.parent(id.hash)?.state.view.blockHash(1)).toBeUndefined()
})

it('pending/pendingChain: builds a block on a pending parent, and BLOCKHASH returns the real hash of that parent', async () => {
  const { execution, take } = open()
  for (const flashblock of told.slice(0, 2).flat()) expect(await take(flashblock)).toMatchObject({ kind: 'taken' })
  expect(shown(execution)).toMatchObject({ latest: 0, pending: 2, blocks: [4, 3], balance: 5n })
  using view = execution.view()
  const id = view.heads.pending as BlockId
  const below = view.block(first.blockHash)
  expect([below?.hash, below?.block.transactions]).toEqual([view.heads.unsealed?.[0]?.hash, first.transactions])
  expect(view.parent(id.hash)?.state.view.blockHash(1)).toBe(first.blockHash)
  expect(view.parent(first.blockHash)?.header.number).toBe(1)
})

it('pending/pendingChain: gives roots and proofs of a pending state that equal those of the sealed block', async () => {
  const { execution, take } = open()
  for (const flashblock of told.slice(0, 3).flat()) await take(flashblock)
  using view = execution.view()
  using sealed = maker.view()
  const [pending, known] = [view.state(view.heads.pending as BlockId), sealed.state({ number: 3, hash: third.blockHash })]
  expect(pending?.prove(target, [])).toEqual(known?.prove(target, []))
  const accounts = [target, accountOf('alice'), testAddress(0xfe)]
  expect(accounts.map((address) => ({ ...pending?.account(address) }))).toEqual(accounts.map((address) => known?.account(address)))
})

it('pending/pendingChain: seals a block from its flashblocks, and keeps the blocks above it', async () => {
  const { execution, take, seal } = open()
  for (const flashblock of told.slice(0, 3).flat()) await take(flashblock)
  for (const [i, payload] of payloads.slice(0, 3).entries()) {
    await seal(payload)
    expect(shown(execution)).toMatchObject({
      latest: i + 1,
      pending: i < 2 ? 3 : undefined,
      blocks: [3, 3].slice(i),
      balance: i < 2 ? 7n : 7n,
    })
  }
  expect(execution.sizes().reused).toBe(3)
  expect((await execution.payload(3))?.blockHash).toBe(third.blockHash)
})

it('pending/pendingChain: extends a block whose parent became canonical', async () => {
  const { execution, take, seal } = open()
  const [one, two] = [told[0] ?? [], told[1] ?? []]
  for (const flashblock of [...one, ...two.slice(0, 1)]) await take(flashblock)
  await seal(first)
  for (const flashblock of two.slice(1)) expect(await take(flashblock)).toMatchObject({ kind: 'taken' })
  expect(shown(execution)).toEqual({ latest: 1, pending: 2, blocks: [3], balance: 5n })
  await seal(second)
  expect(execution.sizes().reused).toBe(2)
})

it('pending/pendingChain: drops pending blocks when another block becomes canonical at their number', async () => {
  const other = await makeBlocks([1], 1)
  const { execution, take, seal } = open()
  for (const flashblock of told.slice(0, 2).flat()) await take(flashblock)
  await seal(other.payloads[0] as Payload)
  expect(shown(execution)).toEqual({ latest: 1, pending: undefined, blocks: [], balance: 1n })
  expect(execution.sizes().reused).toBe(0)
  expect(await take(told[1]?.[1])).toMatchObject({ kind: 'refused', reason: 'order' })
})

it('pending/pendingChain: begins no block on an incomplete parent, and begins it when the parent is canonical', async () => {
  const { execution, take, seal } = open()
  for (const flashblock of (told[0] ?? []).slice(0, 2)) await take(flashblock)
  const [base] = told[1] ?? []
  expect(await take(base)).toMatchObject({ kind: 'refused', reason: 'parent' })
  expect(shown(execution)).toMatchObject({ latest: 0, pending: 1, blocks: [2] })
  await seal(first)
  expect(shown(execution)).toMatchObject({ latest: 1, pending: undefined, balance: 3n })
  expect(await take(base)).toMatchObject({ kind: 'taken' })
  expect(shown(execution)).toMatchObject({ latest: 1, pending: 2, blocks: [1], balance: 3n })
  expect(execution.sizes().reused).toBe(0)
})

it('pending/pendingChain: drops the block above when a sealed pending block grows', async () => {
  const { execution, take, seal } = open()
  const part = (told[0] ?? []).slice(0, 2)
  for (const flashblock of part) await take(flashblock)
  await take(told[1]?.[0])
  expect(await take(told[0]?.[2])).toMatchObject({ kind: 'taken' })
  expect(shown(execution)).toMatchObject({ pending: 1, blocks: [4], balance: 3n })
  await seal(first)
  expect((await execution.payload(1))?.transactions).toEqual(first.transactions)
})

it('pending/pendingChain: drops all pending blocks on a reorg below them', async () => {
  const other = await makeBlocks([0], 2)
  const { execution, take, seal } = open()
  await seal(first)
  for (const flashblock of told.slice(1, 3).flat()) await take(flashblock)
  expect(shown(execution)).toMatchObject({ latest: 1, pending: 3 })
  await seal(other.payloads[0] as Payload)
  expect(shown(execution)).toMatchObject({ latest: 1, pending: undefined, balance: 0n })
  await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, first) })
  expect(shown(execution)).toMatchObject({ latest: 1, pending: undefined, balance: 3n })
})

it('pending/pendingChain: replaces a block at the first flashblock of another build', async () => {
  const { execution, take } = open()
  for (const flashblock of told.slice(0, 2).flat()) await take(flashblock)
  const [again, , rest] = flashblocksOf(maker, first, [1, 3], 1)
  expect(await take(again)).toMatchObject({ kind: 'taken' })
  expect(shown(execution)).toMatchObject({ pending: 1, blocks: [1], balance: 0n })
  const missing = { number: 1, payloadId: (rest as Flashblock).payloadId, index: 1 }
  expect(await execution.pending.take(rest as Flashblock, missing, 4_000)).toMatchObject({ kind: 'refused', reason: 'order' })
})

it('pending/pendingChain: hides stale pending blocks, and shows them again with the next flashblock', async () => {
  const { execution, take, clock } = open()
  const [one, two] = told[0] ?? []
  await take(one, 1_000)
  await clock.advanceMs(1_000)
  expect(shown(execution).pending).toBe(1)
  await clock.advanceMs(1)
  expect(shown(execution)).toMatchObject({ pending: undefined, blocks: [], balance: 0n })
  await take(two, 1_000)
  expect(shown(execution)).toMatchObject({ pending: 1, blocks: [2], balance: 1n })
})

it('pending/pendingChain: shows nothing after a drop until a block begins, which may be the same one', async () => {
  const { execution, take } = open()
  const [one, two] = told[0] ?? []
  await take(one)
  await execution.pending.drop('test')
  expect(shown(execution).pending).toBeUndefined()
  expect(await take(two)).toMatchObject({ kind: 'refused', reason: 'order' })
  expect(await take(one)).toMatchObject({ kind: 'taken' })
})

const [begin, next] = told[0] ?? []
const beginBase = begin?.base as NonNullable<Flashblock['base']>

it.each([
  ['an unknown parent', changed(begin, { base: { ...beginBase, parentHash: first.blockHash } })],
  ['a block further above', changed(begin, { blockNumber: 3 })],
])('pending/pendingChain: refuses a flashblock with %s (parent), and keeps the pending blocks', async (_what, flashblock) => {
  const { execution, take } = open()
  await take(begin)
  const before = shown(execution)
  expect(await take(flashblock)).toMatchObject({ kind: 'refused', reason: 'parent' })
  expect(shown(execution)).toEqual(before)
  expect(await take(next)).toMatchObject({ kind: 'taken' })
})

const beginAt = { number: 1, payloadId: begin?.payloadId ?? '', index: 0 }
it.each<[string, FlashblockLocation | undefined]>([
  ['no pending block', undefined],
  ['another build', { ...beginAt, payloadId: '0x0102030405060708' }],
  ['another flashblock', { ...beginAt, index: 1 }],
])('pending/pendingChain: refuses a flashblock that was placed on %s (order), and keeps the pending blocks', async (_what, after) => {
  const { execution, take, clock } = open()
  await take(begin)
  const before = shown(execution)
  expect(await execution.pending.take(next as Flashblock, after, clock.nowMs() + 4_000)).toMatchObject({ kind: 'refused', reason: 'order' })
  expect(shown(execution)).toEqual(before)
  expect(await take(next)).toMatchObject({ kind: 'taken' })
})

const locationOf = ({ blockNumber: number, payloadId, index }: Flashblock): FlashblockLocation => ({ number, payloadId, index })

it('pending/pendingChain: takes a flashblock of a pending block that was placed before the block below became canonical', async () => {
  const { execution, take, seal } = open()
  const [base, later] = (told[1] ?? []) as [Flashblock, Flashblock]
  for (const flashblock of [...(told[0] ?? []), base]) await take(flashblock)
  await seal(first)
  expect(await execution.pending.take(later, locationOf(base), Number.MAX_SAFE_INTEGER)).toMatchObject({ kind: 'taken' })
})

it('pending/pendingChain: takes flashblock 0 that was placed on a pending block when that block became canonical', async () => {
  const { execution, take, seal } = open()
  for (const flashblock of told[0] ?? []) await take(flashblock)
  await seal(first)
  const last = locationOf(told[0]?.at(-1) as Flashblock)
  expect(await execution.pending.take(told[1]?.[0] as Flashblock, last, Number.MAX_SAFE_INTEGER)).toMatchObject({ kind: 'taken' })
  expect(shown(execution)).toMatchObject({ latest: 1, pending: 2 })
})

it('pending/pendingChain: refuses a flashblock of a Denim block, which has none', async () => {
  const { execution, take } = open()
  const refused = { kind: 'refused', reason: 'rules', text: 'block 1 is a Denim block, which has no flashblocks' }
  expect(await take(changed(begin, { base: { ...beginBase, timestamp: denimSec } }))).toEqual(refused)
  expect(shown(execution).pending).toBeUndefined()
})

const badTransaction = signedBy('alice', { nonce: 7n })
it.each([
  ['another base fee', 'rules', changed(begin, { base: { ...beginBase, baseFee: 7n } })],
  ['a time before its parent', 'rules', changed(begin, { base: { ...beginBase, timestamp: 7 } })],
  ['no deposit at the start', 'rules', changed(begin, { transactions: first.transactions.slice(1) })],
  ['an impossible gas limit', 'rules', changed(begin, { base: { ...beginBase, gasLimit: 2n ** 62n } })],
  ['no transaction at all', 'rules', changed(begin, { transactions: [] })],
  ['other gas', 'outcome', changed(begin, { outcome: { ...(begin as Flashblock).outcome, gasUsed: 1n } })],
  ['an invalid transaction', 'transaction', changed(begin, { transactions: [...(begin as Flashblock).transactions, badTransaction] })],
  [
    'bytes that are not a transaction',
    'transaction',
    changed(begin, { transactions: [...(begin as Flashblock).transactions, Uint8Array.of(1, 2, 3)] }),
  ],
])('pending/pendingChain: refuses a block with %s (%s), and shows no pending block', async (_what, reason, flashblock) => {
  const { execution, take } = open()
  expect(await take(flashblock)).toMatchObject({ kind: 'refused', reason })
  expect(shown(execution)).toMatchObject({ latest: 0, pending: undefined })
  expect(await take(begin)).toMatchObject({ kind: 'taken' })
})

it('pending/pendingChain: drops the block of a wrong later flashblock, and keeps the blocks below', async () => {
  const { execution, take } = open()
  const [one, two] = told[1] ?? []
  for (const flashblock of [...(told[0] ?? []), one]) await take(flashblock)
  expect(await take(changed(two, { transactions: [badTransaction] }))).toMatchObject({ kind: 'refused', reason: 'transaction' })
  expect(shown(execution)).toEqual({ latest: 0, pending: 1, blocks: [4], balance: 3n })
  expect(await take(one)).toMatchObject({ kind: 'taken' })
})

it('pending/pendingChain: holds at most maxPendingBlocks blocks', async () => {
  const { execution, take } = open()
  for (const flashblock of told.slice(0, maxPendingBlocks).flat()) await take(flashblock)
  expect(await take(told[maxPendingBlocks]?.[0])).toMatchObject({ kind: 'refused', reason: 'depth' })
  expect(shown(execution)).toMatchObject({ pending: maxPendingBlocks })
})

it('pending/pendingChain: loses pending blocks when the process ends', async () => {
  const { execution, take, segments, kv, seal } = open()
  await seal(first)
  const { journalBytes } = execution.sizes()
  for (const flashblock of told[1] ?? []) await take(flashblock)
  expect(execution.sizes().journalBytes).toBe(journalBytes)
  expect(shown(open(segments, kv).execution)).toMatchObject({ latest: 1, pending: undefined })
})

it('pending/pendingChain: seals a block ahead when it has as many flashblocks as the previous one', async () => {
  const { execution } = open()
  const { maker: source, payloads: made, told: all } = await makeBlocks([2, 2, 2])
  let [asked, nowMs] = [0, 0]
  using view = execution.view()
  const on = view.parent(genesisId.hash) as ParentBlock
  const head = (): BlockId => genesisId
  const onHead = <T>(run: (on: ParentBlock) => T): T => {
    asked++
    return run(on)
  }
  const senders = createSenders({ maxBytes: 2 ** 20 })
  const watch = new ExecutionWatch()
  using chain = new PendingChain({
    block: { evm, config, senders },
    ...{ guard: new ExecutionGuard(createManualClock(), watch), watch, maxMs: 4_000 },
    head,
    onHead,
    onChange() {},
    // each flashblock, and each seal, takes a millisecond
    clock: { ...createManualClock(), elapsedMs: () => ++nowMs },
    log: silentLog,
  })
  const counts: number[] = []
  for (const flashblock of all.flat()) {
    await chain.take(flashblock, chain.blocks?.blocks.at(-1), 0)
    await settle()
    counts.push(asked)
  }
  expect(counts).toEqual([1, 2, 3, 4, 5, 7, 8, 9, 11])
  expect(chain.sealed(source.view().parent((made[1] as Payload).blockHash) as ParentBlock, made[2] as Payload)).toMatchObject({
    block: { hash: made[2]?.blockHash },
    earlierMs: 4,
  })
})
