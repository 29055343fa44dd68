import { inputOfBlock } from '#block/execution/blockInput'
import {
  type BlockDeps,
  type BlockExecutor,
  createBlockExecutor,
  type ParentBlock,
  resumeBlockExecutor,
} from '#block/execution/executeBlock'
import type { BlockInput } from '#block/execution/executedBlock'
import type { Evm, EvmSession, StateView } from '#evm/ports'
import type { Block } from '#types/block'
import type { Address, Hash } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import { ReplayStates } from './replayStates.ts'

/** A block that is to be run again. */
export type ReplayedBlock = {
  readonly block: Block
  /** who sent each transaction; undefined: it is recovered */
  readonly senders: readonly Address[] | undefined
}

/** About what a transaction takes beside its bytes: its hash and its sender. */
const transactionBytes = 400

/** Thrown where the block cannot be what it says it is. */
export class NotReplayable extends Error {}

/** A transaction of the block as it ran just now. The session stands after it until it is disposed. */
export type ReplayedTransaction = Disposable & { readonly session: EvmSession; readonly open: BlockExecutor }

/**
 * The transactions of one block, each run once on what those before it have left: what they change is kept, so that any of them can be run again
 * at once. The state of the block's parent is handed in by the caller each time: it may be of another snapshot, and is the same state.
 */
export class BlockReplay {
  readonly of: ReplayedBlock
  readonly #deps: BlockDeps
  readonly #input: BlockInput
  /** the system calls are its first step */
  readonly #states = new ReplayStates()
  readonly #blockBytes: number
  #running = 0
  #hashes: readonly Hash[] | undefined

  constructor(deps: BlockDeps, of: ReplayedBlock) {
    this.of = of
    this.#deps = { ...deps, senders: { of: (tx, hash): Address | undefined => of.senders?.[this.#running] ?? deps.senders.of(tx, hash) } }
    this.#blockBytes = of.block.transactions.reduce((sum, raw) => sum + raw.length + transactionBytes, 1_000)
    this.#input = inputOfBlock(deps.config.schedule, of.block)
  }

  /** Of the transactions, in order. */
  get hashes(): readonly Hash[] {
    this.#hashes ??= this.of.block.transactions.map(hashTransaction)
    return this.#hashes
  }

  /** Memory that it takes, about. */
  get sizeBytes(): number {
    return this.#blockBytes + this.#states.sizeBytes
  }

  /** Whether the state before a transaction, or after the last one, is there. */
  isReady(index: number): boolean {
    return index < this.#states.steps
  }

  /** The state before a transaction that is ready. */
  before(index: number, parent: ParentBlock): StateView {
    if (!this.isReady(index)) throw new RangeError(`transaction ${index} is not ready`)
    return this.#states.after(index + 1, parent.state.view)
  }

  /** What of an account's storage the block has changed before a transaction that is ready. */
  changedSlots(index: number, addressKey: Uint8Array): ReturnType<ReplayStates['slotsOf']> {
    return this.#states.slotsOf(addressKey, index + 1)
  }

  /** One step on: the system calls of the block, then the next transaction that was not run yet. @throws as `run` */
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
   * @param evm in the place of the usual one
   * @param beforeIt what is done when its block is open and nothing of it has run
   * @throws NotReplayable when it cannot be in the block
   */
  run(index: number, parent: ParentBlock, evm: Evm, beforeIt: () => void = () => {}): ReplayedTransaction {
    const raw = this.of.block.transactions[index]
    if (raw === undefined) throw new RangeError(`no transaction ${index}`)
    const ran = this.#open(resumeBlockExecutor, this.before(index, parent), parent, evm)
    try {
      beforeIt()
      this.#running = index
      const refusal = ran.open.take(raw)
      if (refusal !== undefined) throw new NotReplayable(`transaction ${index}: ${refusal}`)
      if (index + 1 === this.#states.steps) this.#states.add(ran.session.diff())
      return ran
    } catch (error) {
      ran[Symbol.dispose]()
      throw error
    }
  }

  /** The block on a state of its own. */
  #open(open: typeof createBlockExecutor, view: StateView, parent: ParentBlock, evm: Evm): ReplayedTransaction {
    let session: EvmSession | undefined
    const catching: Evm = {
      open(...place): EvmSession {
        session = evm.open(...place)
        return session
      },
    }
    const opened = open({ ...this.#deps, evm: catching }, { ...parent, state: { ...parent.state, view } }, this.#input)
    if (opened.kind === 'invalid') throw new NotReplayable(opened.reason)
    const { block } = opened
    if (session === undefined) throw new RangeError('a block was opened without a session')
    return { session, open: block, [Symbol.dispose]: (): void => block[Symbol.dispose]() }
  }
}
