import type { Address, Hash } from '#types/ids'
import { isJsonObject, type Json } from '../json.ts'
import { ParamError, within } from '../paramError.ts'
import type { ParamCodec } from '../registry.ts'
import { address, gasQuantity, hash, wrongType } from './values.ts'

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
  if (!isJsonObject(given)) throw wrongType(given, 'accounts by address')
  const known = Object.entries(given).map(([key, value]): KnownAccount => {
    const account = within(key, () => address.parse(key))
    if (typeof value === 'string') return { account, kind: 'root', root: within(key, () => hash.parse(value)) }
    if (!isJsonObject(value)) throw wrongType(value, 'a storage root, or values by slot')
    const slots = Object.entries(value).map(([slot, of]) => within(key, () => ({ slot: hash.parse(slot), value: hash.parse(of) })))
    return { account, kind: 'slots', slots }
  })
  const lookups = known.reduce((sum, one) => sum + (one.kind === 'root' ? 1 : one.slots.length), 0)
  if (lookups > maxLookups) throw new ParamError(`conditional cost, ${lookups}, exceeded max: ${maxLookups}`, 'senseless')
  return known
}

function parseRange(given: Readonly<Record<string, unknown>>, name: string): { readonly min?: bigint; readonly max?: bigint } {
  const bound = (key: string): bigint | undefined => {
    const value = given[key]
    return value === undefined || value === null ? undefined : within(key, () => gasQuantity.parse(value))
  }
  const [min, max] = [bound(`${name}Min`), bound(`${name}Max`)]
  if (min !== undefined && max !== undefined && min > max)
    throw new ParamError(`failed to validate conditional: ${name} minimum ${min} is above its maximum ${max}`, 'senseless')
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) }
}

export const transactionCondition: ParamCodec<TransactionCondition> = {
  doc: '{knownAccounts: storage root or {slot: value} by address, blockNumberMin, blockNumberMax, timestampMin, timestampMax}',
  schema: { type: 'object' },
  parse(value): TransactionCondition {
    if (!isJsonObject(value)) throw wrongType(value, 'a condition')
    return {
      knownAccounts: within('knownAccounts', () => parseKnown(value['knownAccounts'])),
      blockNumber: parseRange(value, 'blockNumber'),
      timestamp: parseRange(value, 'timestamp'),
      given: value as Json,
    }
  },
}
