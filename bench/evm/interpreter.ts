// The interpreter against anvil's revm: the same code and call data by hash, interleaved, results and gas compared.
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { Row } from '../format.ts'
import { median } from '../format.ts'
import { type BenchAnvil, startBenchAnvil } from './anvil.ts'
import { addressOf, callData, codeOf, nobody, placed, type Workload, workloads } from './workloads.ts'
import { benchView, callOnce, chosenEvm, type EvmOptions } from './world.ts'

/** Limits of a judged run: our speed divided by anvil's, by the best times. */
const leastGeomean = 1.2
const leastRatio = 0.8
/** Minimum time of a workload in anvil, and the maximum share of RPC in it. */
const leastMs = 50
const mostOverhead = 0.02

const warmUps = 2
const defaultRounds = 7
/** empty calls for each call of a workload */
const emptyCalls = 5

type Sides = { readonly ours: () => Uint8Array; readonly theirs: () => Promise<string>; readonly empty: () => Promise<string> }
type Timed = { readonly ours: number[]; readonly theirs: number[]; readonly overhead: number[] }
type Compared = Timed & { readonly workload: Workload; readonly mgas: number; readonly result: string }

async function timed(run: () => unknown): Promise<number> {
  const startMs = performance.now()
  await run()
  return performance.now() - startMs
}

/** @throws Error when anvil's code differs from ours */
async function checkCodes(anvil: BenchAnvil): Promise<void> {
  for (const { address, contract } of placed) {
    if ((await anvil.codeAt(address)) !== toHex(codeOf(contract))) throw new Error(`anvil has other code for ${contract}`)
  }
}

/** Returns result and gas, equal on both sides. @throws Error when they do not */
async function agreed(name: string, { ours, theirs }: Sides): Promise<{ readonly result: string; readonly mgas: number }> {
  const [mine, other] = [toHex(ours()), await theirs()]
  if (mine !== other) throw new Error(`${name}: we return ${mine}, anvil ${other}`)
  return { result: mine.slice(0, 66), mgas: Number(`0x${mine.slice(66)}`) / 1e6 }
}

async function compare(workload: Workload, sides: Sides, rounds: number): Promise<Compared> {
  const facts = await agreed(workload.name, sides)
  for (let warm = 1; warm < warmUps; warm++) {
    sides.ours()
    await sides.theirs()
  }
  const times: Timed = { ours: [], theirs: [], overhead: [] }
  for (let round = 0; round < rounds; round++) {
    times.ours.push(await timed(sides.ours))
    times.theirs.push(await timed(sides.theirs))
    for (let i = 0; i < emptyCalls; i++) times.overhead.push(await timed(sides.empty))
  }
  return { workload, ...facts, ...times }
}

/** Best times in ms, anvil's without its RPC. */
function best({ ours, theirs, overhead }: Timed): { oursMs: number; anvilMs: number; overheadMs: number; ratio: number } {
  const overheadMs = Math.min(...overhead)
  const [oursMs, anvilMs] = [Math.min(...ours), Math.min(...theirs) - overheadMs]
  return { oursMs, anvilMs, overheadMs, ratio: anvilMs / oursMs }
}

function rowOf(compared: Compared): Row {
  const { workload, mgas, result, ours, theirs } = compared
  const { overheadMs, ...times } = best(compared)
  const speeds = (runs: readonly number[], lessMs: number) => runs.map((ms) => (mgas * 1_000) / (ms - lessMs))
  const [mine, others] = [speeds(ours, 0), speeds(theirs, overheadMs)]
  const hash = (bytes: Uint8Array) => toHex(keccak256(bytes))
  return {
    name: workload.name,
    unit: 'Mgas/s',
    value: median(mine),
    runs: mine,
    against: { name: 'anvil', value: median(others), runs: others },
    facts: { mgas, ...times, overheadMs, result, code: hash(codeOf(workload.contract)), call: hash(callData(workload)) },
  }
}

const geomean = (values: readonly number[]): number => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)

function printTable(all: readonly Compared[]): void {
  const line = (cells: readonly string[]) => console.log(cells.map((cell, i) => (i === 0 ? cell.padEnd(32) : cell.padStart(9))).join(' '))
  line(['workload', 'Mgas', 'ours ms', 'anvil ms', 'RPC ms', 'ratio'])
  for (const each of all) {
    const { oursMs, anvilMs, overheadMs, ratio } = best(each)
    const numbers = [each.mgas.toFixed(0), oursMs.toFixed(1), anvilMs.toFixed(1), overheadMs.toFixed(2), ratio.toFixed(2)]
    line([each.workload.isAside ? `(${each.workload.name})` : each.workload.name, ...numbers])
  }
}

/** Returns the limits that these times violate. */
function complaints(all: readonly Compared[], mean: number): readonly string[] {
  const slow = mean < leastGeomean ? [`the geometric mean is below ${leastGeomean}`] : []
  return all.reduce((found, each) => {
    const { anvilMs, overheadMs, ratio } = best(each)
    if (ratio < leastRatio) found.push(`${each.workload.name}: below ${leastRatio}`)
    if (anvilMs < leastMs) found.push(`${each.workload.name}: too short, ${anvilMs.toFixed(1)} ms in anvil: raise its rounds`)
    if (overheadMs > mostOverhead * anvilMs) found.push(`${each.workload.name}: RPC is more than ${mostOverhead * 100} %`)
    return found
  }, slow)
}

/** Compares every workload. Ratios are of the best times of both: run it on a quiet machine. */
export async function run({ evm: name = 'wasm', rounds = defaultRounds, only = '', judge = false }: EvmOptions): Promise<readonly Row[]> {
  const chosen = workloads.filter((each) => each.name.includes(only))
  if (chosen.length === 0) throw new Error(`no workload has ${JSON.stringify(only)} in its name`)
  const slotCount = Math.max(0, ...chosen.filter(({ contract }) => contract === 'ColdSlots').map((each) => each.rounds))
  const [evm, view] = [await chosenEvm(name), benchView(slotCount)]
  await using anvil = await startBenchAnvil(slotCount)
  await checkCodes(anvil)
  const all: Compared[] = []
  for (const workload of chosen) {
    const data = callData(workload)
    const hex = toHex(data)
    const sides: Sides = {
      ours: () => callOnce(evm, view, data),
      theirs: () => anvil.call(addressOf('Meter'), hex),
      empty: () => anvil.call(nobody, hex),
    }
    all.push(await compare(workload, sides, rounds))
  }
  const judged = all.filter(({ workload }) => !workload.isAside)
  const mean = geomean(judged.map((each) => best(each).ratio))
  console.log(`${name} against ${anvil.version}, best of ${rounds}`)
  printTable(all)
  console.log(`geometric mean ${mean.toFixed(2)}, without the rows in brackets: their share of RPC is too large`)
  const against = judge ? complaints(judged, mean) : []
  for (const complaint of against) console.error(complaint)
  if (against.length > 0) process.exitCode = 1
  return [...all.map(rowOf), { name: 'geometric mean of ratios by best times', unit: '×', value: mean, runs: [mean] }]
}
