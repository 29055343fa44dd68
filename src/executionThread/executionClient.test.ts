import { MessageChannel } from 'node:worker_threads'
import { afterEach, expect, it } from 'vitest'
import { ExecutionWatch } from '#block/execution/executionWatch'
import { executionFault } from '#block/faults'
import { createExecution, type Execution } from '#blockchain/execution'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import { l2RefOf } from '#chainspec/l2Ref'
import type { Engine } from '#engine/port'
import { silentLog } from '#lib/log'
import { createTransferLog } from '#lib/logTransfer'
import { type PackedBytes, shareBytes } from '#lib/packedBytes'
import type { SnapshotSource } from '#store/ports'
import { attributesAt, hashOf, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { testAddress } from '#test/harness/evm/sessions'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { flashblocksOf } from '#test/harness/flashblocks/flashblocks'
import { takeNext } from '#test/harness/flashblocks/takeNext'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { type Hash, parseHash, zeroHash } from '#types/ids'
import type { Payload } from '#types/payload'
import { ExecutionClient } from './executionClient.ts'
import { serveEngine } from './executionServer.ts'
import { RecordPublisher, WorkerOutbox } from './outbox.ts'
import { PublishedSequence } from './publishedSequence.ts'
import { recoverSenders, type SenderCounts, SenderTable } from './senderTable.ts'
import type { SenderThreads } from './senderThreads.ts'
import type { ServedPool } from './wire/txPoolCalls.ts'

const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule)
const opened: { close(): void }[] = []
afterEach(() => {
  for (const port of opened.splice(0)) port.close()
})

/** A log that drops its lines. */
const emptyPool = (): ServedPool['pool'] => ({
  add: (raws) => raws.map(() => ({ kind: 'refused', refusal: { kind: 'pool-full' } })),
  get: () => undefined,
  nextNonce: () => undefined,
  size: () => ({ pending: 0, queued: 0 }),
  content: () => [],
  remove: () => [],
})

/** Connects both ends in one thread: messages arrive when the thread is idle, or when a view drains the port. */
function connect(
  change: (engine: Engine) => Engine = (engine) => engine,
  pool: ServedPool['pool'] = emptyPool(),
  limitBlocks: ServedPool['limitBlocks'] = () => {},
  senders: Pick<SenderThreads, 'post' | 'count'> = { post: () => undefined, count() {} },
  onPublish: (record: HeadRecord) => void = () => {},
) {
  const { port1, port2 } = new MessageChannel()
  opened.push(port1, port2)
  const kv = createMemoryKv()
  const outbox = new WorkerOutbox(port2)
  const shown = new PublishedSequence(PublishedSequence.create())
  const publisher = new RecordPublisher(shown)
  publisher.join(outbox)
  const log = createTransferLog((line) => outbox.add({ kind: 'log', line }), 'execution')
  const noSizes = { journalBytes: 0, treeBytes: 0, overlayBlocks: 0, reused: 0 }
  let isQuiet = false
  const execution = createExecution({
    ...{ kv, evm: sharedEvm, config, genesis: () => genesis, clock: createManualClock(), log },
    onPublish: (record) => isQuiet || publisher.publish(record, noSizes),
  })
  const clock = createManualClock()
  const watch = new ExecutionWatch()
  const client = new ExecutionClient(port1, { config, shown, watch, senders, clock, genesis: () => genesis, log: silentLog, onPublish })
  client.readFrom(kv)
  const served = serveEngine(
    port2,
    {
      engine: change(execution),
      pending: execution.pending,
      pool,
      limitBlocks,
      enter: () => expect.fail('nothing is stored'),
      complete: async () => {},
    },
    outbox,
  )
  /** Moves and commits the heads in the other half, without a call of the client; `quietly`: without publishing the records. */
  function commitTo(payload: Payload, how?: 'quietly'): void {
    isQuiet = how === 'quietly'
    void execution.setHeads({ ...execution.published.heads, unsafe: l2RefOf(config, payload) })
    execution.commit()
    isQuiet = false
  }
  return { kv, execution, client, clock, served, commitTo, publish: () => publisher.publish(execution.published, noSizes) }
}

async function buildOn(engine: Engine, transactions: readonly Uint8Array[] = [], branch = 0) {
  const { unsafe } = await engine.heads()
  const result = await engine.build(unsafe, attributesAt(schedule, unsafe.number + 1, transactions, branch))
  return result.kind === 'built' ? result.payload : expect.fail()
}

