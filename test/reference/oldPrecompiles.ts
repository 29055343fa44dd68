import { blake2f } from '#evm/precompiles/blake2f'
import { bn254Add, bn254Mul, bn254Pairing, pairCount } from '#evm/precompiles/bn254'
import { ecrecover } from '#evm/precompiles/ecrecover'
import { identity, ripemd160, sha256 } from '#evm/precompiles/hashes'
import { modexp } from '#evm/precompiles/modexp'
import { modexpLengths, squarings } from '#evm/precompiles/modexpGas'
import type { Precompile } from '#evm/precompiles/precompile'
import { hasOldFork, type OldEvmFork } from './oldForks.ts'

/** Returns the gas before Berlin: `multiplicationCost` times the number of squarings, divided by 20. @see EIP-198 */
function modexpGasByzantium(input: Uint8Array): bigint {
  const lengths = modexpLengths(input)
  const size = lengths.base > lengths.modulus ? lengths.base : lengths.modulus
  return (multiplicationCost(size) * squarings(input, lengths, 8n)) / 20n
}

/** Returns the cost of multiplying numbers of a size in bytes. @see EIP-198, mult_complexity */
function multiplicationCost(size: bigint): bigint {
  if (size <= 64n) return size * size
  if (size <= 1_024n) return (size * size) / 4n + 96n * size - 3_072n
  return (size * size) / 16n + 480n * size - 199_680n
}

const byFork = new Map<OldEvmFork, ReadonlyMap<bigint, Precompile>>()

/** Returns the precompiles before Paris, by address: before Istanbul bn254 at its gas before EIP-1108, before Berlin MODEXP at the gas of EIP-198. */
export function oldPrecompiles(fork: OldEvmFork): ReadonlyMap<bigint, Precompile> {
  const known = byFork.get(fork) ?? new Map(listOf(fork))
  byFork.set(fork, known)
  return known
}

function listOf(fork: OldEvmFork): readonly (readonly [bigint, Precompile])[] {
  const rules = { fork: 'paris', old: fork, precompileLimits: {} } as const
  const list: (readonly [bigint, Precompile])[] = [
    [0x01n, ecrecover],
    [0x02n, sha256],
    [0x03n, ripemd160],
    [0x04n, identity],
  ]
  if (!hasOldFork(rules, 'byzantium')) return list
  const isIstanbul = hasOldFork(rules, 'istanbul')
  return [
    ...list,
    [0x05n, hasOldFork(rules, 'berlin') ? modexp : { ...modexp, gas: modexpGasByzantium }],
    [0x06n, isIstanbul ? bn254Add : { ...bn254Add, gas: () => 500n }],
    [0x07n, isIstanbul ? bn254Mul : { ...bn254Mul, gas: () => 40_000n }],
    [0x08n, isIstanbul ? bn254Pairing : { ...bn254Pairing, gas: (input) => 100_000n + 80_000n * pairCount(input) }],
    ...(isIstanbul ? [[0x09n, blake2f] as const] : []),
  ]
}
