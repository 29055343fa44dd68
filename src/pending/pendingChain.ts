import { setImmediate as nextTurn } from 'node:timers/promises'
import { FlashblockInterval } from '#block/building/flashblockInterval'
import { type BlockDeps, type BlockExecutor, createBlockExecutor, type ParentBlock } from '#block/execution/executeBlock'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { ExecutionGuard } from '#block/execution/executionGuard'
import type { ExecutionWatch } from '#block/execution/executionWatch'
import { type PendingBlock, type PendingBlocks, type PendingLocation, pendingBlockOf } from '#block/execution/pendingBlock'
import type { SharedSenders } from '#block/execution/sharedSenders'
import { stateAbove } from '#block/execution/stateAbove'
import { gasLimitRefusal } from '#block/validation/gasLimitRule'
import { equalBytes } from '#lib/bytes'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import { CurrentState } from '#state/currentState'
import type { BlockId } from '#types/blockRef'
import type { Flashblock, FlashblockBase } from '#types/flashblock'
import type { Payload } from '#types/payload'
import type { PendingOutcome, PendingPort } from './pendingPort.ts'
import { inputOfBase, type PendingPlan, planFlashblock, type RefusedFlashblock, refused } from './placeFlashblock.ts'

/** Beyond it a block is followed no further: what its gas limit lets in is far less, unless it is full of deposits that fail. */
const limits = { blockBytes: 64 * 2 ** 20, transactionBytes: 1_500, flashblocks: 10_000 }

export type PendingChainDeps = {
  readonly block: BlockDeps
  /** The unsafe head. */
  readonly head: () => BlockId
  /** Runs on the unsafe head, as long as the state after it is open. */
  readonly onHead: <T>(run: (on: ParentBlock) => T) => T
  /** Told when what is shown has changed by itself, not by new heads. */
  readonly onChange: () => void
  readonly guard: ExecutionGuard
  readonly watch: Pick<ExecutionWatch, 'abandonedPending'>
  /** for executing all flashblocks of a block */
  readonly maxMs: number
  readonly clock: Pick<Clock, 'nowMs' | 'elapsedMs'>
  readonly log: Log
}

/** A block that is followed here: it stays open until it is canonical or given up. */
type Followed = { readonly open: BlockExecutor; readonly below: CurrentState }

/** A block as it is shown. */
type Entry = {
  readonly shown: PendingBlock
  readonly followed: Followed
  /** what is shown with its roots, where it was asked for */
  readonly sealed: ExecutedBlock | undefined
  readonly sizeBytes: number
  readonly ms: number
}

/** A flashblock, and who helps with its senders. */
type Received = Flashblock & { readonly senders: SharedSenders | undefined }

type Taken = { readonly kind: 'taken'; readonly entry: Entry } | RefusedFlashblock

/** A block that was executed here, and how long that took before it was sealed. */
type SealedBlock = { readonly kind: 'executed'; readonly block: ExecutedBlock; readonly earlierMs: number }

/**
 * The blocks above the unsafe head that are not sealed yet, each executed once, flashblock by flashblock, on one open session. Bounded: at most
 * `maxPendingBlocks`, each by its gas limit and by `limits`. A block is sealed when another begins on it, which has to name its hash: no state is
 * shown that the chain cannot have. Sealing takes about as long as executing it did, once; the payload that comes later finds it done.
 */
export class PendingChain implements PendingPort, Disposable {
  readonly rhythm = new FlashblockInterval()
  readonly #deps: PendingChainDeps
  #entries: readonly Entry[] = []
  #freshUntilMs = 0
  #blocks: PendingBlocks | undefined
  #reused = 0
  /** the flashblock that was taken last */
  #taken: PendingLocation | undefined
  /** of the block before, the index of its last flashblock */
  #usuallyLast: number | undefined

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

