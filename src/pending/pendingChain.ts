import { setImmediate as nextTurn } from 'node:timers/promises'
import { type BlockDeps, type BlockExecutor, createBlockExecutor, type ParentBlock } from '#block/execution/executeBlock'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { ExecutionGuard } from '#block/execution/executionGuard'
import type { ExecutionWatch } from '#block/execution/executionWatch'
import { pendingHeader } from '#block/execution/pendingHeader'
import { type SendersAhead, senderAhead } from '#block/execution/senders'
import { stateAbove } from '#block/execution/stateAbove'
import { gasLimitRefusal } from '#block/validation/gasLimitRule'
import { isActive } from '#chainspec/forks'
import { equalBytes } from '#lib/bytes'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import { CurrentState } from '#state/currentState'
import type { BlockId } from '#types/blockRef'
import type { Flashblock, FlashblockBase } from '#types/flashblock'
import type { Payload } from '#types/payload'
import { type FlashblockLocation, isSameFlashblock, type PendingBlock, type PendingBlocks } from '#types/pendingBlock'
import { inputOfBase } from './blockInput.ts'
import { type ExecutedFlashblock, ExecutedFlashblocks } from './executedFlashblocks.ts'
import { maxPendingBlocks, type PendingOutcome, type PendingPort, type PendingRefusal } from './pendingPort.ts'

/** Largest block that is followed. A gas limit allows far less, except for a block full of failing deposits. */
const limits = { blockBytes: 64 * 2 ** 20, transactionBytes: 1_500, flashblocks: 10_000 }

export type PendingChainDeps = {
  readonly block: BlockDeps
  /** Returns the unsafe head. */
  readonly head: () => BlockId
  /** Runs a function on the unsafe head while the state after it is open. */
  readonly onHead: <T>(run: (on: ParentBlock) => T) => T
  /** Called when the pending blocks changed for another reason than new heads. */
  readonly onChange: () => void
  readonly guard: ExecutionGuard
  readonly watch: Pick<ExecutionWatch, 'abandonedPending'>
  /** maximum execution time of all flashblocks of a block */
  readonly maxMs: number
  readonly clock: Pick<Clock, 'nowMs' | 'elapsedMs'>
  readonly log: Log
}

type RefusedFlashblock = Extract<PendingOutcome, { kind: 'refused' }>

const refused = (reason: PendingRefusal, text: string): RefusedFlashblock => ({ kind: 'refused', reason, text })

/** An open block with the state it executes on, until it is canonical or dropped. */
type Followed = { readonly open: BlockExecutor; readonly below: CurrentState }

/** A pending block as readers see it, with its executor. */
type Entry = {
  readonly shown: ExecutedFlashblocks
  readonly followed: Followed
  /** the sealed block, once computed */
  readonly sealed: { readonly block: ExecutedBlock; readonly ms: number } | undefined
  readonly sizeBytes: number
  readonly ms: number
}

type Taken = { readonly kind: 'taken'; readonly entry: Entry } | RefusedFlashblock

/** A sealed block that was executed here, and its execution time, with that of its seal if it was sealed earlier. */
type SealedBlock = { readonly kind: 'executed'; readonly block: ExecutedBlock; readonly earlierMs: number }

/**
 * Executes the blocks above the unsafe head that are not sealed yet, once each, flashblock by flashblock, on one open session. Bounded: at most
 * `maxPendingBlocks`, each by its gas limit and by `limits`. A block is sealed when another begins on it and must have the hash that the other names,
 * so no impossible state is shown. Sealing takes about as long as the execution did, once; the payload that follows reuses it.
 */
export class PendingChain implements PendingPort, Disposable {
  readonly #deps: PendingChainDeps
  #entries: readonly Entry[] = []
  #freshUntilMs = 0
  #blocks: PendingBlocks | undefined
  #reused = 0
  /** the last executed flashblock */
  #taken: FlashblockLocation | undefined
  /** index of the last flashblock of the previous block */
  #usuallyLast: number | undefined

  constructor(deps: PendingChainDeps) {
    this.#deps = deps
  }

  /** Returns the pending blocks; undefined: there are none. */
  get blocks(): PendingBlocks | undefined {
    return this.#blocks
  }

  /** Number of blocks sealed from their flashblocks, without another execution. */
  get reused(): number {
    return this.#reused
  }

