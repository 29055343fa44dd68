import { expect, it } from 'vitest'
import { settle } from '#test/harness/clock'
import { fakeChain } from '#test/harness/rpc/fakes'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import { createAudience } from './audience.ts'
import type { Notification } from './notification.ts'

/** How many listeners a turn of the event loop has room for. */
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

it('rpc/audience: a few are told at once', () => {
  const { all, tell } = crowd(perTurn)
  tell(1)
  expect(all.every(({ heard }) => heard.length === 2)).toBe(true)
})

it('rpc/audience: many are told in slices, each hears everything once and in order, who leaves hears no more', async () => {
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

it('rpc/audience: what comes faster than it can be told is told at once, not kept without end', async () => {
  const { all, tell } = crowd(2 * perTurn)
  for (let each = 0; each < 1_100; each++) tell(1)
  expect(all.at(-1)?.heard.length).toBeGreaterThan(100)
})
