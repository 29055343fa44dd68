import { emptyBytes } from '#lib/bytes'
import type { Args } from '../kit/args.ts'
import { contractError } from '../kit/ends.ts'
import { nativeFunction } from '../kit/functions.ts'
import { asList, asNumber, asWord } from '../kit/results.ts'
import { isZero, newWord, u64At, type Word } from '../kit/word.ts'
import { isStored } from './authorization.ts'
import { compositePolicyUpdated } from './events.ts'
import { policyFields } from './fields.ts'
import { baseId, idWord, isBuiltIn, isComposite, setId, typeOf } from './ids.ts'
import {
  createPolicy,
  incompatiblePolicyType,
  loadPolicy,
  type PolicyFrame,
  policyNotFound,
  requirePolicyAdmin,
  zeroAddress,
} from './policies.ts'

const minChildren = 2
const maxChildren = 4

const childPoliciesOutsideOfRange = contractError('ChildPoliciesOutsideOfRange()')
const invalidChildPolicy = contractError('InvalidChildPolicy(uint64)')

const key = newWord()
const childrenSlot = (id: bigint): Word => policyFields.children.slot(newWord(), setId(key, id))

/** Returns the children that the arguments name: simple policies that exist, and may be inverted. */
function childrenOf(frame: PolicyFrame, args: Args, index: number): bigint[] {
  const children = args.elements(index).map((word) => u64At(word, 0))
  if (children.length < minChildren || children.length > maxChildren) throw childPoliciesOutsideOfRange()
  for (const child of children) if (!isStored(frame, baseId(frame.rules, child))) throw policyNotFound()
  for (const child of children) {
    const base = baseId(frame.rules, child)
    if (isBuiltIn(base) || isComposite(typeOf(base))) throw invalidChildPolicy(child)
  }
  return children
}

function storeChildren({ storage, host }: PolicyFrame, id: bigint, children: readonly bigint[]): void {
  storage.writeU64List(childrenSlot(id), children)
  compositePolicyUpdated.emit(host, storage.account, [idWord(id), host.caller], children)
}

function createComposite(frame: PolicyFrame, args: Args): Uint8Array {
  const [admin, type] = [args.word(0), args.number(1)]
  if (isZero(admin)) throw zeroAddress()
  if (!isComposite(type)) throw incompatiblePolicyType()
  const children = childrenOf(frame, args, 2)
  const id = createPolicy(frame, admin, type)
  storeChildren(frame, id, children)
  return asWord(idWord(id))
}

function updateComposite(frame: PolicyFrame, args: Args): Uint8Array {
  const id = args.u64(0)
  const policy = loadPolicy(frame, id)
  if (!isComposite(typeOf(id))) throw incompatiblePolicyType()
  requirePolicyAdmin(frame, policy)
  storeChildren(frame, id, childrenOf(frame, args, 1))
  return emptyBytes
}

function compositePolicyChildIds(frame: PolicyFrame, args: Args): Uint8Array {
  const id = baseId(frame.rules, args.u64(0))
  return asList(isComposite(typeOf(id)) ? frame.storage.readU64List(childrenSlot(id)) : [])
}

export const compositeFunctions = [
  nativeFunction('createCompositePolicy(address,enum<4>,uint64[])', createComposite),
  nativeFunction('updateComposite(uint64,uint64[])', updateComposite),
]

export const compositeViews = [
  nativeFunction('compositePolicyChildIds(uint64)', compositePolicyChildIds),
  nativeFunction('MIN_COMPOSITE_CHILD_POLICIES()', (_: PolicyFrame) => asNumber(minChildren)),
  nativeFunction('MAX_COMPOSITE_CHILD_POLICIES()', (_: PolicyFrame) => asNumber(maxChildren)),
]
