import { expect, it } from 'vitest'
import { settle } from '#test/harness/clock'
import { fakeChain } from '#test/harness/rpc/fakes'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import { type Hash, zeroHash } from '#types/ids'
import type { Filters } from '../filters/filters.ts'
import { createAudience } from './audience.ts'
import type { Notification } from './notification.ts'

/** Listeners per turn of the event loop. */
const perTurn = 128

function crowd(size: number) {
  const feed = scriptedFeed()
  const chain = fakeChain([[], [[]], [[]]])
  let addPending: (hash: Hash) => void = () => expect.unreachable()
  const pending: Pick<Filters, 'onPending'> = {
    onPending(hear) {
      addPending = (hash) => hear(hash, {})
      return { [Symbol.dispose]: () => {} }
    },
  }
  const audience = createAudience<ReturnType<typeof listener>>({ heads: feed, pending })
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
  return {
    all,
    audience,
    addPending: (hash: Hash) => addPending(hash),
    tell: (number: number) => feed.tell(chain.blocks[number] ?? expect.fail()),
  }
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

it('rpc/subscriptions/audience: a pool transaction visits the connections that subscribed to them, and delays no head', async () => {
  const { all, audience, addPending, tell } = crowd(10 * perTurn)
  const subscribers = all.slice(-2 * perTurn)
  for (const one of subscribers) audience.pendingSubscribers.add(one)
  for (let each = 0; each < 20; each++) addPending(zeroHash)
  tell(1)
  for (let turns = 0; turns < 10; turns++) await settle()
  expect(all.filter(({ heard }) => heard.includes('moved'))).toHaveLength(10 * perTurn)
  for (let turns = 0; turns < 20; turns++) await settle()
  expect(all.map(({ heard }) => heard.length)).toEqual(all.map((one) => (subscribers.includes(one) ? 22 : 2)))
})
