import { expect, it } from 'vitest'
import { fakePendingChain } from '#test/harness/flashblocks/pendingFakes'
import type { PendingFeed, PendingNews } from '../pendingPorts.ts'
import { pendingRounds } from './pendingRounds.ts'

function setUp() {
  const chain = fakePendingChain([[]])
  let asked = 0
  const source: PendingFeed = {
    subscribe(listener): Disposable {
      asked++
      const asking = chain.feed.subscribe(listener)
      return {
        [Symbol.dispose](): void {
          asked--
          asking[Symbol.dispose]()
        },
      }
    },
  }
  return { chain, feed: pendingRounds(source), asked: () => asked }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it('rpc/subscriptions/pendingRounds: notifies many listeners in turns, each of all flashblocks in order', async () => {
  const { chain, feed } = setUp()
  const heard = Array.from({ length: 300 }, (): number[] => [])
  for (const of of heard) feed.subscribe((news: readonly PendingNews[]) => of.push(...news.map(({ pending }) => pending.index)))
  chain.show([[]])
  chain.show([[], []])
  const told = (): number => heard.filter((of) => of.length > 0).length
  expect(told()).toBe(128)
  while (heard.at(-1)?.length !== 2) await turn()
  expect(heard.every((of) => of.join() === '0,1')).toBe(true)
})

it('rpc/subscriptions/pendingRounds: does not notify a listener that has left, and has no subscription without listeners', async () => {
  const { chain, feed, asked } = setUp()
  const heard: number[] = []
  const all = Array.from({ length: 200 }, (_each, index) => feed.subscribe(() => heard.push(index)))
  expect(asked()).toBe(1)
  chain.show([[]])
  for (const each of all) each[Symbol.dispose]()
  await turn()
  await turn()
  expect([heard.length, asked()]).toEqual([128, 0])
  using _again = feed.subscribe(() => heard.push(-1))
  chain.show([[]])
  expect([heard.at(-1), asked()]).toEqual([-1, 1])
})