  /** @param ahead senders of the flashblock's transactions, from other threads */
  async take(
    flashblock: Flashblock,
    after: FlashblockLocation | undefined,
    freshUntilMs: number,
    ahead?: SendersAhead,
  ): Promise<PendingOutcome> {
    const { onHead, log } = this.#deps
    const { blockNumber: number, payloadId, index } = flashblock
    const outcome = this.#outdated(flashblock, after) ?? onHead((on) => this.#takeOn(on, flashblock, freshUntilMs, ahead))
    if (outcome.kind === 'refused') log.debug('flashblock refused', { number, index, reason: outcome.text })
    else if (this.#isUsuallyLast({ number, payloadId, index })) void this.#sealAhead()
    return outcome
  }

  async drop(reason: string): Promise<void> {
    if (this.#entries.length === 0) return
    this.#deps.log.debug('pending blocks dropped', { reason, blocks: this.#entries.length })
    this.#change(this.#cut(0))
  }

  /** Called when the unsafe head moved. Keeps the blocks above it without another execution; drops the others, which are canonical or orphaned. */
  follow(unsafe: BlockId): void {
    const at = this.#entries.findIndex(({ shown }) => shown.header.parentHash === unsafe.hash)
    const above = at < 0 ? [] : this.#entries.slice(at)
    for (const entry of this.#entries) if (!above.includes(entry)) entry.followed.open[Symbol.dispose]()
    this.#show(above)
  }

  /**
   * Returns a payload's block, sealed from its flashblocks without another execution; undefined when the pending block differs.
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
    return { kind: 'executed', block, earlierMs: entry.ms + (entry.sealed?.ms ?? 0) }
  }

  [Symbol.dispose](): void {
    this.#show(this.#cut(0))
  }

  /** Returns whether the flashblock has the index of the last one of the previous block. Builders send about as many for each block. */
  #isUsuallyLast(taken: FlashblockLocation): boolean {
    if (taken.payloadId !== this.#taken?.payloadId) this.#usuallyLast = this.#taken?.index
    this.#taken = taken
    return taken.index === this.#usuallyLast
  }

  /**
   * Refuses a flashblock that was placed on other pending blocks than the present ones, unless it begins a block on the unsafe head, or that would
   * exceed the bound of pending blocks.
   */
  #outdated({ blockNumber, index, base }: Flashblock, after: FlashblockLocation | undefined): RefusedFlashblock | undefined {
    const { number, hash } = this.#deps.head()
    const location = `flashblock ${index} of block ${blockNumber}`
    const isOnHead = blockNumber === number + 1 && base?.parentHash === hash
    const isNext = after !== undefined && isSameFlashblock(after, this.#entries.at(-1)?.shown)
    if (!isOnHead && !isNext)
      return refused('order', `${location} was placed on flashblock ${after?.index} of ${after?.payloadId}, the head is ${number}`)
    return blockNumber - number > maxPendingBlocks ? refused('depth', `${location}, the head is ${number}`) : undefined
  }

  /** Seals the newest block while the thread is idle: the next block and the payload both need its seal. */
  async #sealAhead(): Promise<void> {
    const newest = this.#entries.at(-1)?.shown
    await nextTurn()
    if (newest === undefined || newest !== this.#entries.at(-1)?.shown) return
    try {
      this.#deps.onHead((on) => this.#parentAt(on, this.#entries.length))
    } catch (error) {
      this.#deps.log.warn('pending block not sealed ahead', { number: newest.header.number, error })
    }
  }

  #takeOn(on: ParentBlock, flashblock: Flashblock, freshUntilMs: number, ahead: SendersAhead | undefined): PendingOutcome {
    const { clock } = this.#deps
    const { base } = flashblock
    const startMs = clock.elapsedMs()
    const at = flashblock.blockNumber - on.header.number - 1
    const parent = this.#parentAt(on, at)
    if (parent === undefined || (base && parent.hash !== base.parentHash))
      return refused('parent', `block ${flashblock.blockNumber} names another parent than the executed pending block`)
    const last = this.#entries[at]
    if (base === undefined && last === undefined) return refused('order', `block ${flashblock.blockNumber} has not begun`)
    using abandoned = new DisposableStack()
    abandoned.defer(() => this.#change(this.#cut(at)))
    const taken = this.#inTime(flashblock, base ? 0 : (last?.ms ?? 0), () =>
      base ? this.#begin(parent, at, flashblock, base, ahead) : this.#grow(parent, last as Entry, flashblock, ahead),
    )
    if (taken.kind === 'refused') return taken
    abandoned.move()
    const entry = { ...taken.entry, ms: taken.entry.ms + clock.elapsedMs() - startMs }
    this.#change([...this.#entries.slice(0, at), entry], freshUntilMs)
    return { kind: 'taken', gasUsed: entry.shown.header.gasUsed }
  }

  /** Executes a flashblock within the time that its block has left. */
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

  #begin(parent: ParentBlock, at: number, flashblock: Flashblock, base: FlashblockBase, ahead: SendersAhead | undefined): Taken {
    this.#cut(at)
    const { block: deps } = this.#deps
    const below = new CurrentState()
    const input = inputOfBase(deps.config.schedule, base, flashblock.transactions)
    if (isActive(deps.config.schedule, 'denim', base.timestamp))
      return refused('rules', `block ${flashblock.blockNumber} is a Denim block, which has no flashblocks`)
    const limitRefusal = gasLimitRefusal(parent.header, input)
    if (limitRefusal !== undefined) return refused('rules', limitRefusal)
    return below.during(parent.state, () => {
      const opened = openOrRefuse(deps, { ...parent, state: below }, input)
      if (opened.kind === 'refused') return opened
      using abandoned = new DisposableStack()
      const open = abandoned.use(opened.block)
      if (open.env.baseFee !== base.baseFee) return refused('rules', `base fee ${base.baseFee}, ${open.env.baseFee} expected`)
      const taken = takeAll(open, flashblock, ahead)
      if ('reason' in taken) return taken
      abandoned.move()
      const shown = pendingBlockOf(open, flashblock, [taken])
      return { kind: 'taken', entry: { shown, followed: { open, below }, sealed: undefined, sizeBytes: sizeOf(flashblock), ms: 0 } }
    })
  }

  #grow(parent: ParentBlock, last: Entry, flashblock: Flashblock, ahead: SendersAhead | undefined): Taken {
    const sizeBytes = last.sizeBytes + sizeOf(flashblock)
    if (sizeBytes > limits.blockBytes || flashblock.index > limits.flashblocks) return refused('rules', 'the block is too large to follow')
    const { open, below } = last.followed
    return below.during(parent.state, () => {
      const taken = takeAll(open, flashblock, ahead)
      if ('reason' in taken) return taken
      const shown = pendingBlockOf(open, flashblock, [...last.shown.flashblocks, taken])
      return { kind: 'taken', entry: { ...last, shown, sealed: undefined, sizeBytes } }
    })
  }

