import { newWord, setU64At, type Word } from '../kit/word.ts'
import type { NativeRules } from '../rules.ts'

/** Types of policies, in the highest byte of an id. A composite policy combines others. */
export const blocklist = 0
export const allowlist = 1
export const union = 2
export const intersect = 3

/** Policies that exist without an admin and decide without members. */
export const alwaysAllow = 0n
export const alwaysBlock = (1n << 56n) | 1n

const invertedBit = 1n << 63n

/** Returns the type; values above `intersect` are malformed. */
export const typeOf = (id: bigint): number => Number(id >> 56n)
export const isBuiltIn = (id: bigint): boolean => id === alwaysAllow || id === alwaysBlock
export const isComposite = (type: number): boolean => type === union || type === intersect

export const isInverted = (rules: NativeRules, id: bigint): boolean => rules.hasInvertedPolicies && (id & invertedBit) !== 0n
/** Returns the id of the policy itself, without the bit that negates it. */
export const baseId = (rules: NativeRules, id: bigint): bigint => (isInverted(rules, id) ? id ^ invertedBit : id)
export const toggled = (id: bigint): bigint => id ^ invertedBit

/** Stores an id as the key of a mapping. */
export function setId(to: Word, id: bigint): Word {
  to.fill(0)
  setU64At(to, 0, id)
  return to
}

export const idWord = (id: bigint): Word => setId(newWord(), id)
