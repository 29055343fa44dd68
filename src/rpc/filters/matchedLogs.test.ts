import { expect, it } from 'vitest'
import { account } from '#test/harness/rpc/fakes'
import { type Hash, zeroHash } from '#types/ids'
import type { LocatedLog } from '../results/log.ts'
import { ParentTrail } from './chainTrail.ts'
import { MatchedLogs, MatchedShare } from './matchedLogs.ts'

const block = (number: number) => ({ number, hash: `0x${String(number).padStart(64, '0')}` as Hash })
const logs = (count: number): readonly LocatedLog[] => {
  const log = { address: account(1), topics: [], data: new Uint8Array(0) }
  return Array.from({ length: count }, (_, logIndex) => ({
    ...{ log, block: { hash: zeroHash, number: 1, timestamp: 0 }, transactionHash: zeroHash, transactionIndex: 0, logIndex },
  }))
}

it('rpc/filters/matchedLogs: logs that are found after its end do not count against other matchers', () => {
  const share = new MatchedShare(new ParentTrail())
  for (let number = 0; number < 10; number++) share.parents.note(block(number).hash, zeroHash, 1_000)
  const ended = new MatchedLogs(share)
  ended.add(block(1), logs(2))
  ended[Symbol.dispose]()
  for (let number = 2; number < 10; number++) ended.add(block(number), logs(1_000))
  expect(share.logs).toBe(0)
  const kept = new MatchedLogs(share)
  kept.add(block(1), logs(3))
  kept.add(block(2), logs(4))
  expect([share.logs, kept.in(block(1))?.length]).toEqual([7, 3])
})

it('rpc/filters/matchedLogs: logs of blocks that no reorg reaches do not count against other matchers, though theirs find nothing more', () => {
  const share = new MatchedShare(new ParentTrail())
  const note = (number: number): void => share.parents.note(block(number).hash, zeroHash, number)
  note(1)
  for (let i = 0; i < 13; i++) new MatchedLogs(share).add(block(1), logs(9_000))
  const busy = new MatchedLogs(share)
  const logsIn = (...numbers: number[]): unknown => numbers.map((number) => busy.in(block(number))?.length)
  for (const number of [2, 3]) {
    note(number)
    busy.add(block(number), logs(number))
  }
  expect(logsIn(2, 3)).toEqual([undefined, 3])
  for (const number of [600, 601]) {
    note(number)
    busy.add(block(number), logs(number))
  }
  expect([logsIn(600, 601), share.logs]).toEqual([[600, 601], 600 + 601])
})
