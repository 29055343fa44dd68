import { Registry } from 'prom-client'
import { Batcher } from '#batcher/batcher'
import { batcherMetrics } from '#batcher/metrics'
import type { BatcherOptions } from '#batcher/options'
import type { BatcherL2, BlobProver, DataThrottle } from '#batcher/ports'
import type { ForkSchedule } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Clock } from '#lib/clock'
import { Fault } from '#lib/fault'
import { keccak256 } from '#lib/keccak'
import { silentLog } from '#lib/log'
import { signTransaction } from '#types/signing'
import { createManualClock, settle } from '../clock.ts'
import { keyOf } from '../derive/l1.ts'
import { DeriveWorld, type Sequenced, userTransaction } from '../derive/world.ts'
import { dice } from '../dice.ts'
import { ScriptedL1 } from './l1.ts'

const l1BlockMs = 12_000
const blocksPerL1 = 6

/** Prover with fake commitments: no curve points, but distinct for each blob. */
export const fakeProver: BlobProver = {
  async prove(blob) {
    const commitment = new Uint8Array(48)
    commitment.set(keccak256(blob))
    return { commitment, proofs: [new Uint8Array(48)] }
  },
}

type Running = { readonly batcher: Batcher; readonly abort: AbortController; readonly over: Promise<unknown> }

/**
 * A sequencer, a scripted L1, the real derivation pipeline and the batcher, on a manual clock. L1 blocks are 12 s apart, with six L2 blocks each.
 * The sequencer reorganizes to derivation's result when the two differ, as a node does.
 */
export class BatcherWorld {
  readonly world: DeriveWorld
  readonly l1: ScriptedL1
  readonly clock = createManualClock()
  readonly throttles: (DataThrottle | undefined)[] = []
  readonly warnings: string[] = []
  isL2Reachable = true
  /** Number of L1 blocks by which derivation lags behind the L1 head. */
  derivationLag = 0
  readonly #options: Omit<BatcherOptions, 'config'>
  readonly #random: (below: number) => number
  readonly #prover: BlobProver | undefined
  #running: Running | undefined
  #isWaiting = false
  #nonce = 0

  constructor(
    schedule: ForkSchedule,
    options: Omit<BatcherOptions, 'config'> = {},
    { seed = 1, config = {}, prover = fakeProver }: { seed?: number; config?: Partial<RollupConfig>; prover?: BlobProver | 'none' } = {},
  ) {
    this.world = new DeriveWorld(schedule, config)
    this.l1 = new ScriptedL1(this.world)
    this.#options = { pollMs: 4_000, resubmitMs: 30_000, ...options }
    this.#random = dice(seed)
    this.#prover = prover === 'none' ? undefined : prover
  }

