import { expect, it } from 'vitest'
import { Fault } from '#lib/fault'
import { diskProblems, engineProblems, executionProblems, followProblems } from './health.ts'

const behind = { starting: 3, current: 7, highest: 90 }

it.each([
  ['was never called', { silentMs: undefined, unansweredMs: 0, behind: undefined }, ['no consensus half has called since the start']],
  ['was called just now', { silentMs: 10, unansweredMs: 0, behind: undefined }, []],
  ['was called half a minute ago', { silentMs: 30_000, unansweredMs: 0, behind: undefined }, []],
  ['was not called for 35 s', { silentMs: 35_400, unansweredMs: 0, behind: undefined }, ['the consensus half has not called for 35 s']],
  ['has answered no call for 4 s', { silentMs: 0, unansweredMs: 4_000, behind: undefined }, []],
  [
    'has answered no call for 5 s',
    { silentMs: 0, unansweredMs: 5_100, behind: undefined },
    ['a call of the consensus half has had no answer for 5 s'],
  ],
  [
    'receives names of unknown blocks',
    { silentMs: 10, unansweredMs: 0, behind },
    ['the head is block 7, but the consensus half names blocks that this node does not have'],
  ],
  [
    'has refused the last payload',
    { silentMs: 10, unansweredMs: 0, behind: undefined, refused: { number: 8, head: 7 } },
    ['the head is block 7, but block 8 of the consensus half was refused here'],
  ],
])('node/health/health: reports the state of an execution half that %s', (_case, use, problems) => {
  expect(engineProblems(use)).toEqual(problems)
})

it.each([
  ['nothing runs', undefined, undefined, []],
  ['a block runs within its time', { number: 8, forMs: 4_000 }, undefined, []],
  ['a block runs too long', { number: 8, forMs: 12_300 }, undefined, ['execution of block 8 has taken 12 s']],
  ['a payload was abandoned', undefined, { number: 9, afterMs: 30_010 }, ['execution of block 9 was abandoned after 30 s']],
])('node/health/health: reports the execution thread when %s', (_case, running, abandoned, problems) => {
  expect(executionProblems({ running: () => running, abandoned: () => abandoned }, 4_000)).toEqual(problems)
})

it('node/health/health: reports a disk with too little space, or whose free space cannot be read', () => {
  expect(diskProblems(10, 10)).toEqual([])
  expect(diskProblems(9, 10)).toEqual([expect.stringMatching(/ has 9 bytes free, less than --db.min-free 10: new blocks are refused$/)])
  expect(diskProblems(0, 0)).toEqual([])
  expect(diskProblems(undefined, 0)).toEqual(['the free space of the data directory cannot be read'])
})

it('node/health/health: reports the fault when blocks of the followed node are refused', () => {
  const refusal = new Fault('SOURCE_INVALID_BLOCK', 'reset', 'block 5 is invalid', 'none', {})
  const status = { phase: 'refusing', source: {}, labels: 'source', limit: undefined, refusal, fault: undefined } as const
  expect(followProblems(status)).toEqual(['blocks of the followed node are refused: block 5 is invalid (SOURCE_INVALID_BLOCK)'])
  expect(followProblems({ ...status, phase: 'following', refusal: undefined })).toEqual([])
  expect(followProblems(undefined)).toEqual([])
})

it('node/health/health: reports the fault of a follower that stopped', () => {
  const fault = new Fault('UNSUPPORTED_FORK', 'fatal', 'block 5 is of a fork without rules', 'none', {})
  const status = { phase: 'stopped', source: {}, labels: 'l1', limit: undefined, refusal: undefined, fault } as const
  expect(followProblems(status)).toEqual(['following has stopped: block 5 is of a fork without rules (UNSUPPORTED_FORK)'])
})
