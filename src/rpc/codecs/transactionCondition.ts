import type { Address, Hash } from '#types/ids'
import type { Json, JsonObject } from '../json.ts'
import type { ParamCodec } from '../registry.ts'
import { member, objectOf } from './members.ts'
import { ParamError, within } from './paramError.ts'
import { address, gasQuantity, hash } from './values.ts'

/** Condition on an account: its storage root, or some of its slots. */
export type KnownAccount = { readonly account: Address } & (
  | { readonly kind: 'root'; readonly root: Hash }
  | { readonly kind: 'slots'; readonly slots: readonly { readonly slot: Hash; readonly value: Hash }[] }
)

/** Conditions for including a transaction; ranges include both ends. */
export type TransactionCondition = {
  readonly knownAccounts: readonly KnownAccount[]
  readonly blockNumber: { readonly min?: bigint; readonly max?: bigint }
  /** seconds */
  readonly timestamp: { readonly min?: bigint; readonly max?: bigint }
  /** the unparsed condition, to forward with the transaction */
  readonly given: Json
}

/** Maximum number of storage roots and slots of one condition. */
const maxLookups = 1_000

function parseKnown(given: unknown): readonly KnownAccount[] {
  if (given === undefined || given === null) return []
  const known = Object.entries(objectOf(given, 'accounts by address')).map(([key, value]): KnownAccount => {
    const account = within(key, () => address.parse(key))
    if (typeof value === 'string') return { account, kind: 'root', root: within(key, () => hash.parse(value)) }
    const slots = Object.entries(objectOf(value, 'a storage root, or values by slot')).map(([slot, of]) =>
      within(key, () => ({ slot: hash.parse(slot), value: hash.parse(of) })),
    )
    return { account, kind: 'slots', slots }
  })
  const lookups = known.reduce((sum, one) => sum + (one.kind === 'root' ? 1 : one.slots.length), 0)
  if (lookups > maxLookups) throw new ParamError(`conditional cost, ${lookups}, exceeded max: ${maxLookups}`, 'senseless')
  return known
}

function parseRange(given: JsonObject, name: string): { readonly min?: bigint; readonly max?: bigint } {
  const [min, max] = [member(given, `${name}Min`, gasQuantity), member(given, `${name}Max`, gasQuantity)]
  if (min !== undefined && max !== undefined && min > max)
    throw new ParamError(`failed to validate conditional: ${name} minimum ${min} is above its maximum ${max}`, 'senseless')
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) }
}

export const transactionCondition: ParamCodec<TransactionCondition> = {
  doc: '{knownAccounts: storage root or {slot: value} by address, blockNumberMin, blockNumberMax, timestampMin, timestampMax}',
  schema: { type: 'object' },
  parse(value): TransactionCondition {
    const given = objectOf(value, 'a condition')
    return {
      knownAccounts: within('knownAccounts', () => parseKnown(given['knownAccounts'])),
      blockNumber: parseRange(given, 'blockNumber'),
      timestamp: parseRange(given, 'timestamp'),
      given: value as Json,
    }
  },
}
