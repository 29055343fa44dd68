import { expect, it } from 'vitest'
import { lazyHeader, type PendingBlock, type PendingBlocks } from '#block/execution/pendingBlock'
import { createStateDiff } from '#types/stateDiffTable'
import { type PackedPending, packedPendingBytes, packPending, unpackPending } from './packedPending.ts'

/** A block of transactions named by numbers; all flashblocks of one build share the same objects. */
const builds = new Map<string, { readonly hash: string }[]>()
function block(payloadId: string, count: number, index = 0): PendingBlock {
  const known = builds.get(payloadId) ?? Array.from({ length: 9 }, (_, i) => ({ hash: `${payloadId} ${i}` }))
  builds.set(payloadId, known)
  const transactions = Array.from({ length: count }, (_, i) => Uint8Array.of(2, i))
  const fields = { number: 1, extraData: Uint8Array.of(1, 2, 3), gasUsed: BigInt(count) } as unknown as PendingBlock['fields']
  const diff = createStateDiff({ accounts: [], slots: [], codes: [] })
  const header = lazyHeader(fields, () => transactions)
  return { payloadId, index, id: `${payloadId}/${index}`, header, fields, transactions, executed: known.slice(0, count), diff } as never
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

const a1 = block('a', 2)
const a2 = block('a', 5, 1)
const a3 = block('a', 5, 2)
const b1 = block('b', 1)

it('executionThread/wire/packedPending: gives a reader the blocks of the writer, after each of consecutive records', () => {
  const records = [pending(a1), pending(a2), pending(a3), pending(a3, b1), pending(b1), undefined, pending(a1), pending(block('c', 3))]
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
