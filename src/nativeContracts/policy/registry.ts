import { emptyBytes } from '#lib/bytes'
import { policyFeature, requireActivated } from '../activation/registry.ts'
import type { NativeHost } from '../host.ts'
import type { Args } from '../kit/args.ts'
import { contractError } from '../kit/ends.ts'
import { FunctionTable, type NativeFunction, nativeFunction } from '../kit/functions.ts'
import { asFlag, asWord } from '../kit/results.ts'
import { isEqual, isZero, newWord, type Word } from '../kit/word.ts'
import type { NativeRules } from '../rules.ts'
import { highestType, isAuthorized, policyExists } from './authorization.ts'
import { compositeFunctions, compositeViews } from './composite.ts'
import { membershipEvents, policyAdminStaged, policyAdminUpdated } from './events.ts'
import { policyFields } from './fields.ts'
import { allowlist, baseId, blocklist, idWord, isBuiltIn, isComposite, setId, typeOf } from './ids.ts'
import { invertedFunctions } from './inverted.ts'
import {
  adminOf,
  createPolicy,
  incompatiblePolicyType,
  loadPolicy,
  type PolicyFrame,
  policyFrame,
  readAdmin,
  requirePolicyAdmin,
  setAdmin,
  unauthorized,
  zeroAddress,
} from './policies.ts'

/** Most accounts of one call. */
const maxBatch = 64

const batchSizeTooLarge = contractError('BatchSizeTooLarge(uint256)')
const noPendingAdmin = contractError('NoPendingAdmin()')

const nobody = newWord()
const key = newWord()
const slot = newWord()

function requireBatchSize(args: Args, index: number): void {
  if (args.count(index) > maxBatch) throw batchSizeTooLarge(maxBatch)
}

function requireSimpleType(args: Args): number {
  if (isZero(args.word(0))) throw zeroAddress()
  const type = args.number(1)
  if (isComposite(type)) throw incompatiblePolicyType()
  return type
}

function create(frame: PolicyFrame, args: Args): Uint8Array {
  const type = requireSimpleType(args)
  return asWord(idWord(createPolicy(frame, args.word(0), type)))
}

function createWithAccounts(frame: PolicyFrame, args: Args): Uint8Array {
  const type = requireSimpleType(args)
  requireBatchSize(args, 2)
  const id = createPolicy(frame, args.word(0), type)
  setMembers(frame, id, type, true, args.elements(2))
  return asWord(idWord(id))
}

function setMembers(frame: PolicyFrame, id: bigint, type: number, isMember: boolean, accounts: readonly Word[]): void {
  const { storage, host } = frame
  for (const account of accounts) storage.writeFlag(policyFields.members.slot(slot, setId(key, id), account), isMember)
  membershipEvents[type === allowlist ? 'allowlist' : 'blocklist'].emit(
    host,
    storage.account,
    [idWord(id), host.caller],
    isMember,
    accounts,
  )
}

function updateMembers(frame: PolicyFrame, args: Args, type: number): Uint8Array {
  const id = args.u64(0)
  const policy = loadPolicy(frame, id)
  if (typeOf(id) !== type) throw incompatiblePolicyType()
  requirePolicyAdmin(frame, policy)
  requireBatchSize(args, 2)
  setMembers(frame, id, type, args.flag(1), args.elements(2))
  return emptyBytes
}

const pendingSlot = (id: bigint): Word => policyFields.pendingAdmins.slot(slot, setId(key, id))

function stageUpdateAdmin(frame: PolicyFrame, args: Args): Uint8Array {
  const [id, next] = [args.u64(0), args.word(1)]
  const { storage, host } = frame
  const admin = requirePolicyAdmin(frame, loadPolicy(frame, id))
  storage.write(pendingSlot(id), next)
  policyAdminStaged.emit(host, storage.account, [idWord(id), admin, next])
  return emptyBytes
}

