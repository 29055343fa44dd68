import { type EvmRules, evmForks } from '#chainspec/evmRules'
import { createNativeRules, type NativeRules } from '#nativeContracts/rules'
import type { Address } from '#types/ids'
import type { Precompile } from '../precompiles/precompile.ts'
import { precompileAddresses, precompileAt } from '../precompiles/precompileAt.ts'

/** The rules in the form that an instance needs. */
export type RulesTable = {
  /** Number of the fork, as in layout.ts. */
  readonly fork: number
  readonly creationOverStorage: 0 | 1
  /** One bit for each address below 0x400. */
  readonly precompileBits: Uint8Array
  /** Precompiles at other addresses, with their numbers. */
  readonly placed: readonly (readonly [address: Address, number: number])[]
  /** Precompiles by number: the address below 0x400, from 0x400 on the numbers in `placed`. */
  readonly precompiles: ReadonlyMap<number, Precompile>
  readonly native: NativeRules | undefined
  /** `ctxNatives`. */
  readonly nativeVersion: number
}

/** Bits of `precompileBits`. */
const bitmapSize = 0x400

const tables = new WeakMap<EvmRules, RulesTable>()

export function rulesTable(rules: EvmRules): RulesTable {
  const known = tables.get(rules)
  if (known) return known
  const precompileBits = new Uint8Array(bitmapSize / 8)
  const placed: [Address, number][] = []
  const precompiles = new Map<number, Precompile>()
  for (const address of precompileAddresses(rules)) {
    const precompile = precompileAt(rules, address)
    if (!precompile) throw new RangeError(`no precompile at ${address}`)
    const isInBitmap = BigInt(address) < bitmapSize
    const number = isInBitmap ? Number(address) : bitmapSize + placed.length
    precompiles.set(number, precompile)
    if (isInBitmap) precompileBits[number >> 3] = (precompileBits[number >> 3] ?? 0) | (1 << (number & 7))
    else placed.push([address, number])
  }
  const table: RulesTable = {
    fork: evmForks.indexOf(rules.fork),
    creationOverStorage: rules.creationOverStorage === 'allow' ? 1 : 0,
    precompileBits,
    placed,
    precompiles,
    native: rules.nativeContracts && createNativeRules(rules.nativeContracts),
    nativeVersion: nativeVersionOf(rules),
  }
  tables.set(rules, table)
  return table
}

function nativeVersionOf({ nativeContracts }: EvmRules): number {
  if (!nativeContracts) return 0
  return nativeContracts.fork === 'beryl' ? 1 : 2
}
