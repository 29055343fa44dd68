import { expect, it } from 'vitest'
import { bytesFromBigint } from '#lib/bytes'
import { hashFromBytes } from '#types/ids'
import { checkpointAt } from './checkpoint.ts'

const roots = Array.from({ length: 20 }, (_, i) => hashFromBytes(bytesFromBigint(BigInt(i + 1), 32)))
const denim = { startBlock: 60_000_000n, block: 60_006_000n, roots }
const before = { startBlock: 46_302_960n, block: 46_303_560n, roots }

it.each([
  ['the first block after the start', denim, 60_000_001, 60_000_300, 1],
  ['the first root itself', denim, 60_000_300, 60_000_300, 1],
  ['the block after a root', denim, 60_000_301, 60_000_600, 2],
  ['the claimed block', denim, 60_006_000, 60_006_000, 20],
  ['a block before Denim', before, 46_302_961, 46_302_990, 1],
  ['the last block before Denim', before, 46_303_531, 46_303_560, 20],
])('trust/checkpoint: finds the next root for %s', (_title, range, number, block, root) => {
  expect(checkpointAt(range, number)).toEqual({ block, root: roots[root - 1] })
})

it.each([
  ['the start block, which the parent claims', denim, 60_000_000],
  ['a block after the claim', denim, 60_006_001],
  ['a range that 20 does not divide', { ...denim, block: 60_006_001n }, 60_000_010],
  ['roots farther apart than 300 blocks', { ...denim, block: 60_006_020n }, 60_000_010],
  ['an empty range', { ...denim, block: denim.startBlock }, 60_000_000],
  ['a range that ends before its start', { ...denim, block: 10n }, 11],
  ['a block beyond 2^53', { startBlock: 2n ** 255n, block: 2n ** 255n + 6_000n, roots }, 60_000_000],
])('trust/checkpoint: has none for %s', (_title, range, number) => {
  expect(checkpointAt(range, number)).toBeUndefined()
})
