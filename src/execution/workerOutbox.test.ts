import { expect, it } from 'vitest'
import type { ExecutedBlock } from './executedBlock.ts'
import { keptOverlays } from './workerOutbox.ts'

const block = (hash: string): ExecutedBlock => ({ hash }) as unknown as ExecutedBlock
const [a, b, c, d, other] = [block('a'), block('b'), block('c'), block('d'), block('b')]

it.each([
  ['nothing before', [], [a, b], 0, 0],
  ['nothing now', [a, b], [], 0, 0],
  ['a longer chain', [a, b], [a, b, c], 0, 2],
  ['the same', [a, b], [a, b], 0, 2],
  ['a shorter chain', [a, b, c], [a, b], 0, 2],
  ['what was committed gone from the front', [a, b, c], [b, c, d], 1, 3],
  ['another branch', [a, b, c], [a, other, d], 0, 1],
  ['a branch from below', [b, c], [a, b, c], 0, 0],
])('execution/workerOutbox: of overlays after %s those that stand in a row stay', (_what, before, now, from, to) => {
  expect(keptOverlays(before, now)).toEqual({ from, to })
  expect([...before.slice(from, to), ...now.slice(to - from)]).toEqual(now)
})
