import { expect, it } from 'vitest'
import type { Hash } from '#types/ids'
import { type Placed, type Placement, placeFlashblock, type Tip } from './placeFlashblock.ts'

const hash = (digit: string): Hash => `0x${digit.repeat(64)}` as Hash
const head = { number: 10, hash: hash('a') }
const tip = (number: number, index: number, isTorn = false): Tip => ({ number, payloadId: '0x01', index, isTorn })
const base = (parentHash: Hash): Placed['base'] => ({ parentHash }) as Placed['base']
const flashblock = (blockNumber: number, index: number, parent?: Hash, payloadId = '0x01'): Placed =>
  parent === undefined
    ? { blockNumber, payloadId, index }
    : { blockNumber, payloadId, index, base: base(parent) as NonNullable<Placed['base']> }

it.each<[string, Placement, Tip | undefined, Placed]>([
  ['flashblock 0 on the head, nothing pending', 'next-block', undefined, flashblock(11, 0, head.hash)],
  ['flashblock 0 on a sibling of the head', 'orphaned', undefined, flashblock(11, 0, hash('b'))],
  ['flashblock 1, nothing pending', 'gap', undefined, flashblock(11, 1)],
  ['flashblock 0 of a block above a missing block', 'ahead', undefined, flashblock(12, 0, hash('b'))],
  ['flashblock 3 of a block above a missing block', 'gap', undefined, flashblock(12, 3)],
  ['the last block that is held', 'ahead', undefined, flashblock(15, 0, hash('b'))],
  ['a block six above the head', 'too-far', undefined, flashblock(16, 0, hash('b'))],
  ['flashblock 0 of the head itself', 'late', undefined, flashblock(10, 0, hash('9'))],
  ['a flashblock below the head', 'late', undefined, flashblock(3, 4)],
  ['the next flashblock', 'append', tip(11, 2), flashblock(11, 3)],
  ['the flashblock that came last', 'duplicate', tip(11, 2), flashblock(11, 2)],
  ['flashblock 0 again', 'duplicate', tip(11, 2), flashblock(11, 0, head.hash)],
  ['the flashblock after the next', 'gap', tip(11, 2), flashblock(11, 4)],
  ['flashblock 0 of another build', 'replace', tip(11, 2), flashblock(11, 0, head.hash, '0x02')],
  ['flashblock 0 of another build on another block', 'orphaned', tip(11, 2), flashblock(11, 0, hash('b'), '0x02')],
  ['flashblock 3 of another build', 'gap', tip(11, 2), flashblock(11, 3, undefined, '0x02')],
  ['flashblock 0 of the next block', 'next-block', tip(11, 9), flashblock(12, 0, hash('b'), '0x02')],
  [
    'flashblock 0 of the next block, while a flashblock is missing below it',
    'ahead',
    tip(11, 5, true),
    flashblock(12, 0, hash('b'), '0x02'),
  ],
  ['flashblock 1 of the next block', 'gap', tip(11, 9), flashblock(12, 1, undefined, '0x02')],
  ['flashblock 0 of the block after the next', 'ahead', tip(11, 9), flashblock(13, 0, hash('b'), '0x02')],
  ['flashblock 0 of the third block above the head', 'next-block', tip(12, 9), flashblock(13, 0, hash('b'), '0x02')],
  ['flashblock 0 of the fourth block above the head', 'ahead', tip(13, 9), flashblock(14, 0, hash('b'), '0x02')],
  ['another build of the second block above the head', 'replace', tip(12, 1), flashblock(12, 0, hash('b'), '0x02')],
  ['a flashblock of a block that has a pending one on it', 'late', tip(12, 1), flashblock(11, 10, undefined, '0x00')],
])('flashblocks/placeFlashblock: %s: %s', (_what, placement, at, placed) => {
  expect(placeFlashblock({ head, tip: at }, placed)).toBe(placement)
})
