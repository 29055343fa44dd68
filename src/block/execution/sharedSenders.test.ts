import { expect, it } from 'vitest'
import { accountOf, attributesAt, scheduleTo, signedBy } from '#test/harness/chain/blocks'
import { SharedSenders } from './sharedSenders.ts'

const signed = Array.from({ length: 6 }, (_, i) => signedBy(i % 2 === 0 ? 'alice' : 'bob', { nonce: BigInt(i) }))
const [deposit] = attributesAt(scheduleTo('jovian'), 1).transactions as [Uint8Array]

/** Both ends of the same memory, as in two threads. */
function both(count: number) {
  const shared = SharedSenders.create(count)
  return { executing: new SharedSenders(shared), helping: new SharedSenders(shared) }
}

it('block/execution/sharedSenders: returns the senders that the helper has recovered, and undefined for the others', () => {
  const { executing, helping } = both(signed.length)
  expect([0, 1].map((index) => executing.take(index))).toEqual([undefined, undefined])
  helping.help(signed)
  expect([2, 3, 4, 5].map((index) => executing.take(index))).toEqual(['alice', 'bob', 'alice', 'bob'].map(accountOf))
})

it('block/execution/sharedSenders: stops the helper at the first transaction that the execution thread has begun', () => {
  const { executing, helping } = both(signed.length)
  executing.take(4)
  helping.help(signed)
  expect([3, 5].map((index) => executing.take(index))).toEqual([undefined, accountOf('bob')])
})

it('block/execution/sharedSenders: leaves deposits, undecodable bytes and invalid signatures to the execution thread', () => {
  const badSignature = signedBy('alice', {}).slice()
  badSignature.fill(0xff, -32)
  const raws = [signed[0] as Uint8Array, deposit, Uint8Array.of(1, 2), new Uint8Array(0), badSignature]
  const { executing, helping } = both(raws.length)
  helping.help(raws)
  expect(raws.map((_, index) => executing.take(index))).toEqual([accountOf('alice'), undefined, undefined, undefined, undefined])
})

it('block/execution/sharedSenders: limits the helper to part of a long list, and accepts an empty one', () => {
  const raws = Array.from({ length: 100 }, () => signed[0] as Uint8Array)
  const { executing, helping } = both(raws.length)
  helping.help(raws)
  expect([35, 36, 99].map((index) => executing.take(index))).toEqual([undefined, accountOf('alice'), accountOf('alice')])
  both(0).helping.help([])
})
