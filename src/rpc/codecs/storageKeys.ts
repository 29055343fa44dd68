import type { Address, Hash } from '#types/ids'
import { refTo } from '../reference/schemas.ts'
import type { ParamCodec } from '../registry.ts'
import { objectOf } from './members.ts'
import { ParamError, within } from './paramError.ts'
import { address, listOf, slotKey } from './values.ts'

/** Maximum number of accounts of one request, and of slots over all of them. */
export const maxStorageValues = 1_024

/** Slots by account, in the requested order. */
export type StorageKeys = readonly { readonly account: Address; readonly slots: readonly Hash[] }[]

const slotList = listOf(slotKey, maxStorageValues)

export const storageKeys: ParamCodec<StorageKeys> = {
  doc: `{address: [storage slots]}, at most ${maxStorageValues} accounts and as many slots`,
  schema: { type: 'object', additionalProperties: { type: 'array', items: { anyOf: [refTo('Hash'), refTo('Quantity')] } } },
  parse(value): StorageKeys {
    const entries = Object.entries(objectOf(value, 'an object of addresses'))
    if (entries.length > maxStorageValues) throw new ParamError(`at most ${maxStorageValues} accounts allowed`, 'senseless')
    let left = maxStorageValues
    return entries.map(([name, list]) => {
      const slots = within(name, () => slotList.parse(list)).map(({ slot }) => slot)
      left -= slots.length
      if (left < 0) throw new ParamError(`at most ${maxStorageValues} slots allowed`, 'senseless')
      return { account: within(name, () => address.parse(name)), slots }
    })
  },
}