  /** @param senders of its transactions, where another thread helps */
  async take(flashblock: Flashblock, freshUntilMs: number, senders?: SharedSenders): Promise<PendingOutcome> {
    const { head, onHead, log } = this.#deps
    const shown = this.#entries.map((entry) => entry.shown)
    const plan = planFlashblock(head(), shown, flashblock)
    if (plan.kind === 'refused') return plan
    const outcome = onHead((on) => this.#takeOn(on, plan, { ...flashblock, senders }, freshUntilMs))
    const { blockNumber: number, index } = flashblock
    if (outcome.kind === 'refused') log.debug('increment refused', { number, index, reason: outcome.text })
    else {
      this.rhythm.came(this.#deps.clock.elapsedMs())
      if (this.#isUsuallyLast(flashblock)) void this.#sealAhead()
    }
    return outcome
  }

  async drop(reason: string): Promise<void> {
    if (this.#entries.length === 0) return
    this.#deps.log.debug('pending blocks dropped', { reason, blocks: this.#entries.length })
    this.#change(this.#cut(0))
  }

  /** The unsafe head has moved. What stands on it stays, without a new execution; all else goes, as shown canonical now or not. */
  follow(unsafe: BlockId): void {
    const at = this.#entries.findIndex(({ shown }) => shown.header.parentHash === unsafe.hash)
    const above = at < 0 ? [] : this.#entries.slice(at)
    for (const entry of this.#entries) if (!above.includes(entry)) entry.followed.open[Symbol.dispose]()
    this.#show(above)
  }

  /**
   * A block out of what was executed here of it, without executing it again; undefined when it is another.
   * @param on its parent
   */
  sealed(on: ParentBlock, payload: Payload): SealedBlock | undefined {
    const { blockNumber, parentHash } = payload
    const at = this.#entries.findIndex(({ shown }) => shown.header.number === blockNumber && shown.header.parentHash === parentHash)
    const entry = this.#entries[at]
    if (entry === undefined || !isOfPayload(entry.shown, payload)) return undefined
    const block = this.#seal(at, on)
    if (block?.hash !== payload.blockHash) return undefined
    this.#reused++
    return { kind: 'executed', block, earlierMs: entry.ms }
  }

  [Symbol.dispose](): void {
    this.#show(this.#cut(0))
  }

  /** Blocks of a stream have as many flashblocks as those before them. */
  #isUsuallyLast({ payloadId, index }: PendingLocation): boolean {
    if (payloadId !== this.#taken?.payloadId) this.#usuallyLast = this.#taken?.index
    this.#taken = { payloadId, index }
    return index === this.#usuallyLast
  }

  /** Seals the newest block while nothing else is asked: both the next one and the payload wait for that. */
  async #sealAhead(): Promise<void> {
    const newest = this.#entries.at(-1)?.shown
    await nextTurn()
    if (newest === undefined || newest !== this.#entries.at(-1)?.shown) return
    try {
      this.#deps.onHead((on) => this.#parentAt(on, this.#entries.length))
    } catch (error) {
      this.#deps.log.warn('a pending block cannot be sealed ahead', { number: newest.header.number, error })
    }
  }

  #takeOn(on: ParentBlock, plan: PendingPlan, flashblock: Received, freshUntilMs: number): PendingOutcome {
    const { clock } = this.#deps
    const startMs = clock.elapsedMs()
    const at = plan.kind === 'begin' ? plan.at : this.#entries.length - 1
    const parent = this.#parentAt(on, at)
    if (parent === undefined || (plan.kind === 'begin' && parent.hash !== plan.base.parentHash))
      return refused('parent', `block ${flashblock.blockNumber} stands on other transactions of its parent than are shown`)
    const last = this.#entries[at]
    using abandoned = new DisposableStack()
    abandoned.defer(() => this.#change(this.#cut(at)))
    const spentMs = plan.kind === 'begin' ? 0 : (last as Entry).ms
    const taken = this.#inTime(flashblock, spentMs, () =>
      plan.kind === 'begin' ? this.#begin(parent, at, flashblock, plan.base) : this.#grow(parent, last as Entry, flashblock),
    )
    if (taken.kind === 'refused') return taken
    abandoned.move()
    const entry = { ...taken.entry, ms: taken.entry.ms + clock.elapsedMs() - startMs }
    this.#change([...this.#entries.slice(0, at), entry], freshUntilMs)
    return { kind: 'taken', gasUsed: entry.shown.header.gasUsed }
  }

  /** Executes a flashblock in the time that its block has left. */
  #inTime({ blockNumber: number }: Flashblock, spentMs: number, execute: () => Taken): Taken {
    const { guard, watch, maxMs } = this.#deps
    try {
      return guard.run(number, { maxMs: Math.max(0, maxMs - spentMs), givesWay: true }, execute)
    } catch (error) {
      if (!isFault(error, 'BLOCK_NOT_EXECUTED') && !isFault(error, 'EVM_TOO_LARGE')) throw error
      watch.abandonedPending()
      return refused('time', error.message)
    }
  }

  #begin(parent: ParentBlock, at: number, flashblock: Received, base: FlashblockBase): Taken {
    this.#cut(at)
    const { block: deps } = this.#deps
    const below = new CurrentState()
    const input = inputOfBase(deps.config.schedule, base, flashblock.transactions)
    const limitRefusal = gasLimitRefusal(parent.header, input)
    if (limitRefusal !== undefined) return refused('rules', limitRefusal)
    return below.during(parent.state, () => {
      const opened = openOrRefuse(deps, { ...parent, state: below }, input)
      if (opened.kind === 'refused') return opened
      using abandoned = new DisposableStack()
      const open = abandoned.use(opened.block)
      if (open.env.baseFee !== base.baseFee) return refused('rules', `base fee ${base.baseFee}, ${open.env.baseFee} expected`)
      const refusal = takeAll(open, flashblock)
      if (refusal) return refusal
      abandoned.move()
      const shown = pendingBlockOf(open, flashblock, flashblock.outcome)
      return { kind: 'taken', entry: { shown, followed: { open, below }, sealed: undefined, sizeBytes: sizeOf(flashblock), ms: 0 } }
    })
  }

  #grow(parent: ParentBlock, last: Entry, flashblock: Received): Taken {
    const sizeBytes = last.sizeBytes + sizeOf(flashblock)
    if (sizeBytes > limits.blockBytes || flashblock.index > limits.flashblocks)
      return refused('rules', 'the block is too large to be followed')
    const { open, below } = last.followed
    return below.during(parent.state, () => {
      const refusal = takeAll(open, flashblock)
      if (refusal) return refusal
      return {
        kind: 'taken',
        entry: { ...last, shown: pendingBlockOf(open, flashblock, flashblock.outcome), sealed: undefined, sizeBytes },
      }
    })
  }

  /** What the block at an index stands on, the blocks below it sealed; undefined when one of them is not followed here. */
  #parentAt(on: ParentBlock, at: number): ParentBlock | undefined {
    const blocks: ExecutedBlock[] = []
    let parent = on
    for (let i = 0; i < at; i++) {
      const block = this.#seal(i, parent)
      if (block === undefined) return undefined
      blocks.push(block)
      const { header, hash } = block
      parent = { header, hash, state: stateAbove(on.state, { number: on.header.number, hash: on.hash }, blocks) }
    }
    return parent
  }

