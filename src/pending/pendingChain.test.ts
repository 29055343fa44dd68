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
import { createMemoryKv } from '#store/memoryKv'
import { accountOf, attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createManualClock, settle } from '#test/harness/clock'
import { testAddress } from '#test/harness/evm/sessions'
import { flashblocksOf } from '#test/harness/flashblocks/flashblocks'
import type { BlockId } from '#types/blockRef'
import type { Flashblock } from '#types/flashblock'
import type { Payload } from '#types/payload'
import { hashTransaction } from '#types/transaction'
import { PendingChain } from './pendingChain.ts'
import { maxPendingBlocks } from './pendingPort.ts'

const schedule = scheduleTo('jovian', { beryl: 2 ** 40 })
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
    execution.pending.take(flashblock as Flashblock, clock.nowMs() + freshMs)
  return { execution, clock, segments, kv, seal, take, setUnsafe }
}

/** Blocks one on another, of alice's transfers to the target, and what would be told of them. */
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

/** What a view shows of what is pending, and the balance of the target there. */
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

it('pending/pendingChain: flashblocks grow one block, whose state is that of what was told so far', async () => {
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

it('pending/pendingChain: a block whose parent is pending stands on it, and BLOCKHASH knows the parent by its real hash', async () => {
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

it('pending/pendingChain: roots and proofs of a pending state are those that the sealed block will have', async () => {
  const { execution, take } = open()
  for (const flashblock of told.slice(0, 3).flat()) await take(flashblock)
  using view = execution.view()
  using sealed = maker.view()
  const [pending, known] = [view.state(view.heads.pending as BlockId), sealed.state({ number: 3, hash: third.blockHash })]
  expect(pending?.prove(target, [])).toEqual(known?.prove(target, []))
  const accounts = [target, accountOf('alice'), testAddress(0xfe)]
  expect(accounts.map((address) => ({ ...pending?.account(address) }))).toEqual(accounts.map((address) => known?.account(address)))
})

it('pending/pendingChain: a sealed block is made of what was executed; what stands on it stays', async () => {
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

it('pending/pendingChain: on a block that has become canonical another goes on growing', async () => {
  const { execution, take, seal } = open()
  const [one, two] = [told[0] ?? [], told[1] ?? []]
  for (const flashblock of [...one, ...two.slice(0, 1)]) await take(flashblock)
  await seal(first)
  for (const flashblock of two.slice(1)) expect(await take(flashblock)).toMatchObject({ kind: 'taken' })
  expect(shown(execution)).toEqual({ latest: 1, pending: 2, blocks: [3], balance: 5n })
  await seal(second)
  expect(execution.sizes().reused).toBe(2)
})

it('pending/pendingChain: another canonical block takes away what was shown there and above', async () => {
  const other = await makeBlocks([1], 1)
  const { execution, take, seal } = open()
  for (const flashblock of told.slice(0, 2).flat()) await take(flashblock)
  await seal(other.payloads[0] as Payload)
  expect(shown(execution)).toEqual({ latest: 1, pending: undefined, blocks: [], balance: 1n })
  expect(execution.sizes().reused).toBe(0)
  expect(await take(told[1]?.[1])).toMatchObject({ kind: 'refused', reason: 'order' })
})

it('pending/pendingChain: on a part of its parent no block begins; it does when the parent is canonical', async () => {
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

it('pending/pendingChain: a block that was sealed to build on, and still grows, is no part of the chain any more', async () => {
  const { execution, take, seal } = open()
  const part = (told[0] ?? []).slice(0, 2)
  for (const flashblock of part) await take(flashblock)
  await take(told[1]?.[0])
  expect(await take(told[0]?.[2])).toMatchObject({ kind: 'taken' })
  expect(shown(execution)).toMatchObject({ pending: 1, blocks: [4], balance: 3n })
  await seal(first)
  expect((await execution.payload(1))?.transactions).toEqual(first.transactions)
})

it('pending/pendingChain: a reorg below takes away everything', async () => {
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

it('pending/pendingChain: another build of the block takes its place, from its first flashblock on', async () => {
  const { execution, take } = open()
  for (const flashblock of told.slice(0, 2).flat()) await take(flashblock)
  const [again, , rest] = flashblocksOf(maker, first, [1, 3], 1)
  expect(await take(again)).toMatchObject({ kind: 'taken' })
  expect(shown(execution)).toMatchObject({ pending: 1, blocks: [1], balance: 0n })
  expect(await take(rest)).toMatchObject({ kind: 'refused', reason: 'order' })
})

it('pending/pendingChain: what is not fresh is not shown, and the next flashblock shows it again', async () => {
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

it('pending/pendingChain: after a drop nothing is shown until a block begins, the same one too', async () => {
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
  ['a parent that nobody knows', 'parent', changed(begin, { base: { ...beginBase, parentHash: first.blockHash } })],
  ['a block further above', 'parent', changed(begin, { blockNumber: 3 })],
  ['a number that is canonical', 'parent', changed(begin, { blockNumber: 0 })],
  ['an index that jumps', 'order', changed(next, { index: 2 })],
  ['the same flashblock again', 'order', changed(begin, {})],
  ['another build in the middle', 'order', changed(next, { payloadId: '0x0102030405060708' })],
])('pending/pendingChain: a flashblock with %s is refused (%s), what is shown stays', async (_what, reason, flashblock) => {
  const { execution, take } = open()
  await take(begin)
  const before = shown(execution)
  expect(await take(flashblock)).toMatchObject({ kind: 'refused', reason })
  expect(shown(execution)).toEqual(before)
  expect(await take(next)).toMatchObject({ kind: 'taken' })
})

const badTransaction = signedBy('alice', { nonce: 7n })
it.each([
  ['another base fee', 'rules', changed(begin, { base: { ...beginBase, baseFee: 7n } })],
  ['a time before its parent', 'rules', changed(begin, { base: { ...beginBase, timestamp: 7 } })],
  ['a time whose rules nobody has', 'rules', changed(begin, { base: { ...beginBase, timestamp: 2 ** 52 } })],
  ['no deposit at its beginning', 'rules', changed(begin, { transactions: first.transactions.slice(1) })],
  ['a gas limit that no chain has', 'rules', changed(begin, { base: { ...beginBase, gasLimit: 2n ** 62n } })],
  ['no transaction at all', 'rules', changed(begin, { transactions: [] })],
  ['other gas', 'outcome', changed(begin, { outcome: { ...(begin as Flashblock).outcome, gasUsed: 1n } })],
  [
    'a transaction that cannot be there',
    'transaction',
    changed(begin, { transactions: [...(begin as Flashblock).transactions, badTransaction] }),
  ],
  [
    'bytes that are no transaction',
    'transaction',
    changed(begin, { transactions: [...(begin as Flashblock).transactions, Uint8Array.of(1, 2, 3)] }),
  ],
])('pending/pendingChain: a block with %s is refused (%s), and nothing is shown', async (_what, reason, flashblock) => {
  const { execution, take } = open()
  expect(await take(flashblock)).toMatchObject({ kind: 'refused', reason })
  expect(shown(execution)).toMatchObject({ latest: 0, pending: undefined })
  expect(await take(begin)).toMatchObject({ kind: 'taken' })
})

it('pending/pendingChain: a later flashblock that is wrong takes its block away, not those below', async () => {
  const { execution, take } = open()
  const [one, two] = told[1] ?? []
  for (const flashblock of [...(told[0] ?? []), one]) await take(flashblock)
  expect(await take(changed(two, { transactions: [badTransaction] }))).toMatchObject({ kind: 'refused', reason: 'transaction' })
  expect(shown(execution)).toEqual({ latest: 0, pending: 1, blocks: [4], balance: 3n })
  expect(await take(one)).toMatchObject({ kind: 'taken' })
})

it('pending/pendingChain: there are never more than so many blocks', async () => {
  const { execution, take } = open()
  for (const flashblock of told.slice(0, maxPendingBlocks).flat()) await take(flashblock)
  expect(await take(told[maxPendingBlocks]?.[0])).toMatchObject({ kind: 'refused', reason: 'depth' })
  expect(shown(execution)).toMatchObject({ pending: maxPendingBlocks })
})

it('pending/pendingChain: nothing that is pending outlives the process', async () => {
  const { execution, take, segments, kv, seal } = open()
  await seal(first)
  const { journalBytes } = execution.sizes()
  for (const flashblock of told[1] ?? []) await take(flashblock)
  expect(execution.sizes().journalBytes).toBe(journalBytes)
  expect(shown(open(segments, kv).execution)).toMatchObject({ latest: 1, pending: undefined })
})

it('pending/pendingChain: a block that has as many flashblocks as the one before is sealed as soon as nothing else is asked', async () => {
  const { execution } = open()
  const { maker: source, payloads: made, told: all } = await makeBlocks([2, 2, 2])
  let asked = 0
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
    clock: createManualClock(),
    log: silentLog,
  })
  const counts: number[] = []
  for (const flashblock of all.flat()) {
    await chain.take(flashblock, 0)
    await settle()
    counts.push(asked)
  }
  expect(counts).toEqual([1, 2, 3, 4, 5, 7, 8, 9, 11])
  expect(chain.sealed(source.view().parent((made[1] as Payload).blockHash) as ParentBlock, made[2] as Payload)?.block.hash).toBe(
    made[2]?.blockHash,
  )
})
