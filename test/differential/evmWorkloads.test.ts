import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWasmEvm } from '#evm/wasmEvm'
import { toHex } from '#lib/hex'
import { createReferenceEvm } from '#test/reference/referenceEvm'
import { type BenchAnvil, startBenchAnvil } from '../../bench/evm/anvil.ts'
import { callData, meter, type Workload, workloads } from '../../bench/evm/workloads.ts'
import { benchView, callOnce } from '../../bench/evm/world.ts'

const slots = 200
/** Few rounds that still run every part of a workload. */
const fewRounds: Readonly<Record<string, number>> = {
  ColdSlots: slots,
  Creations: 1,
  NestedCalls: 2,
  Quicksort: 1,
  RayTracer: 3,
  Rotates: 3,
}
const small = workloads.map((workload): Workload => ({ ...workload, rounds: fewRounds[workload.contract] ?? 70 }))

const interpreters = [
  ['reference', createReferenceEvm()],
  ['wasm', createWasmEvm()],
] as const
const view = benchView(slots)
let anvil: BenchAnvil

beforeAll(async () => {
  anvil = await startBenchAnvil(slots)
})
afterAll(() => anvil[Symbol.asyncDispose]())

it.each(small.flatMap((workload) => interpreters.map(([name, evm]) => ({ workload, evm, title: `${name}: ${workload.name}` }))))(
  "evm: runs $title with anvil's result and gas",
  async ({ workload, evm }) => {
    const data = callData(workload)
    const theirs = await anvil.call(meter, toHex(data))
    expect(theirs).toHaveLength(2 + 2 * 64)
    expect(toHex(callOnce(evm, view, data))).toBe(theirs)
  },
)