  /** The block at an index as it is if nothing more comes, computed once. @param on its parent */
  #seal(at: number, on: ParentBlock): ExecutedBlock | undefined {
    const entry = this.#entries[at]
    if (entry === undefined || entry.sealed) return entry?.sealed
    const { diff, transactions, executed } = entry.shown
    // the open block has its lists for itself: it may still grow
    const sealed = { ...entry.followed.open.seal(on, diff), transactions, executed }
    this.#entries = this.#entries.with(at, { ...entry, sealed })
    return sealed
  }

  /** Gives up the blocks from an index on. @returns those that are left */
  #cut(from: number): readonly Entry[] {
    for (const { followed } of this.#entries.slice(from)) followed.open[Symbol.dispose]()
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

const sizeOf = ({ transactions }: Flashblock): number => transactions.reduce((sum, raw) => sum + raw.length + limits.transactionBytes, 0)

type Opened = { readonly kind: 'open'; readonly block: BlockExecutor } | RefusedFlashblock

/** A stream may claim a time whose rules nobody has: that is no reason to stop. */
function openOrRefuse(deps: BlockDeps, parent: ParentBlock, input: ReturnType<typeof inputOfBase>): Opened {
  try {
    const opened = createBlockExecutor(deps, parent, input)
    return opened.kind === 'invalid' ? refused('rules', opened.reason) : opened
  } catch (error) {
    if (isFault(error, 'UNSUPPORTED_FORK')) return refused('rules', error.message)
    throw error
  }
}

function takeAll(open: BlockExecutor, { transactions, outcome, senders }: Received): RefusedFlashblock | undefined {
  for (const [index, raw] of transactions.entries()) {
    const refusal = open.take(raw, senders?.take(index))
    if (refusal !== undefined) return refused('transaction', `transaction ${open.transactions.length}: ${refusal}`)
  }
  const { gasUsed } = open.run
  return gasUsed === outcome.gasUsed ? undefined : refused('outcome', `gas used ${outcome.gasUsed}, ${gasUsed} expected`)
}

function isOfPayload({ header, transactions }: PendingBlock, payload: Payload): boolean {
  if (header.timestamp !== payload.timestamp || header.gasLimit !== payload.gasLimit || header.gasUsed !== payload.gasUsed) return false
  if (transactions.length !== payload.transactions.length) return false
  return transactions.every((raw, index) => equalBytes(raw, payload.transactions[index] as Uint8Array))
}
