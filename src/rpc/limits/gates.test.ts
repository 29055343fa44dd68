import { expect, it } from 'vitest'
import { Gate } from './gates.ts'

const gateOf = (maxRunning: number, maxWaiting: number) => new Gate('trace', { maxRunning, maxWaiting, maxUnreadBytes: 100 })

/** Runs a task as the dispatcher does. */
async function through<T>(gate: Gate, task: () => T | Promise<T>): Promise<T> {
  await gate.wait()
  try {
    return await task()
  } finally {
    gate.leave()
  }
}
const later = () => Promise.withResolvers<void>()

it('rpc/limits/gates: runs tasks up to the limit, the rest in order of arrival', async () => {
  const gate = gateOf(1, 10)
  const order: string[] = []
  const first = later()
  const task = (name: string, until?: Promise<void>) =>
    through(gate, async () => {
      order.push(`${name} begins`)
      await until
      order.push(`${name} ends`)
    })
  const all = [task('a', first.promise), task('b'), task('c')]
  await Promise.resolve()
  expect(order).toEqual(['a begins'])
  first.resolve()
  await Promise.all(all)
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

it('rpc/limits/gates: refuses tasks when too many wait (−32009), and accepts them again afterwards', async () => {
  const gate = gateOf(1, 1)
  const first = later()
  const running = through(gate, () => first.promise)
  const waiting = through(gate, () => 'waited')
  await expect(through(gate, () => 'refused')).rejects.toMatchObject({ code: -32009, data: { limit: 'queue', class: 'trace', max: 1 } })
  first.resolve()
  await running
  expect(await waiting).toBe('waited')
  expect(await through(gate, () => 'open')).toBe('open')
})

it('rpc/limits/gates: releases the place of a task that throws', async () => {
  const gate = gateOf(1, 0)
  for (let i = 0; i < 3; i++) {
    await expect(
      through(gate, () => {
        throw new TypeError('broken')
      }),
    ).rejects.toThrow('broken')
  }
})

it('rpc/limits/gates: refuses calls while too many bytes are unread (−32009)', () => {
  const gate = gateOf(1, 0)
  gate.count(60)
  gate.count(40)
  gate.checkUnread()
  gate.count(1)
  expect(() => gate.checkUnread()).toThrow(expect.objectContaining({ code: -32009, data: { limit: 'bytes', class: 'trace', max: 100 } }))
  gate.count(-40)
  gate.checkUnread()
})
