import { expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import { fakeChain } from '#test/harness/rpc/fakes'
import type { SyncProgress } from '../../../ports.ts'
import { syncingFeed } from './subscribeFeeds.ts'

it('rpc/methods/eth/subscriptions/subscribeFeeds: polls the sync state no longer when a notification ends the feed', async () => {
  const clock = createManualClock()
  let progress: SyncProgress | undefined
  const chain = { ...fakeChain([[]]), sync: () => progress }
  const feed = syncingFeed({ chain, clock })
  if (feed.kind !== 'feed') expect.fail()
  let told = 0
  const opened = feed.open(() => {
    if (++told === 2) opened[Symbol.dispose]()
  })
  await clock.advanceMs(1_000)
  expect([told, clock.waiting]).toEqual([1, 1])
  progress = { starting: 0, current: 1, highest: 2 }
  await clock.advanceMs(1_000)
  expect([told, clock.waiting]).toEqual([2, 0])
})
