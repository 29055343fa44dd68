import type { Evm } from '#evm/ports'
import { errorMessage } from '#lib/fault'
import type { CaseRun, EvmCase } from '#test/harness/evm/case'
import { interpreters } from '#test/harness/evm/interpreters'
import type { OracleWatch } from '#test/harness/evm/oracle'
import { type Difference, differenceFromOracle, differenceOfRuns, tryCase } from './compare.ts'
import { createTracedInterpreter, differenceOfSteps, keepSteps, type TracedInterpreter } from './traced.ts'

/** Two interpreters that disagree about a case. */
export type Disagreement = { readonly between: string; readonly difference: string }

type NamedEvm = { readonly name: string; readonly evm: Evm }

/** Additional run of a case: on a view that throws MissingState at first, or on the traced build. */
export type Mode = 'plain' | 'interrupted' | 'traced'

/** `run`: the run of the first interpreter, unless it throws. */
export type Checked = { readonly run: CaseRun | undefined; readonly disagreement: Disagreement | undefined }

/** Compares the first interpreter with each other one and with the oracle. */
export class Checker {
  readonly #first: NamedEvm
  readonly #others: readonly NamedEvm[]
  readonly #traced: TracedInterpreter = createTracedInterpreter()
  #oracleEnded = false
  /** Number of failures of the oracle, by its message. */
  readonly oracleFailures: Map<string, number> = new Map()

  constructor() {
    const [first, ...others] = interpreters.map(({ name, create }) => ({ name, evm: create() }))
    if (!first) throw new Error('no interpreter')
    this.#first = first
    this.#others = others
  }

  /** Number of interpreters that are compared with the first. */
  get others(): number {
    return this.#others.length
  }

  /** Runs a case on all interpreters of this project. */
  among(given: EvmCase, mode: Mode): Checked {
    const run = tryCase(this.#first.evm, given)
    if ('thrown' in run) return { run: undefined, disagreement: { between: this.#first.name, difference: `throws ${run.thrown}` } }
    for (const { name, evm, state } of this.#comparedIn(mode)) {
      const disagreement = this.#differs(given, run, name, tryCase(evm, given, state))
      if (disagreement) return { run, disagreement }
    }
    return { run, disagreement: undefined }
  }

  *#comparedIn(mode: Mode): Iterable<NamedEvm & { readonly state: 'there' | 'missing' }> {
    for (const other of this.#others) yield { ...other, state: 'there' }
    if (mode === 'traced') yield { name: 'traced wasm', evm: this.#traced.evm, state: 'there' }
    if (mode !== 'interrupted') return
    for (const { name, evm } of [this.#first, ...this.#others]) yield { name: `interrupted ${name}`, evm, state: 'missing' }
  }

  #differs(given: EvmCase, run: CaseRun, name: string, other: ReturnType<typeof tryCase>): Disagreement | undefined {
    const difference = 'thrown' in other ? `throws ${other.thrown}` : differenceOfRuns(given, run, other)
    return difference === undefined ? undefined : { between: `${this.#first.name} and ${name}`, difference }
  }

  /** Undefined also when the oracle fails, which is counted. `traced`: the traced interpreter has run the case last. */
  async withOracle(given: EvmCase, run: CaseRun, mode: Mode, watch?: OracleWatch): Promise<Disagreement | undefined> {
    const kept = mode === 'traced' ? keepSteps(watch) : { watch, steps: undefined }
    const difference = await this.#differenceFromOracle(given, run, kept.watch)
    if (difference !== undefined) return { between: `${this.#first.name} and the oracle`, difference }
    const steps = kept.steps && this.#oracleEnded ? differenceOfSteps(this.#traced.steps(), kept.steps) : undefined
    return steps === undefined ? undefined : { between: 'the steps of traced wasm and of the oracle', difference: steps }
  }

  async #differenceFromOracle(...args: Parameters<typeof differenceFromOracle>): Promise<Difference> {
    this.#oracleEnded = false
    try {
      const difference = await differenceFromOracle(...args)
      this.#oracleEnded = true
      return difference
    } catch (error) {
      const words = errorMessage(error)
      this.oracleFailures.set(words, (this.oracleFailures.get(words) ?? 0) + 1)
      return undefined
    }
  }
}
