import fc from 'fast-check'
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createExecution, type Execution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { createWasmEvm } from '#evm/wasmEvm'
import { silentLog } from '#lib/log'
import { maxPendingBlocks } from '#pending/pendingPort'
import { createMemoryJournal } from '#store/memoryJournal'
import { accountOf, attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createManualClock, type ManualClock, settle } from '#test/harness/clock'
import { testAddress } from '#test/harness/evm/sessions'
import { flashblocksOf } from '#test/harness/flashblocks/flashblocks'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { BlockId } from '#types/blockRef'
import type { Flashblock } from '#types/flashblock'
import type { Payload } from '#types/payload'
import { type Consumer, createConsumer, defaultHeldBytes } from './consumer.ts'
import { flashblocksMetrics } from './metrics.ts'

/** Number of runs; set FLASHBLOCKS_RUNS=1000 for a long run. */
const numRuns = Number(process.env['FLASHBLOCKS_RUNS'] ?? 10)
const maxAgeMs = 4_000
const schedule = scheduleTo('jovian', { beryl: 2 ** 40 })
const { genesis, config } = smallChain(schedule)
const evm = createWasmEvm()
const target = testAddress(0x77)

type Published = { readonly payload: Payload; readonly below: string | undefined; readonly flashblocks: readonly Flashblock[] }

const opened = (
  clock: ManualClock,
  kv = createMemoryKv(),
  segments: NonNullable<Parameters<typeof createMemoryJournal>[0]> = new Map(),
) => ({
  ...{ kv, segments },
  execution: createExecution({ kv, journal: createMemoryJournal(segments), evm, config, genesis: () => genesis, clock, log: silentLog }),
})

/** Blocks of alice's transfers by name, with their flashblocks. `a5b` is block `a5` as published by a builder that restarted it. */
async function makeTree(): Promise<ReadonlyMap<string, Published>> {
  const { execution: maker } = opened(createManualClock())
  const tree = new Map<string, Published>()
  const noncesAfter = new Map<string, bigint>()
  async function add(name: string, below: string | undefined, number: number, count: number, branch: number): Promise<void> {
    let nonce = noncesAfter.get(below ?? '') ?? 0n
    const transactions = Array.from({ length: count }, () => signedBy('alice', { nonce: nonce++ }))
    noncesAfter.set(name, nonce)
    const parent = below === undefined ? undefined : tree.get(below)?.payload
    const on = parent ? { number: parent.blockNumber, hash: parent.blockHash } : config.genesis.l2
    const built = await maker.build(on, attributesAt(schedule, number, transactions, branch))
    if (built.kind === 'invalid') throw new Error(built.reason)
    const { payload } = built
    // one flashblock of each block is empty
    tree.set(name, { payload, below, flashblocks: flashblocksOf(maker, payload, [1, 2, 2, count]) })
    tree.set(`${name}b`, { payload, below, flashblocks: flashblocksOf(maker, payload, [1, count], 1) })
  }
  for (let number = 1; number <= 6; number++) await add(`a${number}`, number === 1 ? undefined : `a${number - 1}`, number, 3, 0)
  for (let number = 3; number <= 5; number++) await add(`c${number}`, number === 3 ? 'a2' : `c${number - 1}`, number, 2, 1)
  await add('x2', 'a1', 2, 2, 2)
  await add('x4', 'a3', 4, 4, 3)
  return tree
}

const tree = await makeTree()
const publishedBlock = (name: string): Published => tree.get(name) ?? expect.fail(name)

type Step =
  | { readonly kind: 'flashblock'; readonly of: string; readonly index: number }
  | { readonly kind: 'head'; readonly of: string }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'restart' }

