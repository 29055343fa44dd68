import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import type { Heads } from '#engine/port'
import { createWasmEvm } from '#evm/wasmEvm'
import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { isFault } from '#lib/fault'
import { silentLog } from '#lib/log'
import { openFileJournal } from '#store/fileJournal'
import { openLmdbKv } from '#store/lmdbKv'
import { createMemoryJournal } from '#store/memoryJournal'
import type { Journal, JournalRecord, Kv } from '#store/ports'
import { tables } from '#store/tables'
import { attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { LateCommitter } from '#test/harness/chain/lateCommitter'
import { createManualClock } from '#test/harness/clock'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { Fate, Killed, mortalJournal, mortalKv } from '#test/harness/process/mortalStore'
import { sampleOf } from '#test/harness/sample'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { L2Ref } from '#types/blockRef'
import type { Payload } from '#types/payload'
import { createExecution, type Execution } from './execution.ts'

/** SSTORE(first word of the calldata, second word) */
const storage = testAddress(0x55)
const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule, [testAccount(storage, { nonce: 1n, code: '0x6020355f355500' })])
const base = mkdtempSync(join(tmpdir(), 'basalt-kill-'))
let dirs = 0
afterAll(() => rmSync(base, { recursive: true, force: true }))

/** Segments of two or three blocks, so that they fill between commits too. */
const segmentBytes = 2_500

/** Store and journal, which outlive a process and are opened by the next one. */
type Disk = { open(): Promise<{ kv: Kv; journal: Journal; end(): Promise<void> }> }

function memoryDisk(): Disk {
  const kv = createMemoryKv()
  const segments = new Map<number, JournalRecord[]>()
  return { open: async () => ({ kv, journal: createMemoryJournal(segments, segmentBytes), end: async () => {} }) }
}

function realDisk(): Disk {
  const dir = join(base, String(dirs++))
  return {
    async open() {
      const kv = openLmdbKv(join(dir, 'chain'), Object.values(tables))
      const journal = openFileJournal(join(dir, 'journal'), silentLog, segmentBytes)
      const end = async (): Promise<void> => {
        journal[Symbol.dispose]()
        await kv[Symbol.asyncDispose]()
      }
      return { kv, journal, end }
    },
  }
}

const evm = createWasmEvm()
/** A commit slice of one block. */
const executionOver = (kv: Kv, journal: Journal, clock = createManualClock(), committer?: LateCommitter): Execution =>
  createExecution(
    { kv, journal, ...(committer && { committer }), evm, config, genesis: () => genesis, clock, log: silentLog },
    { commitSliceMs: 0 },
  )

type Made = { readonly ref: L2Ref; readonly nonce: bigint; readonly payload: Payload; readonly below: Made | undefined }

const anyStep = fc.record({
  parent: fc.nat(),
  writes: fc.array(fc.tuple(fc.bigInt(0n, 3n), fc.bigInt(0n, 2n)), { maxLength: 2 }),
  becomesHead: fc.boolean(),
  backTo: fc.option(fc.nat(), { freq: 4 }),
  safeDistance: fc.nat(3),
  commits: fc.oneof(fc.constant('all' as const), fc.nat(3)),
})
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never
const anyRun = fc.record({
  steps: fc.array(anyStep, { minLength: 2, maxLength: 14 }),
  killAt: fc.nat(40),
  when: fc.constantFrom<'before' | 'after'>('before', 'after'),
})

/** A node over several processes, with everything it has acknowledged. */
class Life {
  readonly #disk: Disk
  readonly #isLate: boolean
  #late: LateCommitter | undefined
  /** head of the last commit that began; in another thread it may end at any later time */
  #begun: L2Ref | undefined
  readonly made: Made[] = []
  #process: Awaited<ReturnType<Disk['open']>> | undefined
  #execution: Execution | undefined
  #clock = createManualClock()
  readonly #mayBeGone = new Set<string>()
  acknowledged: Heads | undefined
  asked: Heads | undefined

  /** @param isLate whether transactions happen in another thread, at any time */
  constructor(disk: Disk, isLate = false) {
    this.#disk = disk
    this.#isLate = isLate
  }

