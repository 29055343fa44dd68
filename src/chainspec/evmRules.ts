import type { Address } from '#types/ids'

/** Ethereum's execution rules, each including those before it. OP chains run from Paris on; earlier ones exist for no chain of ours. */
export const evmForks = ['paris', 'shanghai', 'cancun', 'prague', 'osaka'] as const
export type EvmFork = (typeof evmForks)[number]

/** Ethereum's rules before Paris, each including those before it: only the reference interpreter has them, for Ethereum's own test chains. */
export const oldEvmForks = [
  'frontier',
  'homestead',
  'tangerineWhistle',
  'spuriousDragon',
  'byzantium',
  'constantinople',
  'petersburg',
  'istanbul',
  'berlin',
  'london',
] as const
export type OldEvmFork = (typeof oldEvmForks)[number]

/** What OP forks change in the precompiles: sizes in bytes, an input above the limit fails the call with all its gas. */
export type PrecompileLimits = {
  readonly bn254PairingBytes?: number
  readonly blsG1MsmBytes?: number
  readonly blsG2MsmBytes?: number
  readonly blsPairingBytes?: number
}

/** Everything in which blocks differ for the interpreter. Built once per fork; compared by identity. */
export type EvmRules = {
  readonly fork: EvmFork
  /** present: rules from before Paris, which are `fork`'s less what came after; no chain of ours has them */
  readonly old?: OldEvmFork
  readonly precompileLimits: PrecompileLimits
  /** gas of P256VERIFY at 0x100; absent: no such precompile */
  readonly p256VerifyGas?: number
  /**
   * What a creation does where there is storage but neither nonce nor code, which no chain of ours has. Absent: it fails (EIP-7610).
   * 'allow': it goes on over the old slots, as go-ethereum since 1.17, which refuses a list of mainnet addresses instead.
   */
  readonly creationOverStorage?: 'allow'
  /**
   * Present in calls that override accounts alone: at these addresses stands the precompile that the fork has at another one, or none. The
   * compiled interpreter has precompiles below 0x400 only.
   */
  readonly precompilesAt?: ReadonlyMap<Address, Address | undefined>
}

/** Whether blocks under these rules follow a fork of Ethereum. */
export function hasFork(rules: EvmRules, fork: EvmFork): boolean {
  return evmForks.indexOf(rules.fork) >= evmForks.indexOf(fork)
}

/** The same of a fork before Paris, which all our chains follow. */
export function hasOldFork(rules: EvmRules, fork: OldEvmFork): boolean {
  return rules.old === undefined || oldEvmForks.indexOf(rules.old) >= oldEvmForks.indexOf(fork)
}

/** Gas; EIP-7825. */
const maxTransactionGas = 16_777_216n

/** The most gas that a signed transaction may ask for, from Osaka on (EIP-7825); deposits have no cap. Undefined: no cap but the block's. */
export function transactionGasCap(rules: EvmRules): bigint | undefined {
  return hasFork(rules, 'osaka') ? maxTransactionGas : undefined
}
