import { expect, it } from 'vitest'
import { Slots } from './rpcResult.ts'

const never = new AbortController().signal

it('l2/rpcResult: a call that is aborted while it waits for a slot ends at once, and the next call gets the slot', async () => {
  const slots = new Slots(1)
  const first = Promise.withResolvers<string>()
  const running = slots.run(() => first.promise, never)
  const abort = new AbortController()
  const begun: string[] = []
  const aborted = slots.run(async () => begun.push('aborted'), abort.signal)
  const last = slots.run(async () => begun.push('last'), never)
  abort.abort(new Error('no longer needed'))
  await expect(aborted).rejects.toThrow('no longer needed')
  expect(begun).toEqual([])
  first.resolve('done')
  expect(await running).toBe('done')
  await last
  expect(begun).toEqual(['last'])
})

it('l2/rpcResult: a call that is aborted in the turn in which it gets the slot passes it on', async () => {
  const slots = new Slots(1)
  const first = Promise.withResolvers<string>()
  const running = slots.run(() => first.promise, never)
  const abort = new AbortController()
  const waiting = slots.run(async () => 'begun', abort.signal)
  const last = slots.run(async () => 'last', never)
  first.resolve('done')
  abort.abort(new Error('no longer needed'))
  expect(await running).toBe('done')
  await waiting.catch(() => {})
  expect(await last).toBe('last')
})
