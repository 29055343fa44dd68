import { equalBytes } from '#lib/bytes'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Increment, IncrementBase } from '#types/increment'
import type { Payload } from '#types/payload'
import type { IncrementListener } from './buildIncrements.ts'
import { CurrentState } from './currentState.ts'
import { type BlockDeps, type OpenBlock, openBlock, type ParentBlock } from './executeBlock.ts'
import type { ExecutedBlock } from './executedBlock.ts'
import { type PendingBlock, type PendingBlocks, pendingBlockOf } from './pendingBlock.ts'
import { inputOfBase, isAsShown, planIncrement, type RefusedIncrement, refused } from './pendingPlace.ts'
import type { PendingOutcome, PendingPort } from './pendingPort.ts'
import { parentAbove } from './pendingState.ts'

/** Beyond it a block is followed no further: what its gas limit lets in is far less, unless it is full of deposits that fail. */
const limits = { blockBytes: 64 * 2 ** 20, transactionBytes: 1_500, increments: 10_000 }

/** An increment of a build comes many times as often. */
const builtFreshMs = 4_000

export type PendingChainDeps = {
  readonly block: BlockDeps
  /** The unsafe head. */
  readonly head: () => BlockId
  /** Runs on the unsafe head, as long as the state after it is open. */
  readonly onHead: <T>(run: (on: ParentBlock) => T) => T
  /** Told when what is shown has changed by itself, not by new heads. */
  readonly onChange: () => void
  readonly clock: Pick<Clock, 'nowMs' | 'elapsedMs'>
  readonly log: Log
}

/** A block that is followed here: it stays open until it is canonical or given up. */
type Followed = { readonly open: OpenBlock; readonly below: CurrentState }

/** A block as it is shown. One that is built here is somebody else's to continue and to seal. */
type Entry = { readonly shown: PendingBlock; readonly followed: Followed | undefined; readonly sizeBytes: number; readonly ms: number }

const withTime = (entry: Entry, ms: number): Entry => ({ ...entry, ms: entry.ms + ms })

/** A block that was executed here, and how long that took before it was sealed. */
type SealedBlock = { readonly kind: 'executed'; readonly block: ExecutedBlock; readonly earlierMs: number }

/**
 * The blocks above the unsafe head that are not sealed yet, each executed once, increment by increment, on one open session. Bounded: at most
 * `maxPendingBlocks`, each by its gas limit and by `limits`.
 */
export class PendingChain implements PendingPort, Disposable {
  readonly #deps: PendingChainDeps
  #entries: readonly Entry[] = []
  #freshUntilMs = 0
  #blocks: PendingBlocks | undefined
  #reused = 0

  constructor(deps: PendingChainDeps) {
    this.#deps = deps
  }

  /** What is shown; undefined: nothing. */
  get blocks(): PendingBlocks | undefined {
    return this.#blocks
  }

  /** Blocks that were sealed out of what was executed here. */
  get reused(): number {
    return this.#reused
  }