it('executionThread/executionClient: answers every call of the engine as the engine itself does', async () => {
  const { client, execution } = connect()
  const payload = await buildOn(client, [signedBy('alice', {})])
  expect(payload.transactions).toHaveLength(2)
  expect(await client.insert(payload)).toEqual({ kind: 'valid' })
  expect(await client.insert({ ...payload, gasUsed: 5n })).toMatchObject({ kind: 'invalid', reason: expect.any(String) })
  const heads = { ...(await client.heads()), unsafe: l2RefOf(config, payload) }
  await client.setHeads(heads)
  expect(await client.heads()).toEqual(heads)
  for (const at of [0, 1, 9, payload.blockHash, zeroHash as Hash]) expect(await client.payload(at)).toEqual(await execution.payload(at))
  const block = { number: 1, hash: payload.blockHash }
  expect(await client.storageRoot(testAddress(0x42), block)).toBe(await execution.storageRoot(testAddress(0x42), block))
  expect(await client.build(heads.unsafe, attributesAt(schedule, 2, [Uint8Array.of(2, 1)]))).toMatchObject({ kind: 'invalid' })
  using view = client.view()
  expect([view.heads.latest.hash, client.published.heads]).toEqual([payload.blockHash, heads])
})

it("executionThread/executionClient: rejects with the engine's fault, including code and data (UNKNOWN_PARENT)", async () => {
  const { client } = connect()
  const unknown = { number: 4, hash: parseHash(`0x${'04'.repeat(32)}`) }
  await expect(client.build(unknown, attributesAt(schedule, 5))).rejects.toMatchObject({
    ...{ name: 'Fault', code: 'UNKNOWN_PARENT', severity: 'reset' },
    data: unknown,
  })
  const { client: broken } = connect((engine) => ({ ...engine, heads: () => Promise.reject(new TypeError('no such thing')) }))
  await expect(broken.heads()).rejects.toMatchObject({ name: 'TypeError', message: 'no such thing' })
})

it('executionThread/executionClient: takes a published record that is not yet delivered when a view is opened', async () => {
  const world = connect()
  const payload = await buildOn(world.execution)
  world.commitTo(payload)
  using view = world.client.view()
  expect(view.heads.latest.hash).toBe(payload.blockHash)
  expect(view.header(payload.blockHash)?.number).toBe(1)
})

it('executionThread/executionClient: announces records one after the other, also when a listener takes a view meanwhile', async () => {
  const told: [number, string][] = []
  const { client, commitTo, execution } = connect(undefined, undefined, undefined, undefined, ({ heads: { unsafe } }) => {
    told.push([unsafe.number, 'begins'])
    using view = client.view()
    told.push([unsafe.number, `ends at head ${view.heads.latest.number}`])
  })
  for (let n = 0; n < 2; n++) commitTo(await buildOn(execution))
  client.view()[Symbol.dispose]()
  const numbers = told.filter((_, i) => i % 2 === 0).map(([number]) => number)
  expect(numbers.toSorted()).toEqual(numbers)
  expect(new Set(numbers)).toEqual(new Set([0, 1, 2]))
  expect(told).toEqual(
    numbers.flatMap((number) => [
      [number, 'begins'],
      [number, 'ends at head 2'],
    ]),
  )
})

it('executionThread/executionClient: reads pending blocks as the other thread does, until they are stale by the clock of this thread', async () => {
  const { client, execution, clock } = connect()
  const { execution: maker } = connect()
  const payload = await buildOn(maker, [signedBy('alice', {}), signedBy('alice', { nonce: 1n })])
  await maker.insert(payload)
  const freshUntilMs = clock.nowMs() + 1_000
  const seen = (from: Pick<Execution, 'view'>): unknown => {
    using view = from.view()
    const { pending } = view.heads
    const receipts = pending && view.receipts(pending.hash)?.map(({ receipt }) => receipt)
    return (
      pending && [
        pending,
        { ...view.header(pending.hash) },
        view.block(pending.hash),
        receipts,
        view.state(pending)?.account(testAddress(0x77))?.balance,
      ]
    )
  }
  for (const flashblock of flashblocksOf(maker, payload, [1, 2])) {
    expect(await takeNext({ published: execution.published, pending: client.pending }, flashblock, freshUntilMs)).toEqual({
      kind: 'taken',
      gasUsed: flashblock.outcome.gasUsed,
    })
    expect(seen(client)).toEqual(seen(execution))
  }
  await clock.advanceMs(1_001)
  expect([seen(client), seen(execution)]).toEqual([undefined, expect.anything()])
  expect(await client.insert(payload)).toEqual({ kind: 'valid' })
  expect(execution.sizes().reused).toBe(1)
  await client.pending.drop('test')
  expect(seen(execution)).toBeUndefined()
})

