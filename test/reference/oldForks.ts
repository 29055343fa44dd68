import type { EvmRules } from '#chainspec/evmRules'

/** Ethereum's rules before Paris; each fork includes the earlier ones. Only the reference interpreter implements them. */
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

/** Rules of a block of Ethereum. `old` is set before Paris: the rules are those of Paris without the later changes. */
export type EthereumRules = EvmRules & { readonly old?: OldEvmFork }

/** Returns the fork of rules before Paris; undefined from Paris on. */
export const oldForkOf = (rules: EvmRules): OldEvmFork | undefined => (rules as EthereumRules).old

/** Returns whether blocks under these rules follow a fork before Paris, as all blocks from Paris on do. */
export function hasOldFork(rules: EvmRules, fork: OldEvmFork): boolean {
  const old = oldForkOf(rules)
  return old === undefined || oldEvmForks.indexOf(old) >= oldEvmForks.indexOf(fork)
}
