// Memory that 100,000 calls of each precompile leave behind, failing calls included: heap and other memory, before and after. Slow inputs occur
// rarely in those calls, so that the run takes minutes, not hours.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Evm } from '#evm/ports'
import type { Row } from '../format.ts'
import { precompileSubjects, type Subject } from './pricePrecompiles.ts'
import { runTrial, type Trial } from './priceTrial.ts'
import { chosenEvm, type EvmOptions } from './world.ts'

const calls = 100_000
const mostGrowthMb = 16
/** calls of one message; messages use the inputs in turn */
const callsPerMessage = 500
const slowNs = 100_000
const inputs = 24

type Usage = { readonly heapMb: number; readonly otherMb: number }

function usage(collect: () => void): Usage {
  collect()
  collect()
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  return { heapMb: heapUsed / 2 ** 20, otherMb: Math.max(external, arrayBuffers) / 2 ** 20 }
}

type Cycle = { readonly trials: readonly Trial[]; readonly repetitions: readonly number[] }

/** Returns the first inputs, each with the number of its calls in a message: one for slow inputs. */
function cycleOf(evm: Evm, { trials }: Subject): Cycle {
  const some: Trial[] = []
  for (const trial of trials()) if (some.push(trial) === inputs) break
  const repetitions = some.map((trial) => (Math.min(runTrial(evm, trial, 1).ns, runTrial(evm, trial, 1).ns) > slowNs ? 1 : callsPerMessage))
  return { trials: some, repetitions }
}

/** @returns the number of calls */
function makeCalls(evm: Evm, { trials, repetitions }: Cycle): number {
  let made = 0
  for (let i = 0; made < calls; i++) {
    const [trial, count] = [trials[i % trials.length], repetitions[i % trials.length] ?? 1]
    if (trial) runTrial(evm, trial, count)
    made += trial ? count : 1
  }
  return made
}

function measure(evm: Evm, subject: Subject, collect: () => void): Row {
  const cycle = cycleOf(evm, subject)
  const before = usage(collect)
  const made = makeCalls(evm, cycle)
  const after = usage(collect)
  const grown = after.heapMb - before.heapMb + after.otherMb - before.otherMb
  return {
    name: subject.name,
    unit: 'MB more',
    value: grown,
    runs: [grown],
    facts: { calls: made, heapBefore: before.heapMb, heapAfter: after.heapMb, otherBefore: before.otherMb, otherAfter: after.otherMb },
  }
}

/** With `judge` the exit code is 1 when a precompile's calls leave more than some megabytes. */
export async function run({ evm: name, only = '', judge }: EvmOptions): Promise<readonly Row[]> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const evm = await chosenEvm(name)
  const rows: Row[] = []
  for (const subject of precompileSubjects().filter((each) => each.name.includes(only))) {
    const row = measure(evm, subject, collect)
    rows.push(row)
    console.log(`${row.name.padEnd(32)} ${row.value.toFixed(2).padStart(6)} MB more after ${row.facts?.['calls']} calls`)
  }
  if (judge && rows.some(({ value }) => value > mostGrowthMb)) process.exitCode = 1
  return rows
}