it('executionThread/executionClient: takes the senders that other threads recover, of payloads and of flashblocks', async () => {
  const counts: SenderCounts[] = []
  const count = (of: SenderCounts): void => void counts.push(of)
  const post = (transactions: PackedBytes<SharedArrayBuffer>): SenderTable => {
    const table = SenderTable.create(transactions.ends.length, count)
    recoverSenders(table, transactions, () => false)
    return table
  }
  const { client, execution } = connect(undefined, undefined, undefined, { post, count })
  const { execution: maker } = connect()
  const payload = await buildOn(
    maker,
    [0n, 1n, 2n].map((nonce) => signedBy('alice', { nonce })),
  )
  await maker.insert(payload)
  for (const flashblock of flashblocksOf(maker, payload, [1, 3])) {
    const { memory: senders } = post(shareBytes(flashblock.transactions))
    const received = { ...flashblock, senders }
    expect(await takeNext({ published: execution.published, pending: client.pending }, received)).toMatchObject({ kind: 'taken' })
  }
  await client.pending.drop('test')
  expect(await client.insert(payload)).toEqual({ kind: 'valid' })
  expect(counts.map(({ ready, own }) => [ready, own])).toEqual([
    [0, 0],
    [2, 0],
    [1, 0],
    [3, 0],
  ])
})

it('executionThread/executionClient: shares a snapshot and the state of a block between views of one record, not with the next record', async () => {
  const world = connect()
  const payload = await buildOn(world.execution)
  let [opened, ended] = [0, 0]
  world.client.readFrom({
    snapshot() {
      opened++
      const snapshot = world.kv.snapshot()
      const end = snapshot[Symbol.dispose].bind(snapshot)
      return Object.assign(snapshot, {
        [Symbol.dispose]() {
          ended++
          end()
        },
      })
    },
    [Symbol.asyncDispose]: async () => {},
  })
  {
    using first = world.client.view()
    using second = world.client.view()
    const { hash } = first.heads.latest
    expect(second.parent(hash)?.state.view).toBe(first.parent(hash)?.state.view)
  }
  expect([opened, ended]).toEqual([1, 0])
  world.commitTo(payload)
  using later = world.client.view()
  expect([later.heads.latest.hash, opened, ended]).toEqual([payload.blockHash, 2, 1])
})

it('executionThread/executionClient: opens the view again when a commit came between record and snapshot', async () => {
  const world = connect()
  const payload = await buildOn(world.execution)
  using before = world.client.view()
  let snapshots = 0
  const source: SnapshotSource = {
    snapshot() {
      // the commit is visible here, its record is not published yet
      if (++snapshots === 1) world.commitTo(payload, 'quietly')
      if (snapshots === 3) world.publish()
      return world.kv.snapshot()
    },
    [Symbol.asyncDispose]: async () => {},
  }
  world.client.readFrom(source)
  using view = world.client.view()
  expect([before.heads.latest.number, view.heads.latest.hash]).toEqual([0, payload.blockHash])
  expect(view.canonicalHash(1)).toBe(payload.blockHash)
})

it('executionThread/executionClient: ends unanswered and later calls, and reads, when the other end is gone (EXECUTION_STOPPED)', async () => {
  const { client } = connect((engine) => ({ ...engine, heads: () => new Promise(() => {}) }))
  const waiting = client.heads()
  client.fail(executionFault('EXECUTION_STOPPED', { reason: 'out of memory' }))
  client.fail(new Error('a later reason'))
  const stopped = { code: 'EXECUTION_STOPPED', severity: 'fatal', message: expect.stringContaining('out of memory') }
  await expect(waiting).rejects.toMatchObject(stopped)
  await expect(client.payload(0)).rejects.toMatchObject(stopped)
  await expect(client.ended).rejects.toMatchObject(stopped)
  expect(() => client.view()).toThrow(expect.objectContaining(stopped))
})

it('executionThread/executionClient: answers earlier calls before it closes', async () => {
  let letGo = (): void => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const { client, served, execution } = connect((engine) => ({ ...engine, heads: () => held.then(() => engine.heads()) }))
  const waiting = client.heads()
  client.requestClose()
  letGo()
  expect(await waiting).toEqual(await execution.heads())
  await served
})

