import { errorMessage } from '#lib/fault'
import type { Corpus } from '../fuzz/evm/corpus.ts'
import { smallest } from '../fuzz/evm/minimise.ts'
import { type BlockCase, wireOf } from './blockCase.ts'
import type { BlockDifference } from './difference.ts'
import { difference } from './exclusions.ts'
import { keep } from './kept.ts'
import { type OurAnswer, runOurs } from './ours.ts'
import { Oracle } from './program.ts'
import { randomCase } from './randomCase.ts'
import { smallerBlocks } from './shrink.ts'
import { type TargetedCase, targetedCases } from './targeted.ts'
import type { KeptCase, WireAnswer, WireCase } from './wire.ts'

export type OracleCounts = {
  cases: number
  transactions: number
  /** Number of transactions that both sides reject. */
  refused: number
  calls: number
  /** Number of cases by fork. */
  readonly forks: Map<string, number>
  /** Number of cases by the name of the exclusion that applied. */
  readonly excluded: Map<string, number>
  found: number
}

const minimiseMs = 20_000
/** Number of differences that are minimised and stored; later ones are only reported. */
const mostKept = 5
/** Number of cases in flight to the oracle, so that both sides work. */
const batchSize = 32

const count = (counts: Map<string, number>, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1)

/** Runs a case on Basalt and returns the result or the error. */
function tryOurs(wire: WireCase): OurAnswer | { readonly thrown: string } {
  try {
    return runOurs(wire)
  } catch (error) {
    return { thrown: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

/** Runs cases on both sides. */
export class OracleLoop implements Disposable {
  readonly counts: OracleCounts = { cases: 0, transactions: 0, refused: 0, calls: 0, forks: new Map(), excluded: new Map(), found: 0 }
  readonly #path: string
  readonly #into: string
  readonly #onFound: (line: string) => void
  #oracle: Oracle

  /** @param into folder for differences */
  constructor(path: string, into: string, onFound: (line: string) => void) {
    this.#path = path
    this.#into = into
    this.#onFound = onFound
    this.#oracle = new Oracle(path)
  }

  [Symbol.dispose](): void {
    this.#oracle[Symbol.dispose]()
  }

  /** Runs the targeted cases. @returns them with the oracle's results */
  async runTargeted(corpus: Corpus): Promise<(TargetedCase & { readonly kept: KeptCase })[]> {
    const cases = targetedCases(corpus)
    const answers = await this.#runBatches(cases)
    return cases.map(({ about, given }, i) => ({ about, given, kept: { about, case: wireOf(given), answer: answers[i] as WireAnswer } }))
  }

  async runRandom(seed: number, from: number, to: number, corpus: Corpus): Promise<void> {
    for (let at = from; at < to; at += batchSize) {
      const indices = Array.from({ length: Math.min(batchSize, to - at) }, (_, i) => at + i)
      await this.#runBatches(indices.map((index) => ({ about: `seed ${seed}, case ${index}`, given: randomCase(seed, index, corpus) })))
    }
  }

  async #runBatches(cases: readonly TargetedCase[]): Promise<(WireAnswer | undefined)[]> {
    const answers: (WireAnswer | undefined)[] = []
    for (let at = 0; at < cases.length; at += batchSize) {
      const batch = cases.slice(at, at + batchSize)
      const wires = batch.map(({ given }) => wireOf(given))
      const asked = wires.map((wire) => this.#ask(wire))
      const ours = wires.map(tryOurs)
      for (const [i, { about, given }] of batch.entries()) {
        const answer = await asked[i]
        answers.push(answer && 'thrown' in answer ? undefined : answer)
        const found = this.#compare(wires[i] as WireCase, ours[i] as OurAnswer, answer, true)
        if (found) await this.#keep(about, given, found)
      }
    }
    return answers
  }

  /** Sends a case to the oracle. The oracle is started again after a case that ended it. */
  async #ask(wire: WireCase): Promise<WireAnswer | { readonly thrown: string }> {
    const oracle = this.#oracle
    try {
      return await oracle.ask(wire)
    } catch (error) {
      if (oracle === this.#oracle) this.#oracle = new Oracle(this.#path)
      return { thrown: errorMessage(error) }
    }
  }

  #compare(
    wire: WireCase,
    ours: OurAnswer | { readonly thrown: string },
    oracle: WireAnswer | { readonly thrown: string } | undefined,
    isCounted: boolean,
  ): BlockDifference | undefined {
    if (isCounted) this.counts.cases++
    if (isCounted) count(this.counts.forks, wire.fork)
    if (oracle === undefined || 'thrown' in oracle) return { kind: 'oracle failed', text: oracle?.thrown ?? 'no result' }
    if ('thrown' in ours) return { kind: 'we throw', text: ours.thrown }
    const { found, excluded } = difference(wire, ours, oracle)
    if (!isCounted) return found
    this.counts.transactions += oracle.transactions.length
    this.counts.refused += oracle.transactions.filter((end) => 'refused' in end).length
    this.counts.calls += oracle.calls?.length ?? 0
    if (excluded !== undefined) count(this.counts.excluded, excluded)
    return found
  }

  async #keep(about: string, given: BlockCase, { kind, text }: BlockDifference): Promise<void> {
    this.counts.found++
    if (this.counts.found > mostKept) return this.#onFound(`${about}: ${text}`)
    const again = async (candidate: BlockCase): Promise<BlockDifference | undefined> => {
      const wire = wireOf(candidate)
      return this.#compare(wire, tryOurs(wire) as OurAnswer, await this.#ask(wire), false)
    }
    const small = await smallest(given, smallerBlocks, async (candidate) => (await again(candidate))?.kind === kind, minimiseMs)
    const wire = wireOf(small)
    const answer = await this.#ask(wire)
    const path =
      'thrown' in answer ? 'not at all: the oracle has no result' : keep(this.#into, { about: `${kind} (${about})`, case: wire, answer })
    this.#onFound(`${about}: ${text}\n  minimised: ${(await again(small))?.text ?? text}\n  kept as ${path}`)
  }
}