  get batcher(): Batcher {
    if (!this.#running) throw new Error('no batcher is running')
    return this.#running.batcher
  }

  /** Starts a batcher without state of earlier ones. */
  async start(): Promise<void> {
    const { clock } = this
    const abort = new AbortController()
    const own: Clock = {
      ...clock,
      delay: async (ms, signal) => {
        this.#isWaiting = true
        await clock.delay(ms, signal)
        this.#isWaiting = false
      },
    }
    const warn = (message: string): void => void this.warnings.push(message)
    const batcher = new Batcher(
      {
        l1: this.l1,
        l2: this.#l2(),
        ...(this.#prover && { prover: this.#prover }),
        signer: (unsigned) => signTransaction(unsigned, keyOf('batcher')),
        clock: own,
        random: () => this.#random(2 ** 30) / 2 ** 30,
        log: { ...silentLog, warn },
        metrics: batcherMetrics.register(new Registry()),
      },
      { ...this.#options, config: this.world.config },
    )
    this.#isWaiting = false
    this.#running = { batcher, abort, over: batcher.run(abort.signal) }
    await this.#idle()
  }

  /** Kills the batcher; its memory is lost. */
  async kill(): Promise<void> {
    this.#running?.abort.abort(new Error('killed'))
    await this.#running?.over
    this.#running = undefined
  }

  /** Result of the batcher's run(). */
  get over(): Promise<unknown> {
    return this.#running?.over ?? Promise.resolve()
  }

  /** Advances the clock, including the batcher's rounds, without new blocks. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) {
      await this.clock.advanceMs(Math.min(left, 1_000))
      await this.#idle()
    }
  }

  /** Sequences L2 blocks with transactions; their L1 origin is the newest L1 block that is old enough. */
  sequence(count = blocksPerL1, transactions = 1): readonly Sequenced[] {
    return this.world.sequence(count, () => Array.from({ length: transactions }, () => userTransaction(this.#nonce++)))
  }

  /** Runs one L1 slot: an L1 block is mined and derived, the L2 blocks of its time are sequenced, the batcher runs its rounds. */
  async slot({ blocks = blocksPerL1, transactions = 1 }: { blocks?: number; transactions?: number } = {}): Promise<void> {
    this.l1.mine()
    this.derive()
    this.sequence(blocks, transactions)
    await this.pass(l1BlockMs)
  }

  async slots(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await this.slot()
  }

  /** Runs slots until the present unsafe head is safe. Throws after `atMost` L1 blocks. */
  async untilSafe(atMost = 60): Promise<number> {
    const target = this.unsafe.number
    for (let slots = 1; slots <= atMost; slots++) {
      await this.slot()
      if (this.world.safe.number >= target) return slots
    }
    throw new Error(`safe ${this.world.safe.number}, not ${target}, after ${atMost} L1 blocks; ${JSON.stringify(this.warnings.slice(-5))}`)
  }

  get unsafe(): Sequenced['ref'] {
    const last = this.world.blocks.at(-1)
    if (!last) throw new Error('no L2')
    return last.ref
  }

  /** Reorganizes L1; L2 blocks whose origin is dropped are dropped too. */
  reorg(depth: number, fate: 'pooled' | 'gone' = 'gone'): void {
    this.l1.reorg(depth, fate)
    const { blocks, l1 } = this.world
    const stale = blocks.findIndex(({ ref }) => l1[ref.l1Origin.number]?.ref.hash !== ref.l1Origin.hash)
    if (stale > 0) this.world.blocks = blocks.slice(0, stale)
  }

  /** Drops the last L2 blocks; the sequencer makes others in their place. */
  reorgL2(depth: number): void {
    const keep = Math.max(this.world.safe.number + 1, this.world.blocks.length - depth)
    this.world.blocks = this.world.blocks.slice(0, keep)
    this.sequence(depth, 2)
  }

  /** Derives up to the L1 head less the lag; the sequencer switches to the derived chain where it differs. */
  derive(): void {
    const { world } = this
    const { origin } = world.pipeline
    if (world.l1[origin.number]?.ref.hash !== origin.hash) world.restart()
    const hidden = this.derivationLag > 0 ? world.l1.splice(Math.max(1, world.l1.length - this.derivationLag)) : []
    if (world.l1[world.pipeline.origin.number] !== undefined) this.#derive(8)
    world.l1.push(...hidden)
    if (!world.agrees) this.#follow()
  }

  #derive(tries: number): void {
    const { world } = this
    try {
      world.derive()
    } catch (error) {
      if (tries === 0 || !(error instanceof Error && error.message.startsWith('reset'))) throw error
      world.restart()
      this.#derive(tries - 1)
    }
  }

  #follow(): void {
    const { world } = this
    const { systemConfig } = world.driver.safe
    const from = world.blocks.findIndex(({ ref }) => (world.safeBlocks.get(ref.number)?.ref.hash ?? ref.hash) !== ref.hash)
    const first = from < 0 ? world.blocks.length : from
    const kept = world.blocks.slice(0, first)
    for (let number = first; number <= world.safe.number; number++) {
      const block = world.safeBlocks.get(number)
      if (!block) throw new Error(`no safe block ${number}`)
      kept.push({ ...block, head: { ref: block.ref, systemConfig } })
    }
    world.blocks = kept
  }

  #l2(): BatcherL2 {
    const reach = (): void => {
      if (!this.isL2Reachable) throw new Fault('L2_GONE', 'retry', 'L2 does not answer', '', {})
    }
    return {
      status: async () => {
        reach()
        const { hash, number } = this.world.pipeline.origin
        return { unsafe: this.unsafe, safe: this.world.safe, currentL1: { hash, number } }
      },
      block: async (number) => {
        reach()
        return this.world.blocks[number]
      },
      throttle: async (limits) => {
        reach()
        this.throttles.push(limits)
      },
    }
  }

  /** Waits until the batcher waits for a timer or has ended. Compression runs in other threads, so this polls. */
  async #idle(): Promise<void> {
    let isOver = this.#running === undefined
    void this.#running?.over
      .catch(() => {})
      .then(() => {
        isOver = true
      })
    do await settle()
    while (!this.#isWaiting && !isOver)
  }
}