it('executionThread/executionClient: sends transactions of one turn together and answers in order; passes every call of the pool', async () => {
  const added: number[] = []
  const listed = [0, 1].map((i) => ({ hash: hashOf(`${i}`), sender: testAddress(i + 1), raw: Uint8Array.of(i, i), isPending: i === 0 }))
  const limits: unknown[] = []
  const served: ServedPool['pool'] = {
    add(raws) {
      added.push(raws.length)
      return raws.map((raw) => ({ kind: raw[0] === 9 ? 'known' : 'added', hash: hashOf(String(raw[0])) }))
    },
    get: (hash) => listed.find((one) => one.hash === hash),
    nextNonce: (sender) => (sender === testAddress(1) ? 7n : undefined),
    size: () => ({ pending: 1, queued: 1 }),
    content: (sender) => listed.filter((one) => sender === undefined || one.sender === sender),
    remove: (what) => (what.kind === 'all' ? listed.map(({ hash }) => hash) : []),
  }
  const { client } = connect(undefined, served, (given) => void limits.push(given))
  const { pool } = client
  const outcomes = await Promise.all(Array.from({ length: 300 }, (_, i) => pool.add(Uint8Array.of(i % 10, 1, 2))))
  expect(outcomes.slice(8, 10)).toEqual([
    { kind: 'added', hash: hashOf('8') },
    { kind: 'known', hash: hashOf('9') },
  ])
  expect(added).toEqual([128, 128, 44])
  expect(await pool.get(hashOf('1'))).toEqual(listed[1])
  expect(await pool.get(hashOf('2'))).toBeUndefined()
  expect([await pool.nextNonce(testAddress(1)), await pool.nextNonce(testAddress(2))]).toEqual([7n, undefined])
  expect(await pool.size()).toEqual({ pending: 1, queued: 1 })
  expect([await pool.content(), await pool.content(testAddress(2))]).toEqual([listed, [listed[1]]])
  expect(await pool.remove({ kind: 'all' })).toEqual(listed.map(({ hash }) => hash))
  await pool.limitBlocks({ maxBlockBytes: 5 })
  expect(limits).toEqual([{ maxBlockBytes: 5 }])
})

it('executionThread/executionClient: rejects each added transaction when the pool throws, or the other end is gone (EXECUTION_STOPPED)', async () => {
  const broken = connect(undefined, {
    ...emptyPool(),
    add: () => {
      throw new TypeError('no journal')
    },
  })
  const both = await Promise.allSettled([broken.client.pool.add(Uint8Array.of(1)), broken.client.pool.add(Uint8Array.of(2))])
  for (const one of both) expect(one).toMatchObject({ status: 'rejected', reason: { name: 'TypeError', message: 'no journal' } })
  const waiting = broken.client.pool.add(Uint8Array.of(3))
  broken.client.fail(executionFault('EXECUTION_STOPPED', { reason: 'out of memory' }))
  await expect(waiting).rejects.toMatchObject({ code: 'EXECUTION_STOPPED' })
})

/** An engine whose builds last until they are sealed; it records their seals. */
function slowBuilds() {
  const seals: (AbortSignal | undefined)[] = []
  const change = (engine: Engine): Engine => ({
    ...engine,
    heads: () => engine.heads(),
    async build(parent, attributes, seal, onForcedExecuted) {
      seals.push(seal)
      onForcedExecuted?.()
      if (seal) await new Promise((resolve) => seal.addEventListener('abort', resolve))
      return engine.build(parent, { ...attributes, noTxPool: true })
    },
  })
  return { seals, change }
}

it('executionThread/executionClient: seals the right build, and reports when its forced transactions are executed', async () => {
  const { seals, change } = slowBuilds()
  const { client } = connect((engine) => change({ ...engine, heads: () => engine.heads(), build: (...args) => engine.build(...args) }))
  const { unsafe } = await client.heads()
  const attributes = { ...attributesAt(schedule, 1), noTxPool: false }
  const [one, other] = [new AbortController(), new AbortController()]
  const sound = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const building = [one, other].map(({ signal }, i) => client.build(unsafe, attributes, signal, sound[i]?.resolve))
  await Promise.all(sound.map(({ promise }) => promise))
  one.abort()
  expect(await building[0]).toMatchObject({ kind: 'built' })
  expect(seals.map((seal) => seal?.aborted)).toEqual([true, false])
  other.abort()
  expect(await building[1]).toMatchObject({ kind: 'built' })
  expect(await client.build(unsafe, attributes)).toMatchObject({ kind: 'built' })
  expect(seals[2]).toBeUndefined()
})

it('executionThread/executionClient: seals and answers builds in progress when the other end closes', async () => {
  const { seals, change } = slowBuilds()
  const { client, served } = connect((engine) =>
    change({ ...engine, heads: () => engine.heads(), build: (...args) => engine.build(...args) }),
  )
  const { unsafe } = await client.heads()
  const building = client.build(unsafe, { ...attributesAt(schedule, 1), noTxPool: false }, new AbortController().signal)
  client.requestClose()
  await served
  expect(await building).toMatchObject({ kind: 'built' })
  expect(seals[0]?.aborted).toBe(true)
})
