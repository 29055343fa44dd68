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
import type { Block } from '#types/block'
import type { Address, Hash } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import { type BelowReads, ReplayStates, type SlotChanges } from './replayStates.ts'

/** A block to run again. */
export type ReplayedBlock = {
  readonly block: Block
  /** senders of the transactions; undefined: they are recovered */
  readonly senders: readonly Address[] | undefined
  /** clients see a zero hash */
  readonly isUnsealed?: true
}

/** Approximate memory of a transaction in addition to its bytes: its hash and its sender. */
const transactionBytes = 300

/** Thrown when a transaction of the block is invalid, so that the block cannot be run. */
export class NotReplayable extends Error {}

/**
 * Runs the transactions of one block, each once on the state after the previous one. It keeps their changes, so that any of them can be run again
 * directly. The caller passes the parent's state each time; it may come from another snapshot, with the same values.
 */
export class BlockReplay {
  readonly of: ReplayedBlock
  readonly #deps: BlockDeps
  readonly #input: BlockInput
  /** states after each step; the system calls are the first step */
  readonly #states = new ReplayStates()
  readonly #blockBytes: number
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
    return index < this.#states.steps
  }

  /** Returns the state before a transaction that is ready. @param reads 'kept' for the reads of the block itself */
  before(index: number, parent: ParentBlock, reads: BelowReads = 'kept'): StateView {
    if (!this.isReady(index)) throw new RangeError(`transaction ${index} is not ready`)
    return this.#states.after(index + 1, parent.state.view, reads)
  }

  /** Returns the changes that the block has made to an account's storage before a transaction that is ready. */
  changedSlots(index: number, addressKey: Uint8Array): SlotChanges {
    return this.#states.slotsOf(addressKey, index + 1)
  }

  /** Runs one more step: the system calls of the block, or the next transaction. @throws as `run` */
  advance(parent: ParentBlock): void {
    const { steps } = this.#states
    if (steps > 0) {
      this.run(steps - 1, parent, this.#deps.evm)[Symbol.dispose]()
      return
    }
    using ran = this.#open(createBlockExecutor, parent.state.view, parent, this.#deps.evm)
    this.#states.add(ran.session.diff())
  }

  /**
   * Runs a transaction that is ready.
   * @param evm interpreter for this run
   * @param beforeIt called when the block is open, before the transaction runs
   * @returns the block, whose session holds the state after the transaction until the caller disposes of it
   * @throws NotReplayable when the transaction is invalid
   */
  run(index: number, parent: ParentBlock, evm: Evm, beforeIt: () => void = () => {}): BlockExecutor {
    const raw = this.of.block.transactions[index]
    if (raw === undefined) throw new RangeError(`no transaction ${index}`)
    const ran = this.#open(resumeBlockExecutor, this.before(index, parent), parent, evm)
    try {
      beforeIt()
      this.#running = index
      const refusal = ran.take(raw)
      if (refusal !== undefined) throw new NotReplayable(`transaction ${index}: ${refusal}`)
      if (index + 1 === this.#states.steps) this.#states.add(ran.session.diff())
      return ran
    } catch (error) {
      ran[Symbol.dispose]()
      throw error
    }
  }

  /** Opens the block on the given state. */
  #open(open: typeof createBlockExecutor, view: StateView, parent: ParentBlock, evm: Evm): BlockExecutor {
    const opened = open({ ...this.#deps, evm }, { ...parent, state: { ...parent.state, view } }, this.#input)
    if (opened.kind === 'invalid') throw new NotReplayable(opened.reason)
    return opened.block
  }
}
