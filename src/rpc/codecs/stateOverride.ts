import type { Address, Hash } from '#types/ids'
import type { AccountOverride, SlotValues, StateOverrides } from '../callPorts.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import { ParamError, within } from '../paramError.ts'
import type { ParamCodec } from '../registry.ts'
import { address, bytes, gasQuantity, hash, quantity, wrongType } from './values.ts'

/** Over all accounts of one parameter. */
const maxOverriddenSlots = 100_000

function parseSlots(value: unknown, room: { slots: number }): SlotValues {
  if (!isJsonObject(value)) throw wrongType(value, 'an object of storage slots')
  const entries = Object.entries(value)
  room.slots -= entries.length
  if (room.slots < 0) throw new ParamError(`more than ${maxOverriddenSlots} storage slots are overridden`, 'senseless')
  return new Map(entries.map(([slot, word]) => within(slot, (): [Hash, bigint] => [hash.parse(slot), BigInt(hash.parse(word))])))
}

function parseAccount(of: Address, value: unknown, room: { slots: number }): AccountOverride {
  if (!isJsonObject(value)) throw wrongType(value, 'an account override object')
  const { state, stateDiff } = value
  const storage = (key: string, slots: unknown): SlotValues | undefined =>
    slots === undefined || slots === null ? undefined : within(key, () => parseSlots(slots, room))
  const override = {
    nonce: member(value, 'nonce', gasQuantity),
    balance: member(value, 'balance', quantity),
    code: member(value, 'code', bytes),
    state: storage('state', state),
    stateDiff: storage('stateDiff', stateDiff),
    movePrecompileTo: member(value, 'movePrecompileToAddress', address),
  }
  if (override.state !== undefined && override.stateDiff !== undefined) {
    throw new ParamError(`account ${of} has both 'state' and 'stateDiff'`, 'senseless')
  }
  return override
}

/** Parses an optional member. */
export function member<T>(object: JsonObject, key: string, codec: ParamCodec<T>): T | undefined {
  const value = object[key]
  return value === undefined || value === null ? undefined : within(key, () => codec.parse(value))
}

export const stateOverrides: ParamCodec<StateOverrides> = {
  doc: `{address: {nonce, balance, code, state or stateDiff: {slot: value}, movePrecompileToAddress}}, at most ${maxOverriddenSlots} slots`,
  schema: { title: 'overrides by account', type: 'object', additionalProperties: { type: 'object' } },
  parse(value): StateOverrides {
    if (!isJsonObject(value)) throw wrongType(value, 'an object of account overrides')
    const room = { slots: maxOverriddenSlots }
    return new Map(
      Object.entries(value).map(([key, override]) =>
        within(key, (): [Address, AccountOverride] => {
          const of = address.parse(key)
          return [of, parseAccount(of, override, room)]
        }),
      ),
    )
  },
}
