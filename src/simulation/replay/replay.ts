import { inputOfBlock } from '#block/execution/blockInput'
import {
  type BlockDeps,
  type BlockExecutor,
  createBlockExecutor,
  type ParentBlock,
  resumeBlockExecutor,
} from '#block/execution/executeBlock'
import type { BlockInput } from '#block/execution/executedBlock'
import type { Evm, StateView } from '#evm/ports'
import { equalBytes, latin1 } from '#lib/bytes'
import { push, type StateStack, viewAbove } from '#state/stateStack'
import type { Block } from '#types/block'
import type { Address, Hash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import { hashTransaction } from '#types/transaction'
import { ReplayStates, type SlotChanges } from './replayStates.ts'

/** A block to run again. */
export type ReplayedBlock = {
  readonly block: Block
  /** senders of the transactions; undefined: they are recovered */
  readonly senders: readonly Address[] | undefined
}

/** Approximate memory of a transaction in addition to its bytes: its hash and its sender. */
const transactionBytes = 400

/** Thrown when a transaction of the block is invalid, so that the block cannot be run. */
export class NotReplayable extends Error {}

/** Bounds of a step: more transactions in a session make the replay faster, fewer make the run of one of them faster. */
const maxStep = { transactions: 4, gas: 2_000_000n }

/**
 * Runs the transactions of one block, a few in a session, each on the state after the previous one. It keeps the changes of each such step, so that
 * any transaction can be run again after at most the others of its step. The caller passes the parent's state each time; it may come from another
 * snapshot, with the same values.
 */
export class BlockReplay {
  readonly of: ReplayedBlock
  readonly #deps: BlockDeps
  readonly #input: BlockInput
  /** states after each step; the system calls are the first step */
  readonly #states = new ReplayStates()
  /** number of transactions up to the end of each step, ascending */
  readonly #ends: number[] = []
  readonly #blockBytes: number
  /** Changes from the end of a step to a transaction in the next step, the last one that was needed: requests often follow the order of the block. */
  #near: { readonly step: number; readonly index: number; readonly stack: StateStack } = { step: 0, index: 0, stack: [] }
  #running = 0
  #hashes: readonly Hash[] | undefined

  constructor(deps: BlockDeps, of: ReplayedBlock) {
    this.of = of
    this.#deps = { ...deps, senders: { of: (tx, hash): Address | undefined => of.senders?.[this.#running] ?? deps.senders.of(tx, hash) } }
    this.#blockBytes = of.block.transactions.reduce((sum, raw) => sum + raw.length + transactionBytes, 1_000)
    this.#input = inputOfBlock(of.block)
  }

  /** Hashes of the transactions, in order. */
  get hashes(): readonly Hash[] {
    this.#hashes ??= this.of.block.transactions.map(hashTransaction)
    return this.#hashes
  }

  /** Approximate memory in bytes. */
  get sizeBytes(): number {
    return this.#blockBytes + this.#states.sizeBytes
  }

  /** Whether the state before a transaction is available. An index equal to the number of transactions means the end of the block. */
  isReady(index: number): boolean {
    return index <= this.#ready
  }

  /** Number of transactions whose changes are known; −1 before the system calls. */
  get #ready(): number {
    return this.#ends.at(-1) ?? -1
  }

  /** Returns the state before a transaction that is ready. */
  before(index: number, parent: ParentBlock): StateView {
    const step = this.#stepBefore(index)
    return viewAbove(this.#states.after(step + 1, parent.state.view), this.#changesSince(step, index, parent))
  }

  /** Returns the changes that the block has made to an account's storage before a transaction that is ready. */
  changedSlots(index: number, addressKey: Uint8Array, parent: ParentBlock): SlotChanges {
    const step = this.#stepBefore(index)
    const changed = this.#states.slotsOf(addressKey, step + 1)
    return this.#changesSince(step, index, parent).reduce((before, { diff }) => withDiff(before, addressKey, diff), changed)
  }

  /** Returns the last step that ends at or before a transaction that is ready. */
  #stepBefore(index: number): number {
    if (!this.isReady(index)) throw new RangeError(`transaction ${index} is not ready`)
    return this.#ends.findLastIndex((end) => end <= index)
  }

  /** Returns the changes of the transactions between the end of a step and a later transaction, which are in the next step. */
  #changesSince(step: number, index: number, parent: ParentBlock): StateStack {
    if (this.#near.step !== step || this.#near.index > index) this.#near = { step, index: this.#ends[step] ?? 0, stack: [] }
    const { index: first, stack } = this.#near
    if (first < index) {
      using ran = this.#open(resumeBlockExecutor, viewAbove(this.#states.after(step + 1, parent.state.view), stack), parent, this.#deps.evm)
      for (let at = first; at < index; at++) this.#take(ran, at)
      this.#near = { step, index, stack: push(stack, { diff: ran.session.diff() }) }
    }
    return this.#near.stack
  }

  /**
   * Runs one more step: the system calls of the block, or the next few transactions.
   * @param upTo the step ends before this transaction at the latest
   * @throws NotReplayable when the next transaction is invalid
   */
  advance(parent: ParentBlock, upTo: number): void {
    const first = this.#ready
    if (first < 0) {
      using begun = this.#open(createBlockExecutor, parent.state.view, parent, this.#deps.evm)
      this.#add(begun, 0)
      return
    }
    using ran = this.#open(resumeBlockExecutor, this.before(first, parent), parent, this.#deps.evm)
    this.#take(ran, first)
    const end = Math.min(upTo, first + maxStep.transactions)
    let next = first + 1
    while (next < end && ran.run.gasUsed < maxStep.gas && this.#refusal(ran, next) === undefined) next++
    this.#add(ran, next)
  }

  #add(ran: BlockExecutor, end: number): void {
    this.#states.add(ran.session.diff())
    this.#ends.push(end)
  }

  #take(ran: BlockExecutor, index: number): void {
    const refusal = this.#refusal(ran, index)
    if (refusal !== undefined) throw new NotReplayable(`transaction ${index}: ${refusal}`)
  }

  /** Runs a transaction. @returns why it is invalid; then it has changed nothing */
  #refusal(ran: BlockExecutor, index: number): string | undefined {
    const raw = this.of.block.transactions[index]
    if (raw === undefined) throw new RangeError(`no transaction ${index}`)
    this.#running = index
    return ran.take(raw)
  }

  /**
   * Runs a transaction that is ready.
   * @param before state before it
   * @param evm interpreter for this run
   * @param beforeIt called when the block is open, before the transaction runs
   * @returns the block, whose session holds the state after the transaction until the caller disposes of it
   * @throws NotReplayable when the transaction is invalid
   */
  run(index: number, before: StateView, parent: ParentBlock, evm: Evm, beforeIt: () => void): BlockExecutor {
    const ran = this.#open(resumeBlockExecutor, before, parent, evm)
    try {
      beforeIt()
      this.#take(ran, index)
      if (index === this.#ready) this.#add(ran, index + 1)
      else this.#keepNear(index, ran)
      return ran
    } catch (error) {
      ran[Symbol.dispose]()
      throw error
    }
  }

  /** Keeps the changes of a transaction that has run, for a request about the next one. */
  #keepNear(index: number, { session }: BlockExecutor): void {
    const { step, index: nearIndex, stack } = this.#near
    if (index === nearIndex && step === this.#stepBefore(index))
      this.#near = { step, index: index + 1, stack: push(stack, { diff: session.diff() }) }
  }

  /** Opens the block on the given state. */
  #open(open: typeof createBlockExecutor, view: StateView, parent: ParentBlock, evm: Evm): BlockExecutor {
    const opened = open({ ...this.#deps, evm }, { ...parent, state: { ...parent.state, view } }, this.#input)
    if (opened.kind === 'invalid') throw new NotReplayable(opened.reason)
    return opened.block
  }
}

/** Returns changes of an account's storage with those of a diff after them. */
function withDiff(changed: SlotChanges, addressKey: Uint8Array, diff: StateDiff): SlotChanges {
  const isWiped = diff.isWiped(addressKey)
  const slots = new Map((isWiped ? [] : changed.slots).map((slot) => [latin1(slot.key), slot]))
  for (const { addressKey: owner, slotKey: key, value } of diff.slots()) {
    if (equalBytes(owner, addressKey)) slots.set(latin1(key), { key, value: value.some((byte) => byte !== 0) ? value : undefined })
  }
  return { wiped: isWiped || changed.wiped, slots: [...slots.values()] }
}