function finalizeUpdateAdmin(frame: PolicyFrame, args: Args): Uint8Array {
  const id = args.u64(0)
  const { storage, host } = frame
  const previous = adminOf(loadPolicy(frame, id))
  const next = storage.read(pendingSlot(id))
  if (isZero(next)) throw noPendingAdmin()
  if (!isEqual(host.caller, next)) throw unauthorized()
  setAdmin(frame, id, next)
  storage.write(pendingSlot(id), nobody)
  policyAdminUpdated.emit(host, storage.account, [idWord(id), previous, next])
  return emptyBytes
}

function renounceAdmin(frame: PolicyFrame, args: Args): Uint8Array {
  const id = args.u64(0)
  const { storage, host } = frame
  const previous = requirePolicyAdmin(frame, loadPolicy(frame, id))
  setAdmin(frame, id, nobody)
  storage.write(pendingSlot(id), nobody)
  policyAdminUpdated.emit(host, storage.account, [idWord(id), previous, nobody])
  return emptyBytes
}

function policyAdmin(frame: PolicyFrame, args: Args): Uint8Array {
  return asWord(readAdmin(frame, baseId(frame.rules, args.u64(0))))
}

function pendingPolicyAdmin(frame: PolicyFrame, args: Args): Uint8Array {
  const id = baseId(frame.rules, args.u64(0))
  const hasNone = isBuiltIn(id) || typeOf(id) > highestType(frame.rules)
  return asWord(hasNone ? nobody : frame.storage.read(pendingSlot(id)))
}

const views: readonly NativeFunction<PolicyFrame>[] = [
  nativeFunction('isAuthorized(uint64,address)', (frame, args) => asFlag(isAuthorized(frame, args.u64(0), args.word(1)))),
  nativeFunction('policyExists(uint64)', (frame, args) => asFlag(policyExists(frame, args.u64(0)))),
  nativeFunction('policyAdmin(uint64)', policyAdmin),
  nativeFunction('pendingPolicyAdmin(uint64)', pendingPolicyAdmin),
]

/** Writes need the registry's feature; their arguments are decoded before that is checked. */
function gated(functions: readonly NativeFunction<PolicyFrame>[]): readonly NativeFunction<PolicyFrame>[] {
  return functions.map(({ run, ...declared }) => ({
    ...declared,
    run(frame, args): Uint8Array {
      requireActivated(frame.host, frame.rules, policyFeature)
      return run(frame, args)
    },
  }))
}

function writes({ hasCompositePolicies }: NativeRules): readonly NativeFunction<PolicyFrame>[] {
  const type = hasCompositePolicies ? 'enum<4>' : 'enum<2>'
  return [
    nativeFunction(`createPolicy(address,${type})`, create),
    nativeFunction(`createPolicyWithAccounts(address,${type},address[])`, createWithAccounts),
    nativeFunction('updateAllowlist(uint64,bool,address[])', (frame: PolicyFrame, args) => updateMembers(frame, args, allowlist)),
    nativeFunction('updateBlocklist(uint64,bool,address[])', (frame: PolicyFrame, args) => updateMembers(frame, args, blocklist)),
    nativeFunction('stageUpdateAdmin(uint64,address)', stageUpdateAdmin),
    nativeFunction('finalizeUpdateAdmin(uint64)', finalizeUpdateAdmin),
    nativeFunction('renounceAdmin(uint64)', renounceAdmin),
  ]
}

const tables = new WeakMap<NativeRules, FunctionTable<PolicyFrame>>()
/** Smallest arguments of the interface's functions: V1 decodes no shorter ones. */
const leastBytes = 32

function tableOf(rules: NativeRules): FunctionTable<PolicyFrame> {
  const known = tables.get(rules)
  if (known) return known
  const table = new FunctionTable<PolicyFrame>(rules, 'IPolicyRegistryCalls', leastBytes, [
    ...views,
    ...gated(writes(rules)),
    ...(rules.hasCompositePolicies ? [...compositeViews, ...gated(compositeFunctions)] : []),
    ...(rules.hasInvertedPolicies ? invertedFunctions : []),
  ])
  tables.set(rules, table)
  return table
}

/** Runs a call of the policy registry: lists of accounts by which tokens restrict transfers. */
export function runPolicyRegistry(host: NativeHost, rules: NativeRules): Uint8Array {
  return tableOf(rules).call(policyFrame(host, rules), host)
}
