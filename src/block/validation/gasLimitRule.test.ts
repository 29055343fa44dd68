import { expect, it } from 'vitest'
import { attributesAt, scheduleTo } from '#test/harness/chain/blocks'
import { headerOf } from '#test/harness/chain/headers'
import { gasLimitRefusal } from './gasLimitRule.ts'

const schedule = scheduleTo('jovian')
const parent = headerOf({ number: 5, gasLimit: 60_000_000n })
/** Transactions of a block with this sequence number in its L1 attributes. */
const info = (sequenceNumber: number): readonly Uint8Array[] => attributesAt(schedule, sequenceNumber).transactions
const within = /the parent's 60000000 expected within an epoch/

it.each<[string, bigint, readonly Uint8Array[], RegExp | undefined]>([
  ["the parent's limit", 60_000_000n, info(3), undefined],
  ['another limit within an epoch', 60_000_001n, info(3), within],
  ['2^62 within an epoch', 2n ** 62n, info(3), within],
  ['a higher limit with a new L1 origin', 500_000_000n, info(0), undefined],
  ['a lower limit with a new L1 origin', 30_000_000n, info(0), undefined],
  ['a limit above the maximum of the contract', 500_000_001n, info(0), /at most 500000000 expected/],
  ['another limit without L1 attributes', 30_000_000n, [Uint8Array.of(0x7e, 0xc0)], within],
  ['another limit without transactions', 30_000_000n, [], within],
])('block/validation/gasLimitRule: checks %s', (_what, gasLimit, transactions, refusal) => {
  const found = gasLimitRefusal(parent, { gasLimit, transactions })
  if (refusal === undefined) expect(found).toBeUndefined()
  else expect(found).toMatch(refusal)
})

it('block/validation/gasLimitRule: allows another limit after a genesis block, whose header does not hold its system config', () => {
  const genesis = headerOf({ number: 0, gasLimit: 60_000_000n })
  expect(gasLimitRefusal(genesis, { gasLimit: 30_000_000n, transactions: info(1) })).toBeUndefined()
  expect(gasLimitRefusal(genesis, { gasLimit: 2n ** 62n, transactions: info(1) })).toMatch(/at most/)
})

it('block/validation/gasLimitRule: keeps the limit of a parent that is above the maximum', () => {
  const high = headerOf({ number: 5, gasLimit: 2_000_000_000n })
  expect(gasLimitRefusal(high, { gasLimit: 2_000_000_000n, transactions: info(1) })).toBeUndefined()
  expect(gasLimitRefusal(high, { gasLimit: 1_900_000_000n, transactions: info(0) })).toBeUndefined()
  expect(gasLimitRefusal(high, { gasLimit: 2_000_000_001n, transactions: info(0) })).toMatch(/at most 2000000000 expected/)
})
