import { type Address, parseAddress } from '#types/ids'
import { type EvmFork, type EvmRules, hasFork } from './evmRules.ts'

/** Precompile names in address order, by the fork that added them. @see EIP-7910, "precompiles" */
const named: readonly (readonly [EvmFork, readonly string[]])[] = [
  ['paris', ['ECREC', 'SHA256', 'RIPEMD160', 'ID', 'MODEXP', 'BN254_ADD', 'BN254_MUL', 'BN254_PAIRING', 'BLAKE2F']],
  ['cancun', ['KZG_POINT_EVALUATION']],
  [
    'prague',
    ['BLS12_G1ADD', 'BLS12_G1MSM', 'BLS12_G2ADD', 'BLS12_G2MSM', 'BLS12_PAIRING_CHECK', 'BLS12_MAP_FP_TO_G1', 'BLS12_MAP_FP2_TO_G2'],
  ],
]
const p256Verify = ['P256VERIFY', 0x100] as const

const addressOf = (number: number): Address => parseAddress(`0x${number.toString(16).padStart(40, '0')}`)

/** Returns the precompiles under these rules by name, in address order. */
export function precompileNames(rules: EvmRules): ReadonlyMap<string, Address> {
  const active = named.filter(([fork]) => hasFork(rules, fork)).flatMap(([, names]) => names)
  const names = new Map(active.map((name, i) => [name, addressOf(i + 1)]))
  if (rules.p256VerifyGas !== undefined) names.set(p256Verify[0], addressOf(p256Verify[1]))
  return names
}
