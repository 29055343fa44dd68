import { policyRegistryWord } from '../addresses.ts'
import type { NativeHost } from '../host.ts'
import { Storage } from '../kit/storage.ts'
import { newWord, type Word } from '../kit/word.ts'
import type { NativeRules } from '../rules.ts'
import { policyFields } from './fields.ts'
import { allowlist, alwaysAllow, baseId, blocklist, intersect, isBuiltIn, isInverted, setId, typeOf, union } from './ids.ts'

/** The registry's storage with the rules that apply to its policies. */
export type PolicyReader = { readonly storage: Storage; readonly rules: NativeRules }

export function policyReader(host: NativeHost, rules: NativeRules): PolicyReader {
  return { storage: new Storage(host, host.account(policyRegistryWord), rules.clearsStaleText), rules }
}

const key = newWord()
const slot = newWord()

/** Reads whether a policy is stored; its id has no inverted bit. One read. */
export function isStored({ storage }: PolicyReader, id: bigint): boolean {
  const word = storage.read(policyFields.policies.slot(slot, setId(key, id)))
  return (word[7] as number) >>> 31 === 1
}

/** Returns whether a policy exists. Built-in policies and malformed ids need no read. */
export function policyExists(reader: PolicyReader, id: bigint): boolean {
  const base = baseId(reader.rules, id)
  if (isBuiltIn(base)) return true
  return typeOf(base) <= highestType(reader.rules) && isStored(reader, base)
}

export const highestType = (rules: NativeRules): number => (rules.hasCompositePolicies ? intersect : allowlist)

/** Returns whether a policy authorizes an account. Never reverts: a malformed id authorizes none, an unknown block list everyone. */
export function isAuthorized(reader: PolicyReader, id: bigint, account: Word): boolean {
  if (!isInverted(reader.rules, id)) return decides(reader, id, account)
  const base = baseId(reader.rules, id)
  return policyExists(reader, base) && !decides(reader, base, account)
}

function decides(reader: PolicyReader, id: bigint, account: Word): boolean {
  if (isBuiltIn(id)) return id === alwaysAllow
  const type = typeOf(id)
  if (type === blocklist) return !isMember(reader, id, account)
  if (type === allowlist) return isMember(reader, id, account)
  if (type > highestType(reader.rules)) return false
  return combines(reader, id, type, account)
}

export function isMember({ storage }: PolicyReader, id: bigint, account: Word): boolean {
  return storage.readFlag(policyFields.members.slot(slot, setId(key, id), account))
}

/** Evaluates the children of a composite policy until one decides. An empty UNION authorizes no account, an empty INTERSECT every account. */
function combines(reader: PolicyReader, id: bigint, type: number, account: Word): boolean {
  const isUnion = type === union
  for (const child of reader.storage.readU64List(policyFields.children.slot(newWord(), setId(key, id)))) {
    if (isAuthorized(reader, child, account) === isUnion) return isUnion
  }
  return !isUnion
}