/** Flashblocks and heads in the order of an undisturbed feed. */
const calm: readonly Step[] = [1, 2, 3, 4, 5].flatMap((number): Step[] => [
  ...publishedBlock(`a${number}`).flashblocks.flatMap((_, index): Step[] => [
    { kind: 'flashblock', of: `a${number}`, index },
    { kind: 'wait', ms: 200 },
  ]),
  { kind: 'head', of: `a${number}` },
])
const others: readonly Step[] = ['a1b', 'a3b', 'a4b', 'c3', 'c4', 'c5', 'x2', 'x4', 'x4b'].flatMap((of) =>
  publishedBlock(of).flashblocks.map((_, index): Step => ({ kind: 'flashblock', of, index })),
)

const place = fc.double({ min: 0, max: calm.length, noNaN: true })
/** Loses, repeats, delays and reorders steps; heads come before or long after their flashblocks. */
const disturbed = fc
  .array(fc.oneof({ weight: 6, arbitrary: fc.constant<number[]>([0]) }, fc.constantFrom([], [0, 0.5], [0, 9], [1.5], [4.5], [-3.5])), {
    minLength: calm.length,
    maxLength: calm.length,
  })
  .map((shifts) => shifts.flatMap((list, at) => list.map((shift) => [at + shift, calm[at] as Step] as const)))
const foreign = fc.array(
  fc.tuple(
    place,
    fc.oneof(
      fc.constantFrom(...others),
      fc.constantFrom<Step>({ kind: 'head', of: 'c3' }, { kind: 'head', of: 'c5' }, { kind: 'head', of: 'x2' }, { kind: 'head', of: 'a1' }),
      fc.constantFrom<Step>({ kind: 'wait', ms: 1_000 }, { kind: 'wait', ms: maxAgeMs + 1 }, { kind: 'restart' }),
    ),
  ),
  { maxLength: 12 },
)
/** All flashblocks of another build at one place. */
const burst = fc
  .array(fc.tuple(place, fc.constantFrom('a1b', 'a3b', 'c3', 'c4', 'x2', 'x4')), { maxLength: 3 })
  .map((list) =>
    list.flatMap(([at, of]) =>
      publishedBlock(of).flashblocks.map((_, index) => [at + index * 1e-3, { kind: 'flashblock', of, index } as Step] as const),
    ),
  )
const steps = fc.tuple(disturbed, foreign, burst).map((parts) =>
  parts
    .flat()
    .sort(([one], [other]) => one - other)
    .map(([, step]) => step),
)

/** A node that follows a feed. */
class World {
  readonly clock = createManualClock()
  #at = opened(this.clock)
  #consumer: Consumer
  #heardMs = 0
  readonly #registry = new Registry()
  readonly #metrics = flashblocksMetrics.register(this.#registry)

  constructor() {
    this.#consumer = this.#follow()
  }

  get execution(): Execution {
    return this.#at.execution
  }

