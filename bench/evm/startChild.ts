// A fresh process for bench/evm/start.ts: `speed <interpreter> <workload>` or `memory <interpreter>`; it sends its measurements, and ends.
import { setImmediate } from 'node:timers/promises'
import type { Evm, StateView } from '#evm/ports'
import { warmUp } from '#evm/warmUp'
import { callData, type Workload, workloads } from './workloads.ts'
import { benchView, callOnce, chosenEvm } from './world.ts'

/** Milliseconds to create an interpreter and warm it up as the node does, and of each run with it, in order. */
export type SpeedReport = { readonly loadMs: number; readonly runsMs: readonly number[] }
/** Resident memory in MB (2^20) of an idle interpreter after a run: the first instance, and each of some more. */
export type MemoryReport = { readonly firstMb: number; readonly nextMb: number }

const runs = 16
const moreInstances = 4
/** rounds of the small run */
const fewRounds = 100

async function speed(name: string, workload: Workload): Promise<SpeedReport> {
  const view = benchView(0)
  const data = callData(workload)
  const startMs = performance.now()
  const evm = await chosenEvm(name)
  warmUp(evm)
  const loadMs = performance.now() - startMs
  const runsMs: number[] = []
  for (let i = 0; i < runs; i++) {
    const fromMs = performance.now()
    callOnce(evm, view, data)
    runsMs.push(performance.now() - fromMs)
    // V8 installs compiled code between two tasks too
    await setImmediate()
  }
  return { loadMs, runsMs }
}

/** Resident memory after garbage collection. */
async function residentMb(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.()
    await setImmediate()
  }
  return process.memoryUsage.rss() / 2 ** 20
}

async function smallRun(name: string, view: StateView, data: Uint8Array): Promise<Evm> {
  const evm = await chosenEvm(name)
  callOnce(evm, view, data)
  return evm
}

async function memory(name: string, workload: Workload): Promise<MemoryReport> {
  const view = benchView(0)
  const data = callData({ ...workload, rounds: fewRounds })
  const kept: Evm[] = []
  const beforeMb = await residentMb()
  kept.push(await smallRun(name, view, data))
  const firstMb = (await residentMb()) - beforeMb
  for (let i = 0; i < moreInstances; i++) kept.push(await smallRun(name, view, data))
  const allMb = (await residentMb()) - beforeMb
  return { firstMb, nextMb: (allMb - firstMb) / (kept.length - 1) }
}

const [what = '', name = '', contract = 'CalledTransfers'] = process.argv.slice(2)
const workload = workloads.find((each) => each.contract === contract)
if (workload === undefined) throw new Error(`no workload ${contract}`)
process.send?.(what === 'speed' ? await speed(name, workload) : await memory(name, workload))
process.disconnect?.()
