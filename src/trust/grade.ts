import type { Grade } from '#types/trust'
import type { GameState } from './contracts/game.ts'

/** What L1 has about a proposal. */
export type GameFacts = GameState & {
  readonly isBlacklisted: boolean
  /** games created at this time or before are invalid */
  readonly retirementSec: number
  /** whether it is the anchor of the chain's proofs, or an ancestor of it */
  readonly isAnchored: boolean
}

export type GradeVerdict =
  | { readonly kind: 'graded'; readonly grade: Extract<Grade, 'attested' | 'resolved' | 'anchored'> }
  | { readonly kind: 'refused'; readonly reason: string }

const refused = (reason: string): GradeVerdict => ({ kind: 'refused', reason })

/**
 * Returns the grade of the output roots of a proposal, or why they have none. Pure. A countered proposal has two proofs, of which one refutes a root.
 * @see AnchorStateRegistry `isGameProper`, `isGameClaimValid`; AggregateVerifier `resolve`, `challenge`, `nullify`
 */
export function gradeOf(facts: GameFacts): GradeVerdict {
  if (!facts.isInitialized) return refused('it is not initialized')
  if (!facts.wasRespected) return refused('its type was not the respected one when it was created')
  if (facts.isBlacklisted) return refused('it is blacklisted')
  if (facts.createdSec <= facts.retirementSec) return refused('it is retired: it was created before the retirement time of the registry')
  if (facts.status === 'challenger wins') return refused('its challenger has won')
  if (facts.isCountered) return refused('it is challenged')
  if (facts.proofs === 0) return refused('it has no proof, or its proof was refuted')
  if (facts.status === undefined) return refused('its status is unknown to this version')
  if (facts.status === 'in progress') return { kind: 'graded', grade: 'attested' }
  return { kind: 'graded', grade: facts.isAnchored ? 'anchored' : 'resolved' }
}
