import type { ParentBlock } from '#block/execution/executeBlock'
import type { StateView } from '#evm/ports'
import type { TracedEnd } from '#evm/traceEvents'
import type { CallMessage, CallOverrides, MeasuredCall, RunTimer, StateOverrides } from '#rpc/callPorts'
import type { BlockTracing, CallTracing, TraceOutcome, TracePlace, TraceRequest } from '#rpc/tracePorts'
import { push, type StateStack, viewAbove } from '#state/stateStack'
import type { Hash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import { runCall } from '../call/callExecutor.ts'
import { placeOf } from '../call/nextSlot.ts'
import { overrideDiff } from '../call/overriddenView.ts'
import type { BlockReplay } from '../replay/replay.ts'
import type { SimulationDeps } from '../simulationDeps.ts'
import { runTraced } from './tracedRun.ts'

type KnownReplay = { readonly tracing: BlockTracing; readonly replay: BlockReplay }
/** Returns the replay of a block, for calls on the state between two of its transactions. */
export type ReplayOf = (hash: Hash) => KnownReplay | undefined

/** Returns the end of a traced call, or why it did not run. */
function endOf({ outcome, gasUsed }: MeasuredCall): TracedEnd | { readonly refused: TraceOutcome } {
  if (outcome.kind === 'timeout') return { refused: outcome }
  if (outcome.kind === 'refused') return { refused: { kind: 'not-run', outcome } }
  return { gasUsed: Number(gasUsed), succeeded: outcome.kind === 'success' }
}

/** Traced calls on a state of the chain. Each sees the changes of the earlier ones. */
export class ReplayCalls implements CallTracing {
  readonly #deps: SimulationDeps
  readonly #place: TracePlace
  readonly #replayOf: ReplayOf
  /** kept for all calls: a cache may be too small for it */
  #found: KnownReplay | undefined
  /** changes of the earlier calls */
  #stack: StateStack = []
  #calls = 0
  /** overridden precompiles, which stay so for later calls; the other overrides are in `#stack` */
  #precompiles: StateOverrides | undefined

  constructor(deps: SimulationDeps, place: TracePlace, replayOf: ReplayOf) {
    this.#deps = deps
    this.#place = place
    this.#replayOf = replayOf
  }

  prepare(): boolean | 'pruned' {
    const { transactions } = this.#place
    if (transactions === undefined || this.#isBeyond()) return true
    return this.#known()?.tracing.prepare(transactions) ?? true
  }

  trace(message: CallMessage, request: TraceRequest, timer: RunTimer, overrides: CallOverrides = {}): TraceOutcome | 'pruned' {
    if (this.#isBeyond()) return { kind: 'refused', reason: `transaction index ${this.#place.transactions} out of range` }
    using view = this.#deps.execution.view()
    const below = this.#base(view)
    if (below === undefined) return 'pruned'
    this.#add(overrideDiff(this.#now(below), overrides.state))
    if (overrides.state) this.#precompiles = new Map([...overrides.state].map(([at, { movePrecompileTo }]) => [at, { movePrecompileTo }]))
    const before = this.#now(below)
    const { header } = below
    const at: ParentBlock = { ...below, state: { ...below.state, view: before } }
    const { from, to, value, data, gasLimit } = message
    const place = { blockHash: undefined, blockNumber: header.number, hash: undefined, index: this.#calls++ }
    return runTraced(this.#deps, request, timer, {
      facts: { from, to, value, data, gas: Number(gasLimit), ...place },
      before,
      run: (evm, listen) => {
        listen()
        return endOf(runCall({ evm, config: this.#deps.config }, at, message, { ...overrides, state: this.#precompiles }))
      },
      after: (session) => {
        session.endTransaction()
        this.#add(session.diff())
      },
    })
  }

  /** Returns the replay of the block; undefined: unknown block. */
  #known(): KnownReplay | undefined {
    this.#found ??= this.#replayOf(this.#place.block.hash)
    return this.#found
  }

  /** Whether the transaction index is above the number of transactions of the block. */
  #isBeyond(): boolean {
    const { transactions = 0 } = this.#place
    return transactions > 0 && transactions > (this.#known()?.replay.of.block.transactions.length ?? 0)
  }

  #now({ state }: ParentBlock): StateView {
    return viewAbove(state.view, this.#stack)
  }

  #add(diff: StateDiff | undefined): void {
    if (diff) this.#stack = push(this.#stack, { diff })
  }

  /** Returns the block, with the state that the first call begins on. */
  #base(view: ReturnType<SimulationDeps['execution']['view']>): ParentBlock | undefined {
    const { block, transactions } = this.#place
    if (transactions === undefined) return placeOf(view, this.#deps.config, block)
    const header = view.header(block.hash)
    const replay = this.#known()?.replay
    const parent = header && view.parent(header.parentHash)
    if (header === undefined || parent === undefined || replay === undefined) return undefined
    return { header, hash: block.hash, state: { ...parent.state, view: replay.before(transactions, parent, 'passed') } }
  }
}
