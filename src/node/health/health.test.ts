import { expect, it } from 'vitest'
import { Fault } from '#lib/fault'
import { diskProblems, engineProblems, executionProblems, followProblems } from './health.ts'

const behind = { starting: 3, current: 7, highest: 90 }

it.each([
  ['was never called', { silentMs: undefined, behind: undefined }, ['no consensus half has called since the start']],
  ['was called just now', { silentMs: 10, behind: undefined }, []],
  ['was called half a minute ago', { silentMs: 30_000, behind: undefined }, []],
  ['is left alone', { silentMs: 35_400, behind: undefined }, ['the consensus half has not called for 35 s']],
  [
    'is told of a chain that it does not have',
    { silentMs: 10, behind },
    ['block 7 is the head, and the consensus half names blocks that are not known here'],
  ],
])('node/health/health: an execution half that %s', (_what, use, problems) => {
  expect(engineProblems(use)).toEqual(problems)
})

it.each([
  ['nothing runs', undefined, undefined, []],
  ['a block runs for as long as blocks may', { number: 8, forMs: 4_000 }, undefined, []],
  ['a block runs for long', { number: 8, forMs: 12_300 }, undefined, ['execution of block 8 has taken 12 s']],
  ['a payload was abandoned', undefined, { number: 9, afterMs: 30_010 }, ['execution of block 9 was abandoned after 30 s']],
])('node/health/health: the execution thread is named when %s', (_what, running, abandoned, problems) => {
  expect(executionProblems({ running: () => running, abandoned: () => abandoned }, 4_000)).toEqual(problems)
})

it('node/health/health: a disk with less room than wanted, or one that does not answer, is a problem', () => {
  expect(diskProblems(10, 10)).toEqual([])
  expect(diskProblems(9, 10)).toEqual([expect.stringMatching(/^9 bytes are free .* less than 10/)])
  expect(diskProblems(0, 0)).toEqual([])
  expect(diskProblems(undefined, 0)).toEqual(['the disk of the data directory does not answer'])
})

it('node/health/health: a followed node whose chain is refused is named with the fault', () => {
  const refusal = new Fault('SOURCE_INVALID_BLOCK', 'reset', 'block 5 is invalid', 'none', {})
  const status = { phase: 'refusing', source: {}, labels: 'source', limit: undefined, refusal, fault: undefined } as const
  expect(followProblems(status)).toEqual(['the followed node is refused: block 5 is invalid (SOURCE_INVALID_BLOCK)'])
  expect(followProblems({ ...status, phase: 'following', refusal: undefined })).toEqual([])
  expect(followProblems(undefined)).toEqual([])
})

it('node/health/health: a follower that stopped is named with its fault', () => {
  const fault = new Fault('UNSUPPORTED_FORK', 'fatal', 'block 5 is of a fork without rules', 'none', {})
  const status = { phase: 'stopped', source: {}, labels: 'l1', limit: undefined, refusal: undefined, fault } as const
  expect(followProblems(status)).toEqual(['nothing is followed any more: block 5 is of a fork without rules (UNSUPPORTED_FORK)'])
})
