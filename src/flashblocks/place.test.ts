import { expect, it } from 'vitest'
import type { Hash } from '#types/ids'
import { type Placed, type Placement, placeFlashblock, type Tip } from './place.ts'

const hash = (digit: string): Hash => `0x${digit.repeat(64)}` as Hash
const head = { number: 10, hash: hash('a') }
const tip = (number: number, index: number, isTorn = false): Tip => ({ number, payloadId: '0x01', index, isTorn })
const base = (parentHash: Hash): Placed['base'] => ({ parentHash }) as Placed['base']
const slice = (blockNumber: number, index: number, parent?: Hash, payloadId = '0x01'): Placed =>
  parent === undefined
    ? { blockNumber, payloadId, index }
    : { blockNumber, payloadId, index, base: base(parent) as NonNullable<Placed['base']> }

it.each<[string, Placement, Tip | undefined, Placed]>([
  ['slice 0 on the head, nothing pending', 'next-block', undefined, slice(11, 0, head.hash)],
  ['slice 0 on a sibling of the head', 'orphaned', undefined, slice(11, 0, hash('b'))],
  ['slice 1, nothing pending', 'gap', undefined, slice(11, 1)],
  ['slice 0 of a block above one that is missing', 'ahead', undefined, slice(12, 0, hash('b'))],
  ['slice 3 of a block above one that is missing', 'gap', undefined, slice(12, 3)],
  ['the last block that is held', 'ahead', undefined, slice(15, 0, hash('b'))],
  ['a block six above the head', 'too-far', undefined, slice(16, 0, hash('b'))],
  ['slice 0 of the head itself', 'late', undefined, slice(10, 0, hash('9'))],
  ['a slice below the head', 'late', undefined, slice(3, 4)],
  ['the next slice', 'append', tip(11, 2), slice(11, 3)],
  ['the slice that came last', 'duplicate', tip(11, 2), slice(11, 2)],
  ['slice 0 again', 'duplicate', tip(11, 2), slice(11, 0, head.hash)],
  ['the slice after the next', 'gap', tip(11, 2), slice(11, 4)],
  ['slice 0 of another build', 'replace', tip(11, 2), slice(11, 0, head.hash, '0x02')],
  ['slice 0 of another build on another block', 'orphaned', tip(11, 2), slice(11, 0, hash('b'), '0x02')],
  ['slice 3 of another build', 'gap', tip(11, 2), slice(11, 3, undefined, '0x02')],
  ['slice 0 of the next block', 'next-block', tip(11, 9), slice(12, 0, hash('b'), '0x02')],
  ['slice 0 of the next block, while a slice is missing below it', 'ahead', tip(11, 5, true), slice(12, 0, hash('b'), '0x02')],
  ['slice 1 of the next block', 'gap', tip(11, 9), slice(12, 1, undefined, '0x02')],
  ['slice 0 of the block after the next', 'ahead', tip(11, 9), slice(13, 0, hash('b'), '0x02')],
  ['slice 0 of the third block above the head', 'next-block', tip(12, 9), slice(13, 0, hash('b'), '0x02')],
  ['slice 0 of the fourth block above the head', 'ahead', tip(13, 9), slice(14, 0, hash('b'), '0x02')],
  ['another build of the second block above the head', 'replace', tip(12, 1), slice(12, 0, hash('b'), '0x02')],
  ['a slice of a block that has a pending one on it', 'late', tip(12, 1), slice(11, 10, undefined, '0x00')],
])('flashblocks/place: %s: %s', (_what, placement, at, placed) => {
  expect(placeFlashblock({ head, tip: at }, placed)).toBe(placement)
})
