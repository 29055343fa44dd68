import { expect, it } from 'vitest'
import { driftVerdict } from '#test/harness/consensus/sequencer'
import { DeriveWorld, forksTo, genesisTimeSec } from '#test/harness/derive/world'
import type { L1Ref } from '#types/blockRef'
import { hashFromBytes } from '#types/ids'
import { planOrigin } from './planOrigin.ts'

const { config } = new DeriveWorld(forksTo('ecotone'))
const fjord = new DeriveWorld(forksTo('fjord')).config
const hash = (seed: number) => hashFromBytes(new Uint8Array(32).fill(seed))
const current: L1Ref = { number: 7, hash: hash(7), parentHash: hash(6), timestamp: genesisTimeSec }
const nextAt = (seconds: number, parent = 7): L1Ref => ({
  ...{ number: 8, hash: hash(8), parentHash: hash(parent) },
  timestamp: genesisTimeSec + seconds,
})
/** parent whose next block is `seconds` after the origin */
const parentOf = (seconds: number) => {
  const number = seconds / 2 - 1
  return {
    ...{ number, hash: hash(1), parentHash: hash(0), timestamp: genesisTimeSec + 2 * number },
    l1Origin: { number: 7, hash: hash(7) },
    sequenceNumber: 0,
  }
}

it.each([
  ['the next origin does not exist', 10, undefined, 'stay', config],
  ['the next origin is later than the block', 10, nextAt(12), 'stay', config],
  ["the time of the next origin equals the block's", 12, nextAt(12), 'next', config],
  ['the next origin is earlier', 40, nextAt(12), 'next', config],
  ['the next L1 block does not follow the origin', 40, nextAt(12, 5), 'none', config],
  ['it does not follow the origin, and is later', 40, nextAt(60, 5), 'none', config],
  ['the drift is reached exactly', 600, undefined, 'stay', config],
  ['the drift is exceeded, the next origin does not exist', 602, undefined, 'none', config],
  ['the drift is exceeded, the next origin later than the block', 602, nextAt(700), 'stay', config],
  ['the drift is exceeded, the next origin allowed', 602, nextAt(602), 'next', config],
  ['Fjord has 1,800 s: not reached', 1_800, undefined, 'stay', fjord],
  ['Fjord has 1,800 s: exceeded', 1_802, undefined, 'none', fjord],
] as const)('consensus/sequencer/planOrigin: when %s', (_what, seconds, next, kind, rules) => {
  expect(planOrigin(rules, parentOf(seconds), current, next).kind).toBe(kind)
})

it('consensus/sequencer/planOrigin: derivation accepts the chosen origin; where it waits, derivation accepts no block that keeps the origin', () => {
  for (const rules of [config, fjord]) {
    for (let seconds = 2; seconds <= 2_000; seconds += 2) {
      for (const next of [undefined, nextAt(12), nextAt(seconds), nextAt(seconds + 2), nextAt(3_000)]) {
        const plan = planOrigin(rules, parentOf(seconds), current, next)
        const timestamp = genesisTimeSec + seconds
        const verdict = (origin: L1Ref, after: L1Ref | undefined) =>
          driftVerdict(rules, { timestamp, isEmpty: true, origin, advancesOrigin: origin !== current, nextOrigin: after })
        if (plan.kind === 'next' && next) expect([next.timestamp <= timestamp, verdict(next, undefined)]).toEqual([true, 'accept'])
        else expect(verdict(current, next)).toBe(plan.kind === 'stay' ? 'accept' : 'undecided')
      }
    }
  }
})
