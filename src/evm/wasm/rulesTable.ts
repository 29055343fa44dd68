import { type EvmRules, evmForks } from '#chainspec/evmRules'
import type { Precompile } from '../precompiles/precompile.ts'
import { precompileAddresses, precompileAt } from '../precompiles/precompileAt.ts'

/** The rules in the form that an instance needs. */
export type RulesTable = {
  /** Number of the fork, as in layout.ts. */
  readonly fork: number
  readonly creationOverStorage: 0 | 1
  /** One bit for each address below 0x400. */
  readonly precompileBits: Uint8Array
  readonly precompiles: ReadonlyMap<number, Precompile>
}

const tables = new WeakMap<EvmRules, RulesTable>()

export function rulesTable(rules: EvmRules): RulesTable {
  const known = tables.get(rules)
  if (known) return known
  const precompileBits = new Uint8Array(0x80)
  const precompiles = new Map<number, Precompile>()
  for (const address of precompileAddresses(rules)) {
    const number = Number(address)
    const precompile = precompileAt(rules, address)
    if (!precompile || number >= 0x400) throw new RangeError(`a precompile at ${address}`)
    precompiles.set(number, precompile)
    precompileBits[number >> 3] = (precompileBits[number >> 3] ?? 0) | (1 << (number & 7))
  }
  const table: RulesTable = {
    fork: evmForks.indexOf(rules.fork),
    creationOverStorage: rules.creationOverStorage === 'allow' ? 1 : 0,
    precompileBits,
    precompiles,
  }
  tables.set(rules, table)
  return table
}
