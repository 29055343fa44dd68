import { expect, it } from 'vitest'
import { account } from '#test/harness/rpc/fakes'
import { type Hash, zeroHash } from '#types/ids'
import type { LocatedLog } from '../results/log.ts'
import { ParentTrail } from './chainTrail.ts'
import { MatchedLogs, type MatchedShare } from './matchedLogs.ts'

const block = (number: number) => ({ number, hash: `0x${String(number).padStart(64, '0')}` as Hash })
const logs = (count: number): readonly LocatedLog[] => {
  const log = { address: account(1), topics: [], data: new Uint8Array(0) }
  return Array.from({ length: count }, (_, logIndex) => ({
    ...{ log, block: { hash: zeroHash, number: 1, timestamp: 0 }, transactionHash: zeroHash, transactionIndex: 0, logIndex },
  }))
}

it('rpc/filters/matchedLogs: logs that are found after its end do not count against other matchers', () => {
  const share: MatchedShare = { parents: new ParentTrail(), logs: 0 }
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
