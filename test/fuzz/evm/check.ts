import type { Evm } from '#evm/ports'
import type { CaseRun, EvmCase } from '#test/harness/evmCase'
import { interpreters } from '#test/harness/evmInterpreters'
import type { OracleWatch } from '#test/harness/evmOracle'
import { type Difference, differenceFromOracle, differenceOfRuns, tryCase } from './compare.ts'

/** Two that disagree about a case. */
export type Disagreement = { readonly between: string; readonly difference: string }

/** `run`: that of the first interpreter, unless it throws. */
export type Checked = { readonly run: CaseRun | undefined; readonly disagreement: Disagreement | undefined }

/** The first interpreter of ours is held against each other one and against the oracle. */
export class Checker {
  readonly #first: { readonly name: string; readonly evm: Evm }
  readonly #others: readonly { readonly name: string; readonly evm: Evm }[]
  /** what the oracle cannot do, by its own words */
  readonly oracleFailures: Map<string, number> = new Map()

  constructor() {
    const [first, ...others] = interpreters.map(({ name, create }) => ({ name, evm: create() }))
    if (!first) throw new Error('there is no interpreter')
    this.#first = first
    this.#others = others
  }

  /** How many of ours are held against the first. */
  get others(): number {
    return this.#others.length
  }

  /** Runs a case on all of ours, each twice when `state` is `missing`: then once more on a view that has nothing at first. */
  among(given: EvmCase, state: 'there' | 'missing'): Checked {
    const run = tryCase(this.#first.evm, given)
    if ('thrown' in run) return { run: undefined, disagreement: { between: this.#first.name, difference: `throws ${run.thrown}` } }
    for (const { name, evm } of this.#others) {
      const disagreement = this.#differs(given, run, name, tryCase(evm, given))
      if (disagreement) return { run, disagreement }
    }
    for (const { name, evm } of state === 'missing' ? [this.#first, ...this.#others] : []) {
      const disagreement = this.#differs(given, run, `${name} that is interrupted`, tryCase(evm, given, 'missing'))
      if (disagreement) return { run, disagreement }
    }
    return { run, disagreement: undefined }
  }

  #differs(given: EvmCase, run: CaseRun, name: string, other: ReturnType<typeof tryCase>): Disagreement | undefined {
    const difference = 'thrown' in other ? `throws ${other.thrown}` : differenceOfRuns(given, run, other)
    return difference === undefined ? undefined : { between: `${this.#first.name} and ${name}`, difference }
  }

  /** Undefined too when the oracle fails by itself, which is counted. */
  async withOracle(given: EvmCase, run: CaseRun, watch?: OracleWatch): Promise<Disagreement | undefined> {
    const difference = await this.#differenceFromOracle(given, run, watch)
    return difference === undefined ? undefined : { between: `${this.#first.name} and the oracle`, difference }
  }

  async #differenceFromOracle(...args: Parameters<typeof differenceFromOracle>): Promise<Difference> {
    try {
      return await differenceFromOracle(...args)
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error)
      this.oracleFailures.set(words, (this.oracleFailures.get(words) ?? 0) + 1)
      return undefined
    }
  }
}
