import type { SendersAhead } from '#block/execution/senders'
import { engineFault } from '#engine/faults'
import type { BuildResult, Engine, Heads, InsertResult } from '#engine/port'
import { MissingState, type WantedState } from '#evm/ports'
import type { FetchedState } from '#state/fetchedState'
import type { StateRequest, StateSource } from '#state/stateSource'
import type { BlockId } from '#types/blockRef'
import type { Address, Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import type { Execution } from './execution.ts'
import type { ExecutionView } from './view/chainView.ts'

/** Most parts that are fetched one by one for one call. */
const maxRounds = 10_000
/** Parts after which the witness of a block is requested again, if it did not come. */
const witnessEvery = 50

/**
 * Returns the youngest stored ancestor of a block, or the block itself. A missing part may be fetched there: no block above it changed that part.
 * @throws Fault UNKNOWN_PARENT
 */
export function storedBelow(view: ExecutionView, block: BlockId): StateRequest['at'] {
  const ancestor = view.branch(block.hash)?.ancestor
  const header = ancestor && view.header(ancestor.hash)
  if (ancestor === undefined || header === undefined) throw engineFault('UNKNOWN_PARENT', block)
  return { ...ancestor, stateRoot: header.stateRoot }
}

/** Completes a partial state (ADR 0043): work that lacks a part of it is abandoned, and run again once the part is fetched and stored. */
export class StateCompletion {
  readonly #execution: Execution
  readonly #source: StateSource

  constructor(execution: Execution, source: StateSource) {
    this.#execution = execution
    this.#source = source
  }

  /**
   * Runs work until it lacks nothing. It must change nothing before it throws MissingState.
   * @param on the block whose state is read @param executed block that is executed on it
   * @throws the faults of the source and of commits; UNKNOWN_PARENT
   */
  async run<T>(work: () => Promise<T>, on: () => BlockId, executed?: BlockId): Promise<T> {
    for (let [round, hasWitness] = [0, false]; ; round++) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof MissingState) || round === maxRounds) throw error
        const partOnly = hasWitness || round % witnessEvery !== 0
        const { witness } = await this.#complete({ ...this.#requestOf(error.wanted, on(), executed), partOnly })
        if (witness) hasWitness = true
      }
    }
  }

  /** Fetches and stores a part that the state of a block lacks. @param withinMs longest wait @throws as `run` */
  async complete(wanted: WantedState, on: BlockId, withinMs: number): Promise<void> {
    await this.#complete({ ...this.#requestOf(wanted, on), withinMs })
  }

  async #complete(request: StateRequest): Promise<FetchedState> {
    const fetched = await this.#source.fetch(request)
    if (fetched.witness !== 'stored') await this.#execution.enter(fetched)
    return fetched
  }

  #requestOf(wanted: WantedState, on: BlockId, executed?: BlockId): StateRequest {
    using view = this.#execution.view()
    const at = storedBelow(view, on)
    const parentStateRoot = executed && view.header(on.hash)?.stateRoot
    return { at, wanted, ...(parentStateRoot && { block: { ...executed, parentStateRoot } }) }
  }
}

/** Engine over a partial state. */
export class CompletedEngine implements Engine {
  readonly #execution: Execution
  readonly #completion: StateCompletion

  constructor(execution: Execution, completion: StateCompletion) {
    this.#execution = execution
    this.#completion = completion
  }

  insert(payload: Payload, ahead?: SendersAhead): Promise<InsertResult> {
    const { blockHash: hash, blockNumber: number, parentHash } = payload
    const parent = { hash: parentHash, number: number - 1 }
    return this.#completion.run(
      () => this.#execution.insert(payload, ahead),
      () => parent,
      { hash, number },
    )
  }

  build(
    parent: BlockId,
    attributes: PayloadAttributes,
    seal?: AbortSignal,
    onForcedExecuted?: () => void,
    ahead?: SendersAhead,
  ): Promise<BuildResult> {
    return this.#completion.run(
      () => this.#execution.build(parent, attributes, seal, onForcedExecuted, ahead),
      () => parent,
    )
  }

  setHeads(heads: Heads): Promise<void> {
    return this.#execution.setHeads(heads)
  }

  heads(): Promise<Heads> {
    return this.#execution.heads()
  }

  payload(at: number | Hash): Promise<Payload | undefined> {
    return this.#execution.payload(at)
  }

  storageRoot(account: Address, block: BlockId): Promise<Hash | undefined> {
    return this.#completion.run(
      () => this.#execution.storageRoot(account, block),
      () => block,
    )
  }
}
