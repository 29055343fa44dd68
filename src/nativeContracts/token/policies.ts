import { emptyBytes } from '#lib/bytes'
import { keccak256Text } from '#lib/keccak'
import type { Args } from '../kit/args.ts'
import { type NativeFunction, nativeFunction } from '../kit/functions.ts'
import { asNumber, asWord } from '../kit/results.ts'
import { isEqual, isZero, newWord, u64At, type Word, wordOfBytes } from '../kit/word.ts'
import { isAuthorized, policyExists, policyReader } from '../policy/authorization.ts'
import { alwaysAllow } from '../policy/ids.ts'
import type { NativeRules } from '../rules.ts'
import { policyForbids, policyNotFound, unsupportedPolicyType } from './errors.ts'
import { policyUpdated } from './events.ts'
import { tokenFields } from './fields.ts'
import type { TokenFrame } from './frame.ts'
import { defaultAdminRole, requireRole } from './roles.ts'

/** A purpose for which a token names a policy: the slot and the lower limb of its id. */
type Scope = { readonly name: Word; readonly slot: Word; readonly limb: number; readonly isSeize: boolean }

const scope = (name: string, slot: Word, place: number, isSeize = false): Scope => ({
  name: wordOfBytes(keccak256Text(name)),
  slot,
  limb: 2 * place,
  isSeize,
})

export const senderScope = scope('TRANSFER_SENDER_POLICY', tokenFields.transferPolicies, 0)
const receiverScope = scope('TRANSFER_RECEIVER_POLICY', tokenFields.transferPolicies, 1)
const executorScope = scope('TRANSFER_EXECUTOR_POLICY', tokenFields.transferPolicies, 2)
export const mintReceiverScope = scope('MINT_RECEIVER_POLICY', tokenFields.mintPolicies, 0)
export const seizeExemptScope = scope('SEIZE_EXEMPT_POLICY', tokenFields.seizePolicies, 0, true)
export const seizeReceiverScope = scope('SEIZE_RECEIVER_POLICY', tokenFields.seizePolicies, 1, true)

const scopes = [senderScope, receiverScope, executorScope, mintReceiverScope, seizeExemptScope, seizeReceiverScope]

function scopeNamed(rules: NativeRules, name: Word): Scope {
  const found = scopes.find((each) => isEqual(each.name, name))
  if (!found || (found.isSeize && !rules.hasSeize)) throw unsupportedPolicyType(name)
  return found
}

const ids = newWord()

/** Reads the id of a scope's policy. */
export const policyIdOf = ({ storage }: TokenFrame, of: Scope): bigint => storage.readU64(of.slot, of.limb)

/** Returns whether a policy authorizes an account. */
export function authorizes(frame: TokenFrame, id: bigint, account: Word): boolean {
  return id === alwaysAllow || isAuthorized(policyReader(frame.host, frame.rules), id, account)
}

/** @throws NativeRevert PolicyForbids */
export function requireAuthorized(frame: TokenFrame, of: Scope, id: bigint, account: Word): void {
  if (!authorizes(frame, id, account)) throw policyForbids(of.name, id)
}

/**
 * Checks the policies of a transfer, except V1's check of the executor. Evidence for V3: the asset file of base/base (ceabd088). The stored file of
 * stablecoins is older; that they follow the same rules is the text of pull request 5080.
 */
export function requireTransferPolicies(frame: TokenFrame, executor: Word, from: Word, to: Word): void {
  const { storage, rules } = frame
  storage.read(senderScope.slot, ids)
  if (isZero(ids)) {
    // every id is that of the policy that allows all
    if (!rules.readsTransferPoliciesOnce) storage.read(receiverScope.slot, ids)
    return
  }
  const [senderId, receiverId, executorId] = [u64At(ids, senderScope.limb), u64At(ids, receiverScope.limb), u64At(ids, executorScope.limb)]
  const isOwn = isEqual(executor, from)
  if (rules.checksEveryExecutor || (rules.readsTransferPoliciesOnce && !isOwn))
    requireAuthorized(frame, executorScope, executorId, executor)
  const isSenderChecked = rules.checksEveryExecutor && isOwn && executorId === senderId
  if (!isSenderChecked) requireAuthorized(frame, senderScope, senderId, from)
  if (!rules.readsTransferPoliciesOnce) storage.read(receiverScope.slot, ids)
  requireAuthorized(frame, receiverScope, receiverId, to)
}

/** V1 checks the executor of others' tokens on its own. */
export function requireExecutorPolicy(frame: TokenFrame, executor: Word): void {
  requireAuthorized(frame, executorScope, policyIdOf(frame, executorScope), executor)
}

function updatePolicy(frame: TokenFrame, args: Args): Uint8Array {
  requireRole(frame, defaultAdminRole)
  const of = scopeNamed(frame.rules, args.word(0))
  const next = args.u64(1)
  const isReadFirst = frame.variant === 'stablecoin' && frame.rules.stablecoinReadsOldPolicyFirst
  const early = isReadFirst ? policyIdOf(frame, of) : undefined
  if (!policyExists(policyReader(frame.host, frame.rules), next)) throw policyNotFound(next)
  const previous = early ?? policyIdOf(frame, of)
  frame.storage.writeU64(of.slot, of.limb, next)
  policyUpdated.emit(frame.host, frame.account, [of.name], previous, next)
  return emptyBytes
}

const nameGetter = (declaration: string, { name }: Scope): NativeFunction<TokenFrame> => nativeFunction(declaration, () => asWord(name))

export const policyFunctions = [
  nativeFunction('policyId(bytes32)', (frame: TokenFrame, args) => asNumber(policyIdOf(frame, scopeNamed(frame.rules, args.word(0))))),
  nativeFunction('updatePolicy(bytes32,uint64)', updatePolicy),
  nameGetter('TRANSFER_SENDER_POLICY()', senderScope),
  nameGetter('TRANSFER_RECEIVER_POLICY()', receiverScope),
  nameGetter('TRANSFER_EXECUTOR_POLICY()', executorScope),
  nameGetter('MINT_RECEIVER_POLICY()', mintReceiverScope),
]

export const seizePolicyFunctions = [
  nameGetter('SEIZE_EXEMPT_POLICY()', seizeExemptScope),
  nameGetter('SEIZE_RECEIVER_POLICY()', seizeReceiverScope),
]
