import { type EvmRules, hasOldFork } from '#chainspec/evmRules'

/** In what the rules of a fork before Paris differ from those of Paris, beyond which opcodes there are and what each costs at least. */
export type OldRules = {
  /** EIP-2929: what was used before is cheaper */
  readonly hasWarmth: boolean
  /** EIP-150: a call gets what there is, less a 64th, if it asks for more; before, it fails */
  readonly keepsA64th: boolean
  /** EIP-161: empty accounts count as absent and go away, contracts begin with nonce 1; EIP-170: code has a largest size */
  readonly clearsEmpty: boolean
  /** EIP-2: a creation that cannot pay for its code fails */
  readonly paysForCode: boolean
  /** EIP-3541: no code begins with 0xef */
  readonly refusesEf: boolean
  /** how SSTORE counts: on the value now; EIP-1283; EIP-2200 */
  readonly store: 'plain' | 'net' | 'net-with-sentry'
  /** gas */
  readonly sload: number
  readonly expByte: number
  readonly storeClearRefund: number
  readonly destructRefund: number
  /** of SELFDESTRUCT, for an heir that is not there */
  readonly destructNewAccount: number
}

const known = new Map<EvmRules['old'], OldRules>()

function pick<T>(rules: EvmRules, last: T, ...changes: readonly (readonly [NonNullable<EvmRules['old']>, T])[]): T {
  return changes.find(([fork]) => hasOldFork(rules, fork))?.[1] ?? last
}

/** Undefined from Paris on. */
export function oldRulesOf(rules: EvmRules): OldRules | undefined {
  const { old } = rules
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

/** Least gas of opcodes whose price before Berlin did not depend on what was used before, by the fork that set it, latest first. */
const oldPrices: readonly (readonly [opcode: number, ...(readonly [NonNullable<EvmRules['old']>, number])[]])[] = [
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

/** The opcodes that came between Frontier and Paris. */
const newcomers: readonly (readonly [NonNullable<EvmRules['old']>, readonly number[]])[] = [
  ['homestead', [0xf4]],
  ['byzantium', [0x3d, 0x3e, 0xfa, 0xfd]],
  ['constantinople', [0x1b, 0x1c, 0x1d, 0x3f, 0xf5]],
  ['istanbul', [0x46, 0x47]],
  ['london', [0x48]],
]

/** What of Paris's opcodes these rules lack. */
export function absentOpcodes(rules: EvmRules): readonly number[] {
  return newcomers.flatMap(([fork, opcodes]) => (hasOldFork(rules, fork) ? [] : opcodes))
}

/** The least gas of opcodes where it is not that of Paris. */
export function oldOpcodePrices(rules: EvmRules): readonly (readonly [opcode: number, gas: number])[] {
  const ofDestruct = hasOldFork(rules, 'tangerineWhistle') ? [] : [[0xff, 0] as const]
  if (hasOldFork(rules, 'berlin')) return ofDestruct
  return [...ofDestruct, ...oldPrices.map(([opcode, ...changes]) => [opcode, pick(rules, 0, ...changes)] as const)]
}
