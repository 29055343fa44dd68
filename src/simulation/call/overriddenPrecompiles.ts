import type { EvmRules } from '#chainspec/evmRules'
import { precompileNames } from '#chainspec/precompileNames'
import type { TransactionEnv } from '#evm/ports'
import type { StateOverrides } from '#rpc/callPorts'
import type { Address } from '#types/ids'

/** EVM rules, or why the overrides contradict them. */
export type OverriddenRules = { readonly kind: 'rules'; readonly rules: EvmRules } | { readonly kind: 'refused'; readonly reason: string }

/**
 * Returns EVM rules with overridden accounts. An override of a precompile's account disables the precompile, or moves it to another address.
 * @see go-ethereum documentation, "State override set"
 */
export function overriddenRules(rules: EvmRules, overrides: StateOverrides | undefined): OverriddenRules {
  const named = new Set(precompileNames(rules).values())
  const precompilesAt = new Map<Address, Address | undefined>()
  for (const [address, { movePrecompileTo: to }] of overrides ?? []) {
    if (to !== undefined && !named.has(address)) return { kind: 'refused', reason: `account ${address} is not a precompile` }
    if (to !== undefined && overrides?.has(to)) return { kind: 'refused', reason: `account ${to} is already overridden` }
    if (named.has(address)) precompilesAt.set(address, undefined)
    if (to !== undefined) precompilesAt.set(to, address)
  }
  return { kind: 'rules', rules: precompilesAt.size === 0 ? rules : { ...rules, precompilesAt } }
}

/** Returns disabled precompiles as warm addresses: the fork's whole precompile set is warm. */
export function warmOverridden({ precompilesAt }: EvmRules): TransactionEnv['warm'] {
  if (precompilesAt === undefined) return []
  return [...precompilesAt].flatMap(([address, from]) => (from === undefined ? [{ address, slots: [] }] : []))
}
