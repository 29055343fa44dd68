import type { ParentBlock } from '#block/execution/executeBlock'
import type { ExecutionConfig } from '#block/executionConfig'
import type { Execution } from '#blockchain/execution'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Evm } from '#evm/ports'
import type { Clock } from '#lib/clock'
import type { MeterOutcome, MeterWork } from '#rpc/meterPorts'
import { CurrentState } from '#state/currentState'
import type { Hash } from '#types/ids'

export type MeterDeps = {
  readonly execution: Pick<Execution, 'view'>
  readonly evm: Evm
  readonly config: ExecutionConfig & Pick<RollupConfig, 'blockTimeSec'>
  readonly clock: Pick<Clock, 'elapsedMs'>
}

/** Work in pieces. Between two pieces the state may be closed and opened again. */
export type Pieces<T> = Generator<undefined, MeterOutcome<T>, undefined>

/** Maximum time of the work in one turn of the event loop. */
const sliceMs = 10

/** Measures a function. @returns its result and its duration in microseconds */
export function timed<T>(clock: MeterDeps['clock'], run: () => T): readonly [T, number] {
  const fromMs = clock.elapsedMs()
  const given = run()
  return [given, Math.round((clock.elapsedMs() - fromMs) * 1_000)]
}

/** Runs pieces of work on the state of one block. */
export class MeterRun<T> implements MeterWork<T> {
  readonly #deps: MeterDeps
  readonly #current = new CurrentState()
  readonly #begin: (parent: ParentBlock) => Pieces<T>
  /** undefined until the work begins; for the head, its hash at that time */
  #parentHash: Hash | undefined
  #pieces: Pieces<T> | undefined
  outcome: MeterOutcome<T> | undefined

  /** @param parentHash undefined: the head @param begin receives the parent; its state is open while a piece runs */
  constructor(deps: MeterDeps, parentHash: Hash | undefined, begin: (parent: ParentBlock) => Pieces<T>) {
    this.#deps = deps
    this.#parentHash = parentHash
    this.#begin = begin
  }

  work(): boolean | 'pruned' {
    using view = this.#deps.execution.view()
    this.#parentHash ??= view.heads.latest.hash
    const parent = view.parent(this.#parentHash)
    if (parent === undefined) return 'pruned'
    return this.#current.during(parent.state, () => this.#workOn(parent))
  }

  #workOn(parent: ParentBlock): boolean {
    const { clock } = this.#deps
    const endMs = clock.elapsedMs() + sliceMs
    this.#pieces ??= this.#begin({ ...parent, state: this.#current })
    while (this.outcome === undefined && clock.elapsedMs() < endMs) {
      const piece = this.#pieces.next()
      if (piece.done === true) this.outcome = piece.value
    }
    return this.outcome !== undefined
  }

  [Symbol.dispose](): void {
    this.#pieces?.return({ kind: 'refused', reason: 'abandoned' })
  }
}
