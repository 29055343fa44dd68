import fc from 'fast-check'
import { expect, it } from 'vitest'
import { shareBytes } from '#lib/packedBytes'
import { secp256k1HalfOrder, secp256k1Order } from '#lib/secp256k1'
import { hostile, signedTransaction } from '#test/harness/arbitraries'
import { accountOf, attributesAt, scheduleTo, signed, signedBy } from '#test/harness/chain/blocks'
import type { Address } from '#types/ids'
import { recoverSender } from '#types/recoverSender'
import { decodeTransaction, depositType, encodeTransaction, type SignedTransaction } from '#types/transaction'
import { recoverSenders, type SenderCounts, SenderTable } from './senderTable.ts'

const never = (): boolean => false
const alice = accountOf('alice')
const bob = accountOf('bob')

it('executionThread/senderTable: gives each entry to one thread, and its sender once it is settled', () => {
  const table = SenderTable.create(3)
  const there = new SenderTable(table.memory)
  expect([there.claim(0), there.claim(0), there.claim(1)]).toEqual([true, false, true])
  there.settle(0, alice)
  expect([table.at(0), table.at(1), table.at(2)]).toEqual([alice, undefined, undefined])
  expect(there.claim(2)).toBe(false)
})

it('executionThread/senderTable: counts ready senders, and senders that the reader recovered', () => {
  const counts: SenderCounts[] = []
  const table = SenderTable.create(3, (of) => counts.push(of))
  const reader = new SenderTable(table.memory)
  table.claim(1)
  table.settle(1, bob)
  for (const index of [0, 1, 2]) reader.at(index)
  table[Symbol.dispose]()
  expect(counts).toEqual([{ ready: 1, own: 2 }])
})

it('executionThread/senderTable: leaves the rest to execution when the table is closed or the thread stops', () => {
  const raws = Array.from({ length: 4 }, (_, nonce) => signedBy('alice', { nonce: BigInt(nonce) }))
  const stopped = SenderTable.create(4)
  let taken = 0
  recoverSenders(stopped, shareBytes(raws), () => taken++ === 2)
  expect([0, 1, 2, 3].map((index) => stopped.at(index))).toEqual([alice, alice, undefined, undefined])
  const closed = SenderTable.create(4)
  closed[Symbol.dispose]()
  recoverSenders(closed, shareBytes(raws), never)
  expect(closed.at(0)).toBeUndefined()
})

it('executionThread/senderTable: jumps eight entries ahead when execution catches up, and leaves those between to execution', () => {
  const raws = Array.from({ length: 24 }, (_, nonce) => signedBy('alice', { nonce: BigInt(nonce) }))
  const table = SenderTable.create(raws.length)
  const reader = new SenderTable(table.memory)
  const read: (Address | undefined)[] = []
  // execution reads three entries before the first one of the thread, two before each of the next two, none after
  const reads = [3, 2, 2]
  const run = (): boolean => {
    for (let left = reads.shift() ?? 0; left > 0; left--) read.push(reader.at(read.length))
    return false
  }
  recoverSenders(table, shareBytes(raws), run)
  while (read.length < raws.length) read.push(reader.at(read.length))
  expect(read.map((sender) => sender === alice)).toEqual(raws.map((_raw, index) => index >= 11))
})

it('executionThread/senderTable: leaves deposits, large transactions and undecodable bytes to execution, and continues after them', () => {
  const [deposit = expect.fail()] = attributesAt(scheduleTo('isthmus'), 1).transactions
  const large = signedBy('alice', { data: new Uint8Array(140_000) })
  const raws = [deposit, large, new Uint8Array(0), Uint8Array.of(2, 0xc0), Uint8Array.of(0x55), signedBy('alice', {}).subarray(0, -1)]
  const table = SenderTable.create(raws.length + 1)
  recoverSenders(table, shareBytes([...raws, signedBy('bob', {})]), never)
  expect(Array.from({ length: raws.length + 1 }, (_, index) => table.at(index))).toEqual([...raws.map(() => undefined), bob])
})

/** What execution finds for a transaction. */
function senderOf(raw: Uint8Array): Address | undefined {
  try {
    const tx = decodeTransaction(raw)
    return tx.type === depositType ? undefined : recoverSender(tx)
  } catch {
    return undefined
  }
}

const withHighS = (tx: SignedTransaction): SignedTransaction => ({ ...tx, s: secp256k1Order - tx.s, yParity: tx.yParity === 0 ? 1 : 0 })
const properly = signedTransaction.map((tx) => signed(tx, 'alice'))
const anyRaw = fc.oneof(
  properly.map(encodeTransaction),
  properly.map((tx) => encodeTransaction(withHighS(tx))),
  signedTransaction.map(encodeTransaction),
  hostile(properly.map(encodeTransaction)),
)

it('executionThread/senderTable: recovers what recoverSender recovers, for all types and any signature', () => {
  const types = new Set<number>()
  fc.assert(
    fc.property(fc.array(anyRaw, { minLength: 1, maxLength: 8 }), (raws) => {
      const table = SenderTable.create(raws.length)
      recoverSenders(table, shareBytes(raws), never)
      const senders = raws.map((_raw, index) => table.at(index))
      expect(senders).toEqual(raws.map(senderOf))
      for (const [index, raw] of raws.entries()) if (senders[index]) types.add(decodeTransaction(raw).type)
    }),
    { numRuns: 150 },
  )
  expect([...types].sort()).toEqual([0, 1, 2, 3, 4])
})

it('executionThread/senderTable: refuses a high s as recoverSender does (EIP-2)', () => {
  const tx = withHighS(decodeTransaction(signedBy('alice', {})) as SignedTransaction)
  expect(tx.s).toBeGreaterThan(secp256k1HalfOrder)
  const table = SenderTable.create(1)
  recoverSenders(table, shareBytes([encodeTransaction(tx)]), never)
  expect(table.at(0)).toBeUndefined()
})

/** One thread's steps on a table: each `next` is one step that no other thread interrupts. */
function* helper(table: SenderTable, senders: readonly Address[], claims: number[]): Generator<void> {
  for (const [index, sender] of senders.entries()) {
    const isMine = table.claim(index)
    yield
    if (!isMine) continue
    claims.push(index)
    table.settle(index, sender)
    yield
  }
}

it('executionThread/senderTable: gives a right sender or none, and each entry to one thread, whatever the interleaving of three threads', () => {
  const senders = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? alice : bob))
  const step = fc.constantFrom<0 | 1 | 2>(0, 1, 2)
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const table = SenderTable.create(senders.length)
      const [claims, read]: [number[], (Address | undefined)[]] = [[], []]
      const helpers = [helper(new SenderTable(table.memory), senders, claims), helper(new SenderTable(table.memory), senders, claims)]
      for (const thread of steps) {
        if (thread < 2) helpers[thread]?.next()
        else if (read.length < senders.length) read.push(table.at(read.length))
      }
      for (const thread of helpers) while (!thread.next().done);
      expect(new Set(claims).size).toBe(claims.length)
      for (const [index, sender] of read.entries()) expect([undefined, senders[index]]).toContain(sender)
      const unread = senders.map((_sender, index) => index).slice(read.length)
      expect(unread.map((index) => table.at(index))).toEqual(unread.map((index) => senders[index]))
    }),
    { numRuns: 300 },
  )
})
