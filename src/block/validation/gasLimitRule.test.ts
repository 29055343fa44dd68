import { expect, it } from 'vitest'
import { attributesAt, scheduleTo } from '#test/harness/chain/blocks'
import { headerOf } from '#test/harness/chain/headers'
import { gasLimitRefusal } from './gasLimitRule.ts'

const schedule = scheduleTo('jovian')
const parent = headerOf({ number: 5, gasLimit: 60_000_000n })
/** L1 attributes with a sequence number. */
const info = (sequenceNumber: number): readonly Uint8Array[] => attributesAt(schedule, sequenceNumber).transactions
const within = /the parent's 60000000 expected within an epoch/

it.each<[string, bigint, readonly Uint8Array[], RegExp | undefined]>([
  ["the parent's", 60_000_000n, info(3), undefined],
  ['another, within an epoch', 60_000_001n, info(3), within],
  ['2^62, within an epoch', 2n ** 62n, info(3), within],
  ['more, with a new L1 origin', 500_000_000n, info(0), undefined],
  ['less, with a new L1 origin', 30_000_000n, info(0), undefined],
  ['more than the contract allows', 500_000_001n, info(0), /at most 500000000 expected/],
  ['another, without L1 attributes', 30_000_000n, [Uint8Array.of(0x7e, 0xc0)], within],
  ['another, without transactions', 30_000_000n, [], within],
])('block/gasLimitRule: %s', (_what, gasLimit, transactions, refusal) => {
  const found = gasLimitRefusal(parent, { gasLimit, transactions })
  if (refusal === undefined) expect(found).toBeUndefined()
  else expect(found).toMatch(refusal)
})

it("block/gasLimitRule: a genesis block's header does not hold its system config, so the limit may change after it", () => {
  const genesis = headerOf({ number: 0, gasLimit: 60_000_000n })
  expect(gasLimitRefusal(genesis, { gasLimit: 30_000_000n, transactions: info(1) })).toBeUndefined()
  expect(gasLimitRefusal(genesis, { gasLimit: 2n ** 62n, transactions: info(1) })).toMatch(/at most/)
})

it('block/gasLimitRule: a chain whose limit is higher already keeps it', () => {
  const high = headerOf({ number: 5, gasLimit: 2_000_000_000n })
  expect(gasLimitRefusal(high, { gasLimit: 2_000_000_000n, transactions: info(1) })).toBeUndefined()
})
