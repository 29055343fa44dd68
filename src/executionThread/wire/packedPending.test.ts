import { expect, it } from 'vitest'
import { type ExecutedFlashblock, ExecutedFlashblocks } from '#pending/executedFlashblocks'
import { zeroHash } from '#types/ids'
import type { PendingBlock, PendingBlocks } from '#types/pendingBlock'
import { createStateDiff } from '#types/stateDiffTable'
import { type PackedPending, packedPendingBytes, packPending, unpackPending } from './packedPending.ts'

/** Flashblocks of each build; all pending blocks of one build share them. */
const builds = new Map<string, ExecutedFlashblock[]>()
/** A block of flashblocks with these numbers of transactions. */
function block(payloadId: string, ...counts: readonly number[]): PendingBlock {
  const known = builds.get(payloadId) ?? []
  builds.set(payloadId, known)
  for (const [at, count] of counts.entries()) {
    const executed = Array.from({ length: count }, (_, i) => ({ hash: `${payloadId} ${at} ${i}` })) as never
    known[at] ??= { transactions: Array.from({ length: count }, (_, i) => Uint8Array.of(2, at, i)), executed }
  }
  const fields = { parentHash: zeroHash, number: 1, extraData: Uint8Array.of(1, 2, 3), gasUsed: BigInt(counts.length) } as never
  const diff = createStateDiff({ accounts: [], slots: [], codes: [] })
  const location = { number: 1, payloadId, index: counts.length - 1 }
  return new ExecutedFlashblocks(location, fields, known.slice(0, counts.length), diff)
}
const pending = (...blocks: readonly PendingBlock[]): PendingBlocks => ({ blocks, freshUntilMs: 7 })

/** Reads all of a list. */
const plain = (list: PendingBlocks | undefined): unknown =>
  list?.blocks.map(({ id, index, header, transactions, executed, diff }) => ({
    id,
    index,
    header: { ...header },
    transactions,
    executed,
    diff: diff.bytes,
  }))

const a1 = block('0xaa', 2)
const a2 = block('0xaa', 2, 3)
const a3 = block('0xaa', 2, 3, 0)
const b1 = block('0xbb', 1)

it('executionThread/wire/packedPending: gives a reader the blocks of the writer, after each of consecutive records', () => {
  const records = [pending(a1), pending(a2), pending(a3), pending(a3, b1), pending(b1), undefined, pending(a1), pending(block('0xcc', 3))]
  let before: PendingBlocks | undefined
  let read: PendingBlocks | undefined
  for (const now of records) {
    const packed = packPending(before, now)
    read = packed && unpackPending(read, structuredClone(packed))
    expect(plain(read)).toEqual(plain(now))
    before = now
  }
})

it('executionThread/wire/packedPending: gives a reader parts of an earlier record that it did not read then', () => {
  const first = unpackPending(undefined, packPending(undefined, pending(a1)) as PackedPending)
  const second = unpackPending(first, packPending(pending(a1), pending(a2)) as PackedPending)
  expect(plain(second)).toEqual(plain(pending(a2)))
})

it('executionThread/wire/packedPending: costs the bytes that a flashblock adds; an unchanged block costs nothing', () => {
  const whole = packPending(undefined, pending(a2)) as PackedPending
  const added = packPending(pending(a1), pending(a2)) as PackedPending
  const same = packPending(pending(a2), pending(a2, b1)) as PackedPending
  expect(added.blocks[0]).toMatchObject({ continues: 0 })
  expect(packedPendingBytes(added)).toBeLessThan(packedPendingBytes(whole))
  expect(same.blocks[0]).toBe(0)
})

it('executionThread/wire/packedPending: rejects a record that extends an unknown one', () => {
  const added = packPending(pending(a1), pending(a2)) as PackedPending
  expect(() => unpackPending(undefined, added)).toThrow(RangeError)
})
