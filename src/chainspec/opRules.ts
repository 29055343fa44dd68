import type { Address } from '#types/ids'
import type { EvmRules } from './evmRules.ts'
import { type Fork, type ForkSchedule, forks, isActive } from './forks.ts'

const granite = { bn254PairingBytes: 112_687 }
const isthmus = { ...granite, blsG1MsmBytes: 513_760, blsG2MsmBytes: 488_448, blsPairingBytes: 235_008 }
const jovian = { bn254PairingBytes: 81_984, blsG1MsmBytes: 288_960, blsG2MsmBytes: 278_784, blsPairingBytes: 156_672 }
/** Gas; RIP-7212. */
const p256VerifyGas = 3_450
/** Gas; EIP-7951. */
const osakaP256VerifyGas = 6_900

/**
 * Rules by fork, latest first; one object per rule change. From Osaka, Azul takes the rules of the interpreter and of transactions but no block
 * limits. Beryl, Cobalt and Denim change the native contracts only.
 * @see specs protocol/{canyon,ecotone,fjord,granite,isthmus,jovian}/exec-engine.md; Base's own documentation, "Azul"
 */
const azulRules: EvmRules = { fork: 'osaka', precompileLimits: jovian, p256VerifyGas: osakaP256VerifyGas }
const byFork: readonly (readonly [Fork, EvmRules])[] = [
  ['denim', { ...azulRules, nativeContracts: { fork: 'denim' } }],
  ['cobalt', { ...azulRules, nativeContracts: { fork: 'cobalt' } }],
  ['beryl', { ...azulRules, nativeContracts: { fork: 'beryl' } }],
  ['azul', azulRules],
  ['jovian', { fork: 'prague', precompileLimits: jovian, p256VerifyGas }],
  ['isthmus', { fork: 'prague', precompileLimits: isthmus, p256VerifyGas }],
  ['granite', { fork: 'cancun', precompileLimits: granite, p256VerifyGas }],
  ['fjord', { fork: 'cancun', precompileLimits: {}, p256VerifyGas }],
  ['ecotone', { fork: 'cancun', precompileLimits: {} }],
  ['canyon', { fork: 'shanghai', precompileLimits: {} }],
]
const bedrockRules: EvmRules = { fork: 'paris', precompileLimits: {} }

/** Returns the interpreter rules of a block at a time (seconds): the same object for all blocks between two changes. */
export function evmRulesAt(schedule: ForkSchedule, timestamp: number): EvmRules {
  const rules = byFork.find(([fork]) => isActive(schedule, fork, timestamp))?.[1] ?? bedrockRules
  return rules.nativeContracts && schedule.activationAdmin !== undefined ? rulesWithAdmin(rules, schedule.activationAdmin) : rules
}

/** Rules of chains with an activation admin: one object for each admin. */
const withAdmin = new WeakMap<EvmRules, Map<Address, EvmRules>>()

function rulesWithAdmin(rules: EvmRules, activationAdmin: Address): EvmRules {
  const byAdmin = withAdmin.get(rules) ?? new Map<Address, EvmRules>()
  withAdmin.set(rules, byAdmin)
  const known = byAdmin.get(activationAdmin)
  if (known || !rules.nativeContracts) return known ?? rules
  const created: EvmRules = { ...rules, nativeContracts: { ...rules.nativeContracts, activationAdmin } }
  byAdmin.set(activationAdmin, created)
  return created
}

/** Returns the latest fork that is active at a time (seconds). */
export function latestFork(schedule: ForkSchedule, timestamp: number): Fork {
  return forks.findLast((fork) => isActive(schedule, fork, timestamp)) ?? 'bedrock'
}
