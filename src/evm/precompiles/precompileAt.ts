import { type EvmFork, type EvmRules, hasFork } from '#chainspec/evmRules'
import { bytesFromBigint } from '#lib/bytes'
import { type Address, addressFromBytes } from '#types/ids'
import { blake2f } from './blake2f.ts'
import { blsG1Add, blsG1Msm, blsG2Add, blsG2Msm, blsMapFp2ToG2, blsMapFpToG1, blsPairing } from './bls12381.ts'
import { bn254Add, bn254Mul, bn254Pairing } from './bn254.ts'
import { ecrecover } from './ecrecover.ts'
import { identity, ripemd160, sha256 } from './hashes.ts'
import { modexp, modexpOsaka } from './modexp.ts'
import { p256Verify } from './p256Verify.ts'
import { pointEvaluation } from './pointEvaluation.ts'
import { limited, type Precompile } from './precompile.ts'

type Table = { readonly byAddress: ReadonlyMap<Address | bigint, Precompile>; readonly addresses: readonly Address[] }

const tables = new WeakMap<EvmRules, Table>()

/** Returns the precompile at an address, given as text or number, under these rules; undefined when there is none. */
export function precompileAt(rules: EvmRules, address: Address | bigint): Precompile | undefined {
  return tableOf(rules).byAddress.get(address)
}

/** Returns all precompile addresses under these rules; they start warm (EIP-2929). */
export function precompileAddresses(rules: EvmRules): readonly Address[] {
  return tableOf(rules).addresses
}

function tableOf(rules: EvmRules): Table {
  const known = tables.get(rules)
  if (known) return known
  const byAddress = new Map<Address | bigint, Precompile>()
  const addresses: Address[] = []
  for (const [number, precompile] of precompilesUnder(rules)) {
    const address = addressFromBytes(bytesFromBigint(number, 20))
    addresses.push(address)
    byAddress.set(number, precompile).set(address, precompile)
  }
  const table = { byAddress, addresses }
  tables.set(rules, table)
  return table
}

function precompilesUnder(rules: EvmRules): [bigint, Precompile][] {
  const fork = forkPrecompiles(rules)
  if (rules.precompilesAt === undefined) return fork
  const list = new Map(fork)
  for (const address of rules.precompilesAt.keys()) list.delete(BigInt(address))
  for (const [address, from] of rules.precompilesAt) {
    const precompile = fork.find(([number]) => from !== undefined && number === BigInt(from))?.[1]
    if (precompile) list.set(BigInt(address), precompile)
  }
  return [...list]
}

function forkPrecompiles(rules: EvmRules): [bigint, Precompile][] {
  const limits = rules.precompileLimits
  const has = (fork: EvmFork): boolean => hasFork(rules, fork)
  const list: [bigint, Precompile][] = [
    [0x01n, ecrecover],
    [0x02n, sha256],
    [0x03n, ripemd160],
    [0x04n, identity],
    [0x05n, has('osaka') ? modexpOsaka : modexp],
    [0x06n, bn254Add],
    [0x07n, bn254Mul],
    [0x08n, limited(bn254Pairing, limits.bn254PairingBytes)],
    [0x09n, blake2f],
  ]
  if (has('cancun')) list.push([0x0an, pointEvaluation])
  if (has('prague')) {
    list.push(
      [0x0bn, blsG1Add],
      [0x0cn, limited(blsG1Msm, limits.blsG1MsmBytes)],
      [0x0dn, blsG2Add],
      [0x0en, limited(blsG2Msm, limits.blsG2MsmBytes)],
      [0x0fn, limited(blsPairing, limits.blsPairingBytes)],
      [0x10n, blsMapFpToG1],
      [0x11n, blsMapFp2ToG2],
    )
  }
  if (rules.p256VerifyGas !== undefined) list.push([0x100n, p256Verify(rules.p256VerifyGas)])
  return list
}
