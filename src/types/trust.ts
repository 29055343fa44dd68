import type { BlockId } from './blockRef.ts'
import type { Address } from './ids.ts'
import { addressField, has, hashField, type Json, numberField, objectOf, ShapeError } from './jsonShape.ts'

/**
 * Grades of trust in the block on which a node's state begins, weakest first.
 * - `given`: the operator vouches for its hash
 * - `attested`: L1 verified a TEE or ZK proof of its output root
 * - `resolved`: the challenge period of that proposal has passed
 * - `anchored`: the proposal is the anchor of the chain's proofs, or an ancestor of it
 * - `derived`: the node executed everything since genesis
 */
export const grades = ['given', 'attested', 'resolved', 'anchored', 'derived'] as const
export type Grade = (typeof grades)[number]

/** Returns whether a grade is at least the demanded one. */
export const meetsGrade = (grade: Grade, demanded: Grade): boolean => grades.indexOf(grade) >= grades.indexOf(demanded)

/** What vouches for the block on which a node's state begins. */
export type TrustRecord = {
  readonly block: BlockId
  readonly grade: Grade
  /** finalized L1 block at which the proposal was read */
  readonly l1?: BlockId
  /** contract of the proposal that vouches for the block */
  readonly game?: Address
}

/** What vouches for a block. */
export type Evidence = Omit<TrustRecord, 'block'>

const idJson = ({ number, hash }: BlockId): Json => ({ number: `0x${number.toString(16)}`, hash })

/** Encodes a record as UTF-8 JSON. */
export function encodeTrustRecord({ block, grade, l1, game }: TrustRecord): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ block: idJson(block), grade, ...(l1 && { l1: idJson(l1) }), ...(game && { game }) }))
}

function idOf(json: Json, key: string): BlockId {
  const id = objectOf(json[key], key)
  return { number: numberField(id, 'number'), hash: hashField(id, 'hash') }
}

/** Decodes a record. @throws ShapeError, SyntaxError on other bytes */
export function decodeTrustRecord(bytes: Uint8Array): TrustRecord {
  const json = objectOf(JSON.parse(new TextDecoder().decode(bytes)), 'trust record')
  const grade = grades.find((known) => known === json['grade'])
  if (grade === undefined) throw new ShapeError('grade is unknown')
  return {
    block: idOf(json, 'block'),
    grade,
    ...(has(json, 'l1') && { l1: idOf(json, 'l1') }),
    ...(has(json, 'game') && { game: addressField(json, 'game') }),
  }
}
