// The slowest block that L1 can force: user deposits at the limit of OptimismPortal's ResourceMetering, 20 Mgas for each L1 block, with the slowest
// input of each precompile (`evmPrice`). Builds the whole block, state root included, over a state in memory; CPU time of this thread.

import { configOfGenesis } from '#block/executionConfig'
import { createExecution } from '#blockchain/execution'
import { createWasmEvm } from '#evm/wasmEvm'
import { concatBytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { attributesAt, hashOf, scheduleTo, smallGenesis } from '#test/harness/chain/blocks'
import { testAddress } from '#test/harness/evm/sessions'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { encodeDeposit } from '#types/deposit'
import { op, push } from './evm/priceCode.ts'
import { blsPoints, bn254Points, elementInputs, pairingInputs } from './evm/priceCurves.ts'
import { modexpInputs, type PricedInput, p256Inputs } from './evm/priceNumbers.ts'
import { median, type Row } from './format.ts'

/** maxResourceLimit of ResourceMetering, in gas. */
const limitGas = 20_000_000
/** Longest data of a deposit (OptimismPortal). */
const mostData = 120_000
const rounds = 5
const schedule = scheduleTo('jovian')
const genesis = smallGenesis(schedule)
const config = configOfGenesis(genesis)

/** A deposit that creates a contract, with the program as its data. */
const creation = (data: Uint8Array, gasLimit: number, value = 0n): Uint8Array =>
  encodeDeposit({
    ...{ type: 0x7e, sourceHash: hashOf('bench'), from: testAddress(0xd1), to: null, mint: 0n, value },
    ...{ gasLimit: BigInt(gasLimit), isSystemTransaction: false, data },
  })

/** Gas at which a loop ends, so that its changes are not reverted. */
const leastGas = 60_000

/** Repeats a body until little gas is left; `input` is at 0 in memory. */
function forever(body: readonly number[], input: Uint8Array = new Uint8Array(0)): Uint8Array {
  const head = (size: number): number[] => [...push(input.length, 3), ...push(size, 3), ...push(0), op.codecopy, ...push(0)]
  const start = head(0).length
  const again = [op.gas, ...push(leastGas, 3), op.lt, ...push(start, 3), op.jumpi, op.stop]
  const code = (size: number): number[] => [...head(size), op.jumpdest, ...body, ...again]
  return concatBytes(Uint8Array.from(code(code(0).length)), input)
}

/** Calls a precompile with the input repeatedly. The counter of the loop stays on the stack. */
const calling = (address: number, { input }: PricedInput): Uint8Array =>
  forever([...push(0), ...push(0), ...push(input.length, 3), ...push(0), ...push(address, 2), op.gas, op.staticcall, op.pop], input)

/** Returns the first input whose label has this prefix. */
function labelled(inputs: Iterable<PricedInput>, label: string): PricedInput {
  for (const input of inputs) if (input.label.startsWith(label)) return input
  throw new RangeError(`no input ${label}`)
}
/** Adds one to the counter on the stack, and leaves a copy of it above. */
const count = [...push(1), op.add, op.dup1]

const loops: Readonly<Record<string, () => Uint8Array>> = {
  'BLS map to G2': () => calling(0x11, labelled(elementInputs(2), 'element 816b0f51')),
  'BLS map to G1': () => calling(0x10, labelled(elementInputs(1), 'element 6cf42107')),
  'BLS pairing': () => calling(0x0f, labelled(pairingInputs(blsPoints(), []), '1 pairs, random')),
  'bn254 pairing': () => calling(0x08, labelled(pairingInputs(bn254Points(), []), '3 pairs, random')),
  P256VERIFY: () => calling(0x100, labelled(p256Inputs(), 'dense 1')),
  MODEXP: () => calling(0x05, labelled(modexpInputs(), 'base 1000, exponent 1 ones, modulus 1000 of shape 4')),
  'KECCAK256 of 4 KB': () => forever([...push(4_096), ...push(0), op.keccak256, op.pop]),
  'new slots': () => forever([...count, op.dup1, op.sstore]),
  'absent slots read': () => forever([...count, op.sload, op.pop]),
  'absent accounts read': () => forever([...count, op.balance, op.pop]),
  'contracts created, 48 KB of initcode each': () => forever([...push(49_152), ...push(0), ...push(0), op.create, op.pop]),
  'logs of 1 KB': () => forever([...push(1_024), ...push(0), op.log0]),
}

/** Deposits of each kind, 20 Mgas together. */
const blocks: readonly (readonly [name: string, deposits: () => readonly Uint8Array[]])[] = [
  ...Object.entries(loops).map(([name, code]) => [name, () => [creation(code(), limitGas)]] as const),
  [
    `creations with ${mostData} bytes of JUMPDEST`,
    () => Array.from({ length: 10 }, () => creation(new Uint8Array(mostData).fill(op.jumpdest), limitGas / 10)),
  ],
  ['deposits that fail', () => Array.from({ length: Math.floor(limitGas / 53_000) }, () => creation(new Uint8Array(0), 53_000, 1n))],
]

/** @returns milliseconds of this thread, and the gas of the block */
async function build(deposits: readonly Uint8Array[]): Promise<{ readonly ms: number; readonly gas: number }> {
  const deps = { kv: createMemoryKv(), evm: createWasmEvm({ codeBytes: 32 * 2 ** 20 }), config, genesis: () => genesis }
  await using execution = createExecution({ ...deps, clock: systemClock, log: silentLog })
  const start = process.threadCpuUsage()
  const built = await execution.build(config.genesis.l2, attributesAt(schedule, 1, deposits))
  const { user, system } = process.threadCpuUsage(start)
  if (built.kind === 'invalid') throw new Error(built.reason)
  return { ms: (user + system) / 1_000, gas: Number(built.payload.gasUsed) }
}

export async function run(): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const [name, depositsOf] of blocks) {
    const deposits = depositsOf()
    const runs: number[] = []
    await build(deposits)
    let gas = 0
    let mostMs = 0
    for (let round = 0; round < rounds; round++) {
      const built = await build(deposits)
      gas = built.gas
      mostMs = Math.max(mostMs, built.ms)
      runs.push(gas / 1_000 / built.ms)
    }
    rows.push({ name, unit: 'Mgas/s', value: median(runs), runs, facts: { gas, longestMs: Math.round(mostMs), deposits: deposits.length } })
    console.log(
      `${name.padEnd(44)} ${median(runs).toFixed(1).padStart(7)} Mgas/s, ${(gas / 1e6).toFixed(1)} Mgas in ${Math.round(mostMs)} ms at most`,
    )
  }
  return rows
}
