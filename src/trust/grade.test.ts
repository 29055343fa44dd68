import { expect, it } from 'vitest'
import { zeroHash } from '#types/ids'
import { type GameFacts, gradeOf } from './grade.ts'

const valid: GameFacts = {
  createdSec: 2_000,
  status: 'in progress',
  isInitialized: true,
  wasRespected: true,
  startRoot: zeroHash,
  startBlock: 1n,
  isCountered: false,
  proofs: 1,
  isBlacklisted: false,
  retirementSec: 1_999,
  isAnchored: false,
}

it.each<[string, Partial<GameFacts>, string]>([
  ['one proof', {}, 'attested'],
  ['two proofs', { proofs: 2 }, 'attested'],
  ['defender wins', { status: 'defender wins' }, 'resolved'],
  ['defender wins, anchor', { status: 'defender wins', isAnchored: true }, 'anchored'],
  ['anchor that is not resolved, which no contract allows', { isAnchored: true }, 'attested'],
])('trust/grade: grades a proposal with %s', (_title, facts, grade) => {
  expect(gradeOf({ ...valid, ...facts })).toEqual({ kind: 'graded', grade })
})

it.each<[string, Partial<GameFacts>, RegExp]>([
  ['not initialized', { isInitialized: false }, /not initialized/],
  ['of a type that was not respected', { wasRespected: false }, /respected/],
  ['blacklisted', { isBlacklisted: true }, /blacklisted/],
  ['created at the retirement time', { retirementSec: 2_000 }, /retired/],
  ['won by its challenger', { status: 'challenger wins' }, /challenger has won/],
  ['challenged, with the two proofs of both sides', { isCountered: true, proofs: 2 }, /challenged/],
  ['without a proof', { proofs: 0 }, /no proof/],
  ['resolved without a proof', { proofs: 0, status: 'defender wins' }, /no proof/],
  ['of unknown status', { status: undefined }, /status/],
])('trust/grade: refuses a proposal that is %s', (_title, facts, reason) => {
  const verdict = gradeOf({ ...valid, ...facts })
  expect(verdict).toEqual({ kind: 'refused', reason: expect.stringMatching(reason) })
})
