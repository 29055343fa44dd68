import { mkdirSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { toHex } from '#lib/hex'
import { keccak256Text } from '#lib/keccak'
import type { CaseRun, EvmCase } from '#test/harness/evm/case'
import { fileOfCase } from '#test/harness/evm/caseFile'
import { Checker, type Disagreement, type Mode } from './check.ts'
import type { Corpus } from './corpus.ts'
import { type Coverage, createCoverage } from './coverage.ts'
import { minimised } from './minimise.ts'
import { type Random, randomOf } from './random.ts'
import { caseOf, isEdgeCase } from './world.ts'

export type FuzzShare = {
  readonly seed: number
  /** Number of this worker; blocks of cases are assigned to workers in turn. */
  readonly worker: number
  readonly workers: number
  readonly endMs: number
  /** Only this case, on all interpreters and the oracle. */
  readonly only: number | undefined
  /** Folder for findings. */
  readonly into: string
}

export type FuzzCounts = {
  /** Worlds with their messages, and the same worlds with other gas. */
  cases: number
  variants: number
  /** Number of both that the oracle ran too. */
  oracle: number
  /** Cases whose opcodes were counted, and the number of them with at least 200. */
  counted: number
  long: number
  found: number
}

const blockSize = 16
const longSteps = 200
const modes: readonly Mode[] = ['plain', 'interrupted', 'traced', 'plain', 'plain', 'interrupted', 'plain', 'plain']
const minimiseMs = 60_000
const mostFound = 10

/** The same case with a message whose gas is lower than used, one too low, or exactly enough. */
function gasVariants(random: Random, given: EvmCase, { messages }: CaseRun): EvmCase[] {
  const at = random.below(given.messages.length)
  const message = given.messages[at]
  const spent = messages[at]?.gasUsed
  if (!message || spent === undefined || spent === 0n) return []
  const amounts = [spent - 1n, spent, BigInt(random.below(Number(spent < 2n ** 32n ? spent : 2n ** 32n)))]
  return amounts.map((gas) => ({ ...given, messages: given.messages.with(at, { ...message, gas }) }))
}

/** One worker's part of a fuzzing run. */
export class FuzzLoop {
  readonly counts: FuzzCounts = { cases: 0, variants: 0, oracle: 0, counted: 0, long: 0, found: 0 }
  readonly coverage: Coverage = createCoverage()
  readonly checker: Checker = new Checker()
  readonly #share: FuzzShare
  readonly #corpus: Corpus
  readonly #onFound: (line: string) => void
  #ownMs = 0
  #oracleMs = 0

  constructor(share: FuzzShare, corpus: Corpus, onFound: (line: string) => void) {
    this.#share = share
    this.#corpus = corpus
    this.#onFound = onFound
  }

  /** Runs cases until the time is over, and calls `pause` between them. */
  async run(pause: () => Promise<void>): Promise<void> {
    const { worker, workers, endMs, only } = this.#share
    if (only !== undefined) return this.#runCase(only, true)
    for (let i = 0; performance.now() < endMs && this.counts.found < mostFound; i++) {
      const index = (Math.floor(i / blockSize) * workers + worker) * blockSize + (i % blockSize)
      await this.#runCase(index, isEdgeCase(index) || this.#isOracleDue())
      if (i % blockSize === 0) await pause()
    }
  }

  /** True when the oracle is due: it gets as much time as all other work, or every case when there is nothing else to compare with. */
  #isOracleDue(): boolean {
    return this.checker.others === 0 || this.#oracleMs <= this.#ownMs
  }

  async #runCase(index: number, withOracle: boolean): Promise<void> {
    const startMs = performance.now()
    const oracleMs = this.#oracleMs
    const given = caseOf(this.#share.seed, index, this.#corpus)
    this.counts.cases++
    const run = await this.#check(index, given, withOracle)
    const isWithOracleToo = this.#share.only !== undefined || (withOracle && this.checker.others === 0)
    for (const variant of run ? gasVariants(randomOf(index), given, run) : []) {
      this.counts.variants++
      await this.#check(index, variant, isWithOracleToo)
    }
    this.#ownMs += performance.now() - startMs - (this.#oracleMs - oracleMs)
  }

  /** Undefined for a disagreement, which is stored. */
  async #check(index: number, given: EvmCase, withOracle: boolean): Promise<CaseRun | undefined> {
    const mode = modes[index % modes.length] ?? 'plain'
    const checked = this.checker.among(given, mode)
    const { run } = checked
    let { disagreement } = checked
    if (!disagreement && run && withOracle) {
      const startMs = performance.now()
      this.counts.oracle++
      disagreement = await this.checker.withOracle(given, run, mode, this.coverage.watch)
      this.#countSteps()
      this.#oracleMs += performance.now() - startMs
    }
    if (disagreement) await this.#keep(index, given, mode, disagreement)
    return disagreement ? undefined : run
  }

  #countSteps(): void {
    this.counts.counted++
    if (this.coverage.takeSteps() >= longSteps) this.counts.long++
  }

  async #keep(index: number, given: EvmCase, mode: Mode, { between, difference }: Disagreement): Promise<void> {
    this.counts.found++
    const again = async (candidate: EvmCase): Promise<Disagreement | undefined> => {
      const { run, disagreement } = this.checker.among(candidate, mode)
      return disagreement ?? (run && between.endsWith('oracle') ? await this.checker.withOracle(candidate, run, mode) : undefined)
    }
    const small = await minimised(given, async (candidate) => (await again(candidate))?.between === between, minimiseMs)
    const said = (await again(small))?.difference ?? difference
    const about = `${between}: ${said} (seed ${this.#share.seed}, case ${index})`
    const text = `${JSON.stringify(fileOfCase(about, small), null, 2)}\n`
    const name = `${given.fork}-${toHex(keccak256Text(text)).slice(2, 10)}.json`
    const path = resolve(this.#share.into, name)
    mkdirSync(this.#share.into, { recursive: true })
    writeFileSync(path, text)
    this.#onFound(`case ${index}: ${between}: ${difference}\n  minimised: ${said}\n  kept as ${path}`)
  }
}
