import type { NativeHost } from '../host.ts'
import { contractError, overflow } from '../kit/ends.ts'
import type { Storage } from '../kit/storage.ts'
import { copyWord, isEqual, newWord, u64At, type Word, wordOf } from '../kit/word.ts'
import type { NativeRules } from '../rules.ts'
import { highestType, policyReader } from './authorization.ts'
import { policyAdminUpdated, policyCreated } from './events.ts'
import { policyFields } from './fields.ts'
import { alwaysAllow, alwaysBlock, idWord, setId, typeOf } from './ids.ts'

export const unauthorized = contractError('Unauthorized()')
export const policyNotFound = contractError('PolicyNotFound()')
export const incompatiblePolicyType = contractError('IncompatiblePolicyType()')
export const zeroAddress = contractError('ZeroAddress()')

/** A call of the registry. */
export type PolicyFrame = { readonly host: NativeHost; readonly rules: NativeRules; readonly storage: Storage }

export const policyFrame = (host: NativeHost, rules: NativeRules): PolicyFrame => ({ host, ...policyReader(host, rules) })

const existsBit = 0x80000000
/** Counters have 56 bits. */
const maxCounter = 2n ** 56n - 1n
/** Counters 0 and 1 belong to the built-in policies. */
const firstCounter = 2n

const key = newWord()
const slot = newWord()
const nobody = newWord()

const policySlot = (id: bigint): Word => policyFields.policies.slot(slot, setId(key, id))
const exists = (policy: Word): boolean => (policy[7] as number) >>> 31 === 1

/** Reads a policy's word. @throws NativeRevert PolicyNotFound, also for an inverted id, under which none is stored */
export function loadPolicy({ storage }: PolicyFrame, id: bigint): Word {
  const policy = storage.read(policySlot(id))
  if (!exists(policy)) throw policyNotFound()
  return policy
}

export function adminOf(policy: Word): Word {
  const admin = copyWord(newWord(), policy)
  admin.fill(0, 5)
  return admin
}

/** Reads the admin of a policy; zero when it has none or does not exist. */
export function readAdmin({ storage, rules }: PolicyFrame, id: bigint): Word {
  return typeOf(id) > highestType(rules) ? nobody : adminOf(storage.read(policySlot(id)))
}

/** Requires that the caller is the admin: the zero address where there is none. @returns the admin */
export function requirePolicyAdmin({ host }: PolicyFrame, policy: Word): Word {
  const admin = adminOf(policy)
  if (!isEqual(host.caller, admin)) throw unauthorized()
  return admin
}

export function setAdmin({ storage }: PolicyFrame, id: bigint, admin: Word): void {
  const policy = copyWord(newWord(), admin)
  policy[7] = existsBit
  storage.write(policySlot(id), policy)
}

/** Creates the built-in policies and the marker, before the first policy. */
function initialize(frame: PolicyFrame): void {
  frame.host.setMarker(frame.storage.account)
  setAdmin(frame, alwaysAllow, nobody)
  setAdmin(frame, alwaysBlock, nobody)
  frame.storage.write(policyFields.counter, wordOf(firstCounter))
}

/** Creates a policy with an admin. @returns its id. @throws NativeRevert Panic(0x11) when all ids are used */
export function createPolicy(frame: PolicyFrame, admin: Word, type: number): bigint {
  const { storage, host } = frame
  let counter = u64At(storage.read(policyFields.counter), 0)
  if (counter < firstCounter) {
    initialize(frame)
    counter = firstCounter
  }
  if (counter >= maxCounter) throw overflow()
  storage.write(policyFields.counter, wordOf(counter + 1n))
  const id = (BigInt(type) << 56n) | counter
  setAdmin(frame, id, admin)
  policyCreated.emit(host, storage.account, [idWord(id), host.caller], type)
  policyAdminUpdated.emit(host, storage.account, [idWord(id), nobody, admin])
  return id
}
