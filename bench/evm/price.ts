// The slowest gas: for each precompile and opcode the worst of many inputs, in time per gas with the CALL included, against ecrecover's.
// Screens all inputs quickly, measures the worst of them again, alternating with ecrecover, and compares best times: other programs on the machine
// can only increase a time.
import { hash } from 'node:crypto'
import type { Evm } from '#evm/ports'
import type { Row } from '../format.ts'
import { opcodeSubjects } from './priceOpcodes.ts'
import { ecrecoverSubject, precompileSubjects, type Subject } from './pricePrecompiles.ts'
import { stateSubjects } from './priceState.ts'
import { nsPerGas, repetitionsFor, runTrial, type Trial } from './priceTrial.ts'
import { chosenEvm, type EvmOptions } from './world.ts'

/** Limit of a judged run: time per gas divided by ecrecover's. */
const mostRatio = 5
const screenedNs = 400_000
/** Short enough that some rounds run without interruption; a longer trial is measured by its CPU time. */
const measuredNs = 800_000
const slowNs = 200_000_000
const slowRounds = 5
const warmUpMs = 300
const finalists = 4
const defaultRounds = 40

type Screened = { readonly trial: Trial; readonly ns: number }
type Measured = { readonly trial: Trial; readonly ns: readonly number[]; readonly reference: readonly number[] }

/** Runs trials until V8 has optimised their code. */
function warmUp(evm: Evm, { trials }: Subject): void {
  const startMs = performance.now()
  for (const trial of trials()) {
    runTrial(evm, trial, 2)
    if (performance.now() - startMs > warmUpMs) return
  }
}

const screenings = 2
const repeat = <T>(times: number, run: () => T): T[] => Array.from({ length: times }, run)

function screen(evm: Evm, { trials }: Subject): readonly Screened[] {
  const screened: Screened[] = []
  for (const trial of trials()) {
    const repetitions = repetitionsFor(evm, trial, screenedNs)
    const costs = repeat(screenings, () => runTrial(evm, trial, repetitions))
    screened.push({ trial, ns: Math.min(...costs.map(nsPerGas)) })
  }
  return screened
}

/** Returns the worst few of the screened inputs, each with another label: similar inputs are measured once. */
function worst(screened: readonly Screened[]): readonly Trial[] {
  const sorted = screened.toSorted((a, b) => b.ns - a.ns)
  return sorted.slice(0, finalists).map(({ trial }) => trial)
}

function measure(evm: Evm, trial: Trial, reference: Trial, rounds: number): Measured {
  const times = { ns: [] as number[], reference: [] as number[] }
  const quick = repetitionsFor(evm, trial, measuredNs)
  const repetitions = quick > 1 ? quick : repetitionsFor(evm, trial, slowNs)
  const referenceRepetitions = repetitionsFor(evm, reference, measuredNs)
  for (let round = 0; round < (quick > 1 ? rounds : slowRounds); round++) {
    times.reference.push(...repeat(quick > 1 ? 1 : rounds, () => nsPerGas(runTrial(evm, reference, referenceRepetitions))))
    times.ns.push(nsPerGas(runTrial(evm, trial, repetitions)))
  }
  return { trial, ...times }
}

const ratioOf = ({ ns, reference }: Measured): number => Math.min(...ns) / Math.min(...reference)

function rowOf(name: string, searched: number, measured: Measured): Row {
  const { trial, ns, reference } = measured
  const input = trial.dataFor(1)
  return {
    name,
    unit: 'ns/gas',
    value: Math.min(...ns),
    runs: ns,
    against: { name: 'ecrecover', value: Math.min(...reference), runs: reference },
    facts: { ratio: ratioOf(measured), searched, worst: trial.label, bytes: input.length, input: hash('sha256', input) },
  }
}

function search(evm: Evm, subject: Subject, reference: Trial, rounds: number): Row {
  warmUp(evm, subject)
  const screened = screen(evm, subject)
  const measured = worst(screened).map((trial) => measure(evm, trial, reference, rounds))
  const slowest = measured.reduce((a, b) => (ratioOf(b) > ratioOf(a) ? b : a))
  return rowOf(subject.name, screened.length, slowest)
}

/** A signature of an ordinary transaction. */
function referenceTrial(evm: Evm): Trial {
  warmUp(evm, ecrecoverSubject)
  for (const trial of ecrecoverSubject.trials()) if (!trial.label.includes('not paid')) return trial
  throw new Error('no signature')
}

/** With `judge` the exit code is 1 when a subject costs more than five times ecrecover's time for a gas. */
export async function run({ evm: name, rounds = defaultRounds, only = '', judge }: EvmOptions): Promise<readonly Row[]> {
  const evm = await chosenEvm(name)
  const reference = referenceTrial(evm)
  const rows: Row[] = []
  const subjects = [...precompileSubjects(), ...opcodeSubjects(), ...stateSubjects()]
  for (const subject of subjects.filter((each) => each.name.includes(only))) {
    const row = search(evm, subject, reference, rounds)
    rows.push(row)
    const { ratio = 0, searched = 0, worst: label = '' } = row.facts ?? {}
    console.log(
      `${row.name.padEnd(32)} ${row.value.toFixed(1).padStart(6)} ns/gas ${Number(ratio).toFixed(2).padStart(5)}× of ${searched}: ${label}`,
    )
  }
  const slow = rows.filter(({ facts }) => Number(facts?.['ratio']) > mostRatio)
  for (const { name: slowName } of slow) console.log(`${slowName} costs more than ${mostRatio}× the time per gas of ecrecover`)
  if (judge && slow.length > 0) process.exitCode = 1
  return rows
}