  #follow(): Consumer {
    return createConsumer(
      {
        ...{
          clock: this.clock,
          log: silentLog,
          metrics: this.#metrics,
          pending: this.execution.pending,
          judge: () => {},
          isSynced: () => true,
        },
        shown: () => {
          const { heads, pending } = this.execution.published
          const newest = pending?.blocks.at(-1)
          return {
            head: heads.unsafe,
            executed: newest && { number: newest.header.number, payloadId: newest.payloadId, index: newest.index },
          }
        },
      },
      { maxAgeMs, maxHeldBytes: defaultHeldBytes, upstreams: 1 },
    )
  }

  async do(step: Step): Promise<void> {
    switch (step.kind) {
      case 'flashblock':
        this.#heardMs = this.clock.nowMs()
        this.#consumer.take(publishedBlock(step.of).flashblocks[step.index] as Flashblock, 0)
        break
      case 'head':
        await this.#setHead(step.of)
        break
      case 'wait':
        await this.clock.advanceMs(step.ms)
        break
      case 'restart': {
        this.#consumer[Symbol.dispose]()
        const { kv, segments, execution } = this.#at
        await execution.close()
        this.#at = opened(this.clock, kv, segments)
        this.#consumer = this.#follow()
      }
    }
    await settle()
    await this.check()
  }

  async #insert(name: string): Promise<void> {
    const { payload, below } = publishedBlock(name)
    if (below !== undefined) await this.#insert(below)
    expect(await this.execution.insert(payload)).toEqual({ kind: 'valid' })
  }

  async #setHead(name: string): Promise<void> {
    await this.#insert(name)
    await this.execution.setHeads({ ...(await this.execution.heads()), unsafe: l2RefOf(config, publishedBlock(name).payload) })
    this.#consumer.headsChanged()
  }

  /** Checks the invariants, which hold after every step. */
  async check(): Promise<void> {
    using view = this.execution.view()
    const { latest, pending, unsealed = [] } = view.heads
    expect(pending).toEqual(unsealed.at(-1))
    expect(unsealed.length).toBeLessThanOrEqual(maxPendingBlocks)
    if (pending) expect(this.clock.nowMs() - this.#heardMs).toBeLessThanOrEqual(maxAgeMs)
    let parentHash = latest.hash
    let count = 0
    for (const [at, id] of unsealed.entries()) {
      const shown = view.block(id.hash)?.block ?? expect.fail('the pending block is missing from the view')
      expect([id.number, shown.header.number, shown.header.parentHash]).toEqual([latest.number + 1 + at, id.number, parentHash])
      const published = builtOf(shown.transactions, parentHash)
      if (at < unsealed.length - 1) expect(shown.transactions).toEqual(published.payload.transactions)
      parentHash = published.payload.blockHash
      count += shown.transactions.length - 1
    }
    const tip = pending ?? latest
    const [before, after] = [latest, tip].map((id: BlockId) => view.state(id)) as [never, never]
    const moved = (state: NonNullable<ReturnType<typeof view.state>>): bigint[] => [
      state.account(target)?.balance ?? 0n,
      state.account(accountOf('alice'))?.nonce ?? 0n,
    ]
    expect(moved(after)).toEqual(moved(before).map((value) => value + BigInt(count)))
  }

  get shownTransactions(): readonly Uint8Array[] | undefined {
    using view = this.execution.view()
    const { pending } = view.heads
    return pending && view.block(pending.hash)?.block.transactions
  }
}

/** Returns the published block that begins with these transactions. */
function builtOf(transactions: readonly Uint8Array[], parentHash: string): Published {
  const isPrefix = ({ payload, flashblocks }: Published): boolean => {
    if (payload.parentHash !== parentHash) return false
    let size = 0
    const sizes = flashblocks.map((flashblock) => (size += flashblock.transactions.length))
    return (
      sizes.includes(transactions.length) &&
      transactions.every((raw, i) => Buffer.compare(raw, payload.transactions[i] ?? new Uint8Array()) === 0)
    )
  }
  return [...tree.values()].find(isPrefix) ?? expect.fail('the pending block is a prefix of no published block')
}

it('flashblocks/consumer: shows each flashblock at once and executes it once when the feed is undisturbed', async () => {
  const world = new World()
  for (const step of calm) {
    await world.do(step)
    if (step.kind === 'flashblock') {
      const published = publishedBlock(step.of)
        .flashblocks.slice(0, step.index + 1)
        .flatMap(({ transactions }) => transactions)
      expect(world.shownTransactions).toEqual(published)
    }
  }
  expect(world.execution.sizes().reused).toBe(5)
})

it('flashblocks/consumer: keeps one block per number, on latest and fresh, and complete in the end when the feed is disturbed', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const world = new World()
      for (const step of list) await world.do(step)
      await world.do({ kind: 'head', of: 'a5' })
      for (const index of publishedBlock('a6').flashblocks.keys()) await world.do({ kind: 'flashblock', of: 'a6', index })
      expect(world.shownTransactions).toEqual(publishedBlock('a6').payload.transactions)
    }),
    { numRuns },
  )
})