  get execution(): Execution {
    if (!this.#execution) throw new Error('not started')
    return this.#execution
  }

  async start(fate: Fate): Promise<void> {
    await this.#process?.end()
    this.#process = await this.#disk.open()
    this.#clock = createManualClock()
    const [kv, journal] = [mortalKv(this.#process.kv, fate), mortalJournal(this.#process.journal, fate)]
    this.#late = this.#isLate ? new LateCommitter(kv, this.#clock) : undefined
    this.#execution = executionOver(kv, journal, this.#clock, this.#late)
    if (this.made.length > 0) return
    const payload = await this.execution.payload(0)
    if (!payload) throw new Error('no genesis')
    this.made.push({ ref: l2RefOf(config, payload), nonce: 0n, payload, below: undefined })
    this.acknowledged = await this.execution.heads()
  }

  async end(): Promise<void> {
    await this.#process?.end()
  }

  async step({ parent, writes, becomesHead, backTo, safeDistance, commits }: Step): Promise<void> {
    if (parent % 3 === 1) this.#late?.write()
    if (parent % 3 === 2) this.#late?.deliver()
    const below = await this.#parentFrom(parent)
    const transactions = writes.map(([slot, value], i) =>
      signedBy('alice', {
        nonce: below.nonce + BigInt(i),
        to: storage,
        gasLimit: 100_000n,
        data: concatBytes(bytesFromBigint(slot, 32), bytesFromBigint(value, 32)),
      }),
    )
    const built = await this.execution.build(below.ref, attributesAt(schedule, below.ref.number + 1, transactions, this.made.length))
    if (built.kind === 'invalid') throw new Error(built.reason)
    const one = { ref: l2RefOf(config, built.payload), nonce: below.nonce + BigInt(writes.length), payload: built.payload, below }
    this.made.push(one)
    if (this.#isLate && this.#begun) this.#noteCommit(this.#begun)
    const target = backTo === null ? one : (this.made[backTo % this.made.length] ?? one)
    if (parent % 5 === 3) this.#late?.write()
    if (becomesHead) await this.#setHeads(target, safeDistance)
    if (commits === 'all') await this.commit()
    else await this.#commitSlices(commits)
  }

  /** Runs the given number of transactions of the commit timer. */
  async #commitSlices(count: number): Promise<void> {
    if (count > 0) this.#noteCommit((await this.execution.heads()).unsafe)
    for (let slice = 0; slice < count; slice++) await this.#clock.advanceToNext()
  }

  async commit(): Promise<void> {
    this.#noteCommit((await this.execution.heads()).unsafe)
    this.execution.commit()
  }

  /** Returns the chosen block if it is known, else the unsafe head. */
  async #parentFrom(parent: number): Promise<Made> {
    const wanted = this.made[parent % this.made.length]
    if (wanted && (await this.execution.payload(wanted.ref.hash))) return wanted
    const { unsafe } = await this.execution.heads()
    return this.made.find(({ ref }) => ref.hash === unsafe.hash) as Made
  }

  async #setHeads(target: Made, safeDistance: number): Promise<void> {
    let safe = target
    for (let i = 0; i < safeDistance && safe.below; i++) safe = safe.below
    const { finalized } = await this.execution.heads()
    this.asked = { unsafe: target.ref, safe: safe.ref.number < finalized.number ? finalized : safe.ref, finalized }
    try {
      await this.execution.setHeads(this.asked)
      this.acknowledged = this.asked
    } catch (error) {
      if (!isFault(error, 'INVALID_FORKCHOICE')) throw error
    }
    this.asked = undefined
  }

  /** Checks that nothing acknowledged is lost. */
  async check(): Promise<void> {
    const heads = await this.execution.heads()
    expect([this.acknowledged, this.asked].filter(Boolean)).toContainEqual(heads)
    this.acknowledged = heads
    this.asked = undefined
    const canonical = new Set<string>()
    for (let one = this.made.find(({ ref }) => ref.hash === heads.unsafe.hash); one; one = one.below) canonical.add(one.ref.hash)
    for (const { ref, payload } of this.made) {
      const known = await this.execution.payload(ref.hash)
      if (canonical.has(ref.hash)) expect(await this.execution.payload(ref.number)).toEqual(payload)
      if (known || canonical.has(ref.hash) || !this.#mayBeGone.has(ref.hash)) expect(known).toEqual(payload)
    }
  }

  /** Notes the side blocks at and below the committed head without a descendant above it: a commit may drop them. */
  #noteCommit(unsafe: L2Ref): void {
    this.#begun = unsafe
    const kept = new Set<string>()
    for (const one of this.made) {
      if (one.ref.number <= unsafe.number && one.ref.hash !== unsafe.hash) continue
      for (let at: Made | undefined = one; at; at = at.below) kept.add(at.ref.hash)
    }
    for (const { ref } of this.made) if (!kept.has(ref.hash)) this.#mayBeGone.add(ref.hash)
  }

  /** Checks that each known block has the state of a process that executed its branch only. */
  async checkStates(): Promise<void> {
    for (const one of this.made) {
      if (!(await this.execution.payload(one.ref.hash))) continue
      const branch: Payload[] = []
      for (let at: Made | undefined = one; at?.below; at = at.below) branch.unshift(at.payload)
      const fresh = executionOver(createMemoryKv(), createMemoryJournal())
      for (const payload of branch) expect(fresh.insertPayload(payload)).toEqual({ kind: 'valid' })
      const probe = attributesAt(schedule, one.ref.number + 1, [], 777)
      expect(await this.execution.build(one.ref, probe)).toEqual(await fresh.build(one.ref, probe))
    }
  }
}

async function liveOrDie(run: () => Promise<void>): Promise<'lived' | 'died'> {
  try {
    await run()
    return 'lived'
  } catch (error) {
    if (error instanceof Killed) return 'died'
    throw error
  }
}

async function runOnce(
  disk: Disk,
  { steps, killAt, when }: { steps: Step[]; killAt: number; when: 'before' | 'after' },
  isLate = false,
): Promise<void> {
  const life = new Life(disk, isLate)
  await life.start(new Fate())
  await life.start(new Fate(killAt, when))
  let next = 0
  await liveOrDie(async () => {
    for (; next < steps.length; next++) await life.step(steps[next] as Step)
  })
  await life.start(new Fate())
  await life.check()
  await life.checkStates()
  for (const step of steps.slice(next)) await life.step(step)
  await life.commit()
  await life.check()
  await life.start(new Fate())
  await life.check()
  await life.end()
}

/** A segment of the journal fills while a transaction unwinds the blocks in it. */
const unwoundWhileSegmentsFill: typeof anyRun extends fc.Arbitrary<infer T> ? T : never = {
  steps: [
    { parent: 0, writes: [], becomesHead: true, backTo: null, safeDistance: 0, commits: 'all' },
    {
      ...{ parent: 22_595_560, becomesHead: false, backTo: null, safeDistance: 0, commits: 'all' },
      writes: [
        [0n, 0n],
        [0n, 0n],
      ],
    },
    { parent: 0, writes: [], becomesHead: false, backTo: null, safeDistance: 0, commits: 0 },
    { parent: 0, writes: [], becomesHead: true, backTo: 647_192_655, safeDistance: 0, commits: 0 },
    { parent: 0, writes: [[0n, 0n]], becomesHead: false, backTo: null, safeDistance: 0, commits: 0 },
    { parent: 0, writes: [], becomesHead: false, backTo: null, safeDistance: 0, commits: 'all' },
    { parent: 478_144_842, writes: [], becomesHead: false, backTo: null, safeDistance: 0, commits: 0 },
    {
      ...{ parent: 498_155_064, becomesHead: true, backTo: 0, safeDistance: 0, commits: 1 },
      writes: [
        [0n, 0n],
        [0n, 0n],
      ],
    },
    { parent: 0, writes: [], becomesHead: false, backTo: null, safeDistance: 0, commits: 'all' },
  ],
  killAt: 1,
  when: 'before',
}

describe('blockchain/execution: a kill between any two effects', () => {
  it('memory: loses nothing acknowledged, keeps nothing partial, and has every state right', async () => {
    await fc.assert(
      fc.asyncProperty(anyRun, (run) => runOnce(memoryDisk(), run)),
      { numRuns: sampleOf(15, 40) },
    )
  })

  it('forgets an unwound block together with the blocks above it', async () => {
    const calm = { writes: [], backTo: null, safeDistance: 0 }
    const steps: Step[] = [
      { ...calm, parent: 1, becomesHead: true, commits: 'all' },
      { ...calm, parent: 0, becomesHead: false, commits: 'all' },
      { ...calm, parent: 3, becomesHead: false, commits: 'all' },
      { ...calm, parent: 3, becomesHead: true, commits: 1 },
      { ...calm, parent: 2, becomesHead: false, commits: 0 },
    ]
    await runOnce(memoryDisk(), { steps, killAt: 3, when: 'before' })
  })

  it('lmdb and files: does the same', async () => {
    await fc.assert(
      fc.asyncProperty(anyRun, (run) => runOnce(realDisk(), run)),
      { numRuns: sampleOf(5, 12) },
    )
  })

  it('memory, transactions in another thread: does the same', async () => {
    await fc.assert(
      fc.asyncProperty(anyRun, (run) => runOnce(memoryDisk(), run, true)),
      { numRuns: sampleOf(20, 60), examples: [[unwoundWhileSegmentsFill]] },
    )
  })
})