  async take(increment: Increment, freshUntilMs: number): Promise<PendingOutcome> {
    const { head, onHead, clock, log } = this.#deps
    const { blockNumber: number, index } = increment
    const shown = this.#entries.map((entry) => entry.shown)
    const plan = planIncrement(this.#deps.block.config, head(), shown, increment)
    if (plan.kind === 'refused') return plan
    if (plan.kind === 'grow' && this.#entries.at(-1)?.followed === undefined) return refused('order', 'the block is built here')
    const keep = plan.kind === 'begin' ? plan.at : shown.length - 1
    const startMs = clock.elapsedMs()
    using abandoned = new DisposableStack()
    abandoned.defer(() => this.#change(this.#cut(keep)))
    const outcome = onHead((on) => {
      const parentOf = (hash: Hash): ParentBlock => parentAbove(on, shown.slice(0, keep), hash)
      if (plan.kind === 'grow') return this.#grow(parentOf, increment)
      return this.#begin(parentOf(plan.base.parentHash), keep, increment, plan.base)
    })
    if (outcome.kind === 'refused') {
      log.debug('increment refused', { number, index, reason: outcome.text })
      return outcome
    }
    abandoned.move()
    const ms = clock.elapsedMs() - startMs
    this.#change(this.#entries.with(-1, withTime(this.#entries.at(-1) as Entry, ms)), freshUntilMs)
    return outcome
  }

  async drop(reason: string): Promise<void> {
    if (this.#entries.length === 0) return
    this.#deps.log.debug('pending blocks dropped', { reason, blocks: this.#entries.length })
    this.#change(this.#cut(0))
  }

  /** The listener, which is told after a block that is built on the unsafe head is shown, and it alone: another continues and seals it. */
  showing({ everyMs, onIncrement }: IncrementListener): IncrementListener {
    return {
      everyMs,
      onIncrement: (increment, shown): void => {
        if (shown.header.parentHash === this.#deps.head().hash) {
          this.#cut(0)
          this.#change([{ shown, followed: undefined, sizeBytes: 0, ms: 0 }], this.#deps.clock.nowMs() + builtFreshMs)
        }
        onIncrement(increment, shown)
      },
    }
  }

  /**
   * The unsafe head has moved. What is canonical now as it was shown leaves; what stands on it stays, without a new execution; all else goes.
   * @param canonical the block at a number of the new chain, as far as it is in memory
   */
  follow(unsafe: BlockId, canonical: (number: number) => ExecutedBlock | undefined): void {
    const entries = this.#entries
    const sealed = entries.filter(({ shown }) => shown.header.number <= unsafe.number)
    const above = entries.slice(sealed.length)
    const isWhole = sealed.every(({ shown }) => {
      const block = canonical(shown.header.number)
      return block !== undefined && isAsShown(shown, block)
    })
    if (isWhole && above[0]?.shown.header.parentHash === unsafe.hash) {
      for (const { followed } of sealed) followed?.open[Symbol.dispose]()
      this.#show(above)
    } else this.#show(this.#cut(0))
  }

  /**
   * A block out of what was executed here of it, without executing it again; undefined when it is another.
   * @param on its parent
   */
  sealed(on: ParentBlock, payload: Payload): SealedBlock | undefined {
    const { blockNumber, parentHash } = payload
    const entry = this.#entries.find(({ shown }) => shown.header.number === blockNumber && shown.header.parentHash === parentHash)
    if (entry?.followed === undefined || !isOfPayload(entry.shown, payload)) return undefined
    const { diff, transactions, executed } = entry.shown
    const block = entry.followed.open.seal(on, diff)
    if (block.hash !== payload.blockHash) return undefined
    this.#reused++
    // the open block has its lists for itself: it may still grow
    return { kind: 'executed', block: { ...block, transactions, executed }, earlierMs: entry.ms }
  }

  [Symbol.dispose](): void {
    this.#show(this.#cut(0))
  }

  #begin(parent: ParentBlock, at: number, increment: Increment, base: IncrementBase): PendingOutcome {
    this.#cut(at)
    const { block: deps } = this.#deps
    const below = new CurrentState()
    const input = inputOfBase(deps.config.schedule, base, increment.transactions)
    return below.during(parent.state, () => {
      const opened = openOrRefuse(deps, { ...parent, state: below }, input)
      if (opened.kind === 'refused') return opened
      using abandoned = new DisposableStack()
      const open = abandoned.use(opened.block)
      if (open.env.baseFee !== base.baseFee) return refused('rules', `base fee ${base.baseFee}, ${open.env.baseFee} expected`)
      const taken = takeAll(open, increment)
      if (taken.kind === 'refused') return taken
      const shown = pendingBlockOf(open, increment, increment.outcome)
      this.#entries = [...this.#entries, { shown, followed: { open, below }, sizeBytes: sizeOf(increment), ms: 0 }]
      abandoned.move()
      return taken
    })
  }

  #grow(parentOf: (hash: Hash) => ParentBlock, increment: Increment): PendingOutcome {
    const last = this.#entries.at(-1)
    if (last?.followed === undefined) throw new RangeError('no block is followed')
    const sizeBytes = last.sizeBytes + sizeOf(increment)
    if (sizeBytes > limits.blockBytes || increment.index > limits.increments)
      return refused('rules', 'the block is too large to be followed')
    const { followed } = last
    const { open, below } = followed
    return below.during(parentOf(open.parentHash).state, () => {
      const taken = takeAll(open, increment)
      if (taken.kind === 'refused') return taken
      const shown = pendingBlockOf(open, increment, increment.outcome)
      this.#entries = [...this.#entries.slice(0, -1), { ...last, shown, sizeBytes }]
      return taken
    })
  }

  /** Gives up the blocks from an index on. @returns those that are left */
  #cut(from: number): readonly Entry[] {
    for (const { followed } of this.#entries.slice(from)) followed?.open[Symbol.dispose]()
    this.#entries = this.#entries.slice(0, from)
    return this.#entries
  }

  #show(entries: readonly Entry[], freshUntilMs = this.#freshUntilMs): void {
    this.#entries = entries
    this.#freshUntilMs = freshUntilMs
    const blocks = Object.freeze(entries.map(({ shown }) => shown))
    this.#blocks = blocks.length === 0 ? undefined : Object.freeze({ blocks, freshUntilMs })
  }

  #change(entries: readonly Entry[], freshUntilMs?: number): void {
    this.#show(entries, freshUntilMs)
    this.#deps.onChange()
  }
}

const sizeOf = ({ transactions }: Increment): number => transactions.reduce((sum, raw) => sum + raw.length + limits.transactionBytes, 0)

type Opened = { readonly kind: 'open'; readonly block: OpenBlock } | RefusedIncrement

/** A stream may claim a time whose rules nobody has: that is no reason to stop. */
function openOrRefuse(deps: BlockDeps, parent: ParentBlock, input: ReturnType<typeof inputOfBase>): Opened {
  try {
    const opened = openBlock(deps, parent, input)
    return opened.kind === 'invalid' ? refused('rules', opened.reason) : opened
  } catch (error) {
    if (isFault(error, 'UNSUPPORTED_FORK')) return refused('rules', error.message)
    throw error
  }
}

function takeAll(open: OpenBlock, { transactions, outcome }: Increment): PendingOutcome {
  for (const raw of transactions) {
    const refusal = open.take(raw)
    if (refusal !== undefined) return refused('transaction', `transaction ${open.transactions.length}: ${refusal}`)
  }
  const { gasUsed } = open.run
  return gasUsed === outcome.gasUsed ? { kind: 'taken', gasUsed } : refused('outcome', `gas used ${outcome.gasUsed}, ${gasUsed} expected`)
}

function isOfPayload({ header, transactions }: PendingBlock, payload: Payload): boolean {
  if (header.timestamp !== payload.timestamp || header.gasLimit !== payload.gasLimit || header.gasUsed !== payload.gasUsed) return false
  if (transactions.length !== payload.transactions.length) return false
  return transactions.every((raw, index) => equalBytes(raw, payload.transactions[index] as Uint8Array))
}
