import type { EvmRules } from '#chainspec/evmRules'
import { hasOldFork, type OldEvmFork, oldForkOf } from './oldForks.ts'

/** Differences of a fork before Paris from Paris, except for the available opcodes and their static gas. */
export type OldRules = {
  /** EIP-2929: repeated access is cheaper. */
  readonly hasWarmth: boolean
  /** EIP-150: a call that requests too much gas gets all but a 64th. Before EIP-150 it fails. */
  readonly keepsA64th: boolean
  /** EIP-161: empty accounts count as absent and are removed, and contracts start with nonce 1. EIP-170: code size is limited. */
  readonly clearsEmpty: boolean
  /** EIP-2: a creation that cannot pay for its code fails. */
  readonly paysForCode: boolean
  /** EIP-3541: code must not begin with 0xef. */
  readonly refusesEf: boolean
  /** Gas rule of SSTORE: by current value only; EIP-1283; EIP-2200. */
  readonly store: 'plain' | 'net' | 'net-with-sentry'
  /** Gas. */
  readonly sload: number
  readonly expByte: number
  readonly storeClearRefund: number
  readonly destructRefund: number
  /** Gas of SELFDESTRUCT when the beneficiary does not exist. */
  readonly destructNewAccount: number
}

const known = new Map<OldEvmFork, OldRules>()

function pick<T>(rules: EvmRules, last: T, ...changes: readonly (readonly [OldEvmFork, T])[]): T {
  return changes.find(([fork]) => hasOldFork(rules, fork))?.[1] ?? last
}

/** Returns the rules of a fork before Paris; undefined from Paris on. */
export function oldRulesOf(rules: EvmRules): OldRules | undefined {
  const old = oldForkOf(rules)
  if (old === undefined) return undefined
  const found = known.get(old)
  if (found) return found
  const made: OldRules = {
    hasWarmth: hasOldFork(rules, 'berlin'),
    keepsA64th: hasOldFork(rules, 'tangerineWhistle'),
    clearsEmpty: hasOldFork(rules, 'spuriousDragon'),
    paysForCode: hasOldFork(rules, 'homestead'),
    refusesEf: hasOldFork(rules, 'london'),
    store: pick<OldRules['store']>(rules, 'plain', ['istanbul', 'net-with-sentry'], ['petersburg', 'plain'], ['constantinople', 'net']),
    sload: pick(rules, 50, ['istanbul', 800], ['tangerineWhistle', 200]),
    expByte: pick(rules, 10, ['spuriousDragon', 50]),
    storeClearRefund: pick(rules, 15_000, ['london', 4_800]),
    destructRefund: pick(rules, 24_000, ['london', 0]),
    destructNewAccount: pick(rules, 0, ['tangerineWhistle', 25_000]),
  }
  known.set(old, made)
  return made
}

/** Static gas of opcodes whose gas before Berlin did not depend on earlier access, by the fork that set it, latest first. */
const oldPrices: readonly (readonly [opcode: number, ...(readonly [OldEvmFork, number])[]])[] = [
  [0x31, ['istanbul', 700], ['tangerineWhistle', 400], ['frontier', 20]],
  [0x3b, ['tangerineWhistle', 700], ['frontier', 20]],
  [0x3c, ['tangerineWhistle', 700], ['frontier', 20]],
  [0x3f, ['istanbul', 700], ['frontier', 400]],
  [0x54, ['istanbul', 800], ['tangerineWhistle', 200], ['frontier', 50]],
  [0xf1, ['tangerineWhistle', 700], ['frontier', 40]],
  [0xf2, ['tangerineWhistle', 700], ['frontier', 40]],
  [0xf4, ['tangerineWhistle', 700], ['frontier', 40]],
  [0xfa, ['frontier', 700]],
]

/** Opcodes added between Frontier and Paris. */
const newcomers: readonly (readonly [OldEvmFork, readonly number[]])[] = [
  ['homestead', [0xf4]],
  ['byzantium', [0x3d, 0x3e, 0xfa, 0xfd]],
  ['constantinople', [0x1b, 0x1c, 0x1d, 0x3f, 0xf5]],
  ['istanbul', [0x46, 0x47]],
  ['london', [0x48]],
]

/** Returns the opcodes of Paris that these rules lack. */
export function absentOpcodes(rules: EvmRules): readonly number[] {
  return newcomers.flatMap(([fork, opcodes]) => (hasOldFork(rules, fork) ? [] : opcodes))
}

/** Returns the static gas of opcodes where it differs from Paris. */
export function oldOpcodePrices(rules: EvmRules): readonly (readonly [opcode: number, gas: number])[] {
  const ofDestruct = hasOldFork(rules, 'tangerineWhistle') ? [] : [[0xff, 0] as const]
  if (hasOldFork(rules, 'berlin')) return ofDestruct
  return [...ofDestruct, ...oldPrices.map(([opcode, ...changes]) => [opcode, pick(rules, 0, ...changes)] as const)]
}
