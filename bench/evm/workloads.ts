// Workloads of the comparison of interpreters: contracts/bench, compiled, and the number of rounds of each.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesFromBigint } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256Text } from '#lib/keccak'
import { type Address, parseAddress } from '#types/ids'

export type Workload = {
  readonly name: string
  /** with a function `run` */
  readonly contract: string
  /** rounds that take revm some 100 ms; for `ColdSlots` the slots, for `Creations` thousands of contracts */
  readonly rounds: number
  /** Too short to judge, but shown. */
  readonly isAside?: true
}

export const workloads: readonly Workload[] = [
  { name: '256-bit arithmetic', contract: 'Arithmetic256', rounds: 200_000 },
  { name: '64-bit arithmetic', contract: 'Arithmetic64', rounds: 250_000 },
  { name: 'keccak chain', contract: 'KeccakChain', rounds: 150_000 },
  { name: 'ERC-20 transfers, direct', contract: 'DirectTransfers', rounds: 40_000 },
  { name: 'ERC-20 transfers through CALL', contract: 'CalledTransfers', rounds: 35_000 },
  { name: 'quicksort of 1,000 words', contract: 'Quicksort', rounds: 35 },
  { name: 'MULMOD over BN254', contract: 'MulmodBn254', rounds: 35_000 },
  { name: 'fixed point exp, ln, pow, sqrt', contract: 'FixedPoint', rounds: 3_500 },
  { name: 'SHA-2-like rotates', contract: 'Rotates', rounds: 1_200 },
  { name: 'ray tracer of 17 KB', contract: 'RayTracer', rounds: 50 },
  { name: 'swaps, a pair and two tokens', contract: 'Swaps', rounds: 6_000 },
  { name: 'cold slots, 80,000', contract: 'ColdSlots', rounds: 80_000 },
  { name: 'cold slots, 10,000', contract: 'ColdSlots', rounds: 10_000, isAside: true },
  { name: 'CREATE2, 40 × 1,000', contract: 'Creations', rounds: 40 },
  { name: 'nested calls, 1,000 deep', contract: 'NestedCalls', rounds: 110 },
]

/** Run-time code by contract. */
export const codes: ReadonlyMap<string, Uint8Array> = new Map(
  Object.entries(JSON.parse(readFileSync(join(import.meta.dirname, '../data/contracts.json'), 'utf8')) as Record<string, string>).map(
    ([name, hex]) => [name, fromHex(hex)],
  ),
)

export type Placed = { readonly address: Address; readonly contract: string }

const addressAt = (number: number): Address => parseAddress(`0x${number.toString(16).padStart(40, '0')}`)

export const meter: Address = addressAt(0xbe00)
export const caller: Address = addressAt(0xca11e2)
/** An account that does not exist. */
export const nobody: Address = addressAt(0xdead_0001)

/** Addresses of the contracts: tokens and pair at the addresses that the contracts use. */
export const placed: readonly Placed[] = [
  { address: meter, contract: 'Meter' },
  { address: addressAt(0xbe01), contract: 'Token' },
  { address: addressAt(0xbe02), contract: 'Token' },
  { address: addressAt(0xbe03), contract: 'Pair' },
  ...[...new Set(workloads.map(({ contract }) => contract))].map((contract, index) => ({ address: addressAt(0xbe10 + index), contract })),
]

/** @throws RangeError when there is no such contract */
export function addressOf(contract: string): Address {
  const found = placed.find((each) => each.contract === contract)
  if (found === undefined) throw new RangeError(`no contract ${contract} in contracts/bench`)
  return found.address
}

/** @throws RangeError when there is no such contract */
export function codeOf(contract: string): Uint8Array {
  const code = codes.get(contract)
  if (code === undefined) throw new RangeError(`no contract ${contract} in bench/data/contracts.json`)
  return code
}

const word = (value: bigint): Uint8Array => bytesFromBigint(value, 32)

/** The slots that `ColdSlots` reads, with values that are not zero: slot number and value, 32 bytes each. */
export function* coldSlots(count: number): Iterable<readonly [slot: Uint8Array, value: Uint8Array]> {
  const step = 0x9e6c63d0676a9a99b7e151628aed2a6bd5a79147930aa725c2b2ae3d27d4eb4fn
  for (let i = 1n; i <= count; i++) yield [word(BigInt.asUintN(256, i * step)), word((i * 7n) << 100n)]
}

/** Call data of the meter. */
export function callData({ contract, rounds }: Workload): Uint8Array {
  const selector = keccak256Text('measure(address,uint256)').subarray(0, 4)
  return Uint8Array.from([...selector, ...word(BigInt(addressOf(contract))), ...word(BigInt(rounds))])
}
