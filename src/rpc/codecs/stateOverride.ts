import type { Address, Hash } from '#types/ids'
import type { AccountOverride, SlotValues, StateOverrides } from '../callPorts.ts'
import type { ParamCodec } from '../registry.ts'
import { firstMember, member, objectOf, refuseOthers } from './members.ts'
import { ParamError, within } from './paramError.ts'
import { address, bytes, gasQuantity, hash, quantity } from './values.ts'

const moveNames = ['movePrecompileToAddress', 'MovePrecompileToAddress']
const known = ['nonce', 'balance', 'code', 'state', 'stateDiff', ...moveNames]

/** Over all accounts of one parameter. */
const maxOverriddenSlots = 100_000

function parseSlots(value: unknown, room: { slots: number }): SlotValues {
  const entries = Object.entries(objectOf(value, 'an object of storage slots'))
  room.slots -= entries.length
  if (room.slots < 0) throw new ParamError(`more than ${maxOverriddenSlots} storage slots are overridden`, 'senseless')
  return new Map(entries.map(([slot, word]) => within(slot, (): [Hash, bigint] => [hash.parse(slot), BigInt(hash.parse(word))])))
}

function parseAccount(of: Address, given: unknown, room: { slots: number }): AccountOverride {
  const value = objectOf(given, 'an account override object')
  refuseOthers(value, known)
  const storage: ParamCodec<SlotValues> = { doc: '{slot: value}', parse: (slots) => parseSlots(slots, room) }
  const override = {
    nonce: member(value, 'nonce', gasQuantity),
    balance: member(value, 'balance', quantity),
    code: member(value, 'code', bytes),
    state: member(value, 'state', storage),
    stateDiff: member(value, 'stateDiff', storage),
    movePrecompileTo: firstMember(value, moveNames, address),
  }
  if (override.state !== undefined && override.stateDiff !== undefined) {
    throw new ParamError(`account ${of} has both 'state' and 'stateDiff'`, 'senseless')
  }
  return override
}

export const stateOverrides: ParamCodec<StateOverrides> = {
  doc: `{address: {nonce, balance, code, state or stateDiff: {slot: value}, movePrecompileToAddress}}, at most ${maxOverriddenSlots} slots; other members are refused`,
  schema: { title: 'overrides by account', type: 'object', additionalProperties: { type: 'object' } },
  parse(value): StateOverrides {
    const room = { slots: maxOverriddenSlots }
    return new Map(
      Object.entries(objectOf(value, 'an object of account overrides')).map(([key, override]) =>
        within(key, (): [Address, AccountOverride] => {
          const of = address.parse(key)
          return [of, parseAccount(of, override, room)]
        }),
      ),
    )
  },
}