  /** Returns the parent of the block at an index, sealing the blocks below it; undefined when a block below is not pending here. */
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

  /** Returns the block at an index, sealed as if it were complete; computed once. @param on its parent */
  #seal(at: number, on: ParentBlock): ExecutedBlock | undefined {
    const entry = this.#entries[at]
    if (entry === undefined || entry.sealed) return entry?.sealed?.block
    const { clock } = this.#deps
    const startMs = clock.elapsedMs()
    const { diff, transactions, executed } = entry.shown
    // the open block may still grow: the sealed one keeps its own lists
    const block = { ...entry.followed.open.seal(on, diff), transactions, executed }
    this.#entries = this.#entries.with(at, { ...entry, sealed: { block, ms: clock.elapsedMs() - startMs } })
    return block
  }

  /** Drops the blocks from an index on. @returns the blocks that are left */
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

/** Opens a block. */
function openOrRefuse(deps: BlockDeps, parent: ParentBlock, input: ReturnType<typeof inputOfBase>): Opened {
  const opened = createBlockExecutor(deps, parent, input)
  return opened.kind === 'invalid' ? refused('rules', opened.reason) : opened
}

/** Executes the transactions of a flashblock. */
function takeAll(
  open: BlockExecutor,
  { transactions, outcome }: Flashblock,
  ahead: SendersAhead | undefined,
): ExecutedFlashblock | RefusedFlashblock {
  const { length } = open.transactions
  for (const [index, raw] of transactions.entries()) {
    const refusal = open.take(raw, senderAhead(ahead, raw, index))
    if (refusal !== undefined) return refused('transaction', `transaction ${open.transactions.length}: ${refusal}`)
  }
  const { gasUsed } = open.run
  if (gasUsed !== outcome.gasUsed) return refused('outcome', `gas used ${outcome.gasUsed}, ${gasUsed} expected`)
  return { transactions, executed: open.run.executed.slice(length) }
}

/** Returns the pending block that an open block forms with its executed flashblocks. */
function pendingBlockOf(open: BlockExecutor, last: Flashblock, flashblocks: readonly ExecutedFlashblock[]): ExecutedFlashblocks {
  const { payloadId, index, outcome } = last
  const location = { number: open.env.number, payloadId, index }
  return new ExecutedFlashblocks(location, pendingHeader(open, outcome), flashblocks, open.session.diff())
}

function isOfPayload({ header, transactions }: PendingBlock, payload: Payload): boolean {
  if (header.timestamp !== payload.timestamp || header.gasLimit !== payload.gasLimit || header.gasUsed !== payload.gasUsed) return false
  if (transactions.length !== payload.transactions.length) return false
  return transactions.every((raw, index) => equalBytes(raw, payload.transactions[index] as Uint8Array))
}
