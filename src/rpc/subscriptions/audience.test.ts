import { expect, it } from 'vitest'
import { settle } from '#test/harness/clock'
import { fakeChain } from '#test/harness/rpc/fakes'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import { createAudience } from './audience.ts'
import type { Notification } from './notification.ts'

/** Listeners per turn of the event loop. */
const perTurn = 128

function crowd(size: number) {
  const feed = scriptedFeed()
  const chain = fakeChain([[], [[]], [[]]])
  const audience = createAudience<ReturnType<typeof listener>>({ heads: feed })
  const listener = () => {
    const heard: string[] = []
    return {
      heard,
      notify: (_kind: string, notification: Notification) => void heard.push(notification('x')),
      headsMoved: () => void heard.push('moved'),
    }
  }
  const all = Array.from({ length: size }, listener)
  for (const one of all) audience.connections.add(one)
  return { all, audience, tell: (number: number) => feed.tell(chain.blocks[number] ?? expect.fail()) }
}

it('rpc/subscriptions/audience: notifies a few listeners at once', () => {
  const { all, tell } = crowd(perTurn)
  tell(1)
  expect(all.every(({ heard }) => heard.length === 2)).toBe(true)
})

it('rpc/subscriptions/audience: notifies many listeners in batches, each of everything once and in order, and none that has left', async () => {
  const { all, audience, tell } = crowd(3 * perTurn + 1)
  tell(1)
  tell(2)
  expect(all.filter(({ heard }) => heard.length > 0)).toHaveLength(perTurn)
  const left = all.at(-1) ?? expect.fail()
  audience.connections.delete(left)
  for (let turns = 0; turns < 4; turns++) await settle()
  const [first, ...others] = all.slice(0, -1)
  expect(first?.heard.map((text) => text === 'moved' || /"number":"0x(\d)"/.exec(text)?.[1])).toEqual(['1', true, '2', true])
  for (const { heard } of others) expect(heard).toEqual(first?.heard)
  expect(left.heard).toEqual([])
})

it('rpc/subscriptions/audience: notifies at once when too many events are pending', async () => {
  const { all, tell } = crowd(2 * perTurn)
  for (let each = 0; each < 1_100; each++) tell(1)
  expect(all.at(-1)?.heard.length).toBeGreaterThan(100)
})
