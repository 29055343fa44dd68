import { expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import type { OfTestThread, TestThreadSettings } from '#test/harness/restartedThreadEntry'
import { systemClock } from '../clock.ts'
import { silentLog } from '../log.ts'
import { RestartedThread } from './restartedThread.ts'

const entry = new URL('../../../test/harness/restartedThreadEntry.ts', import.meta.url)
const deps = { log: silentLog, here: {}, entry, name: 'test', stopped: (reason: string): Error => new Error(reason) }
const newCounts = (): Int32Array => new Int32Array(new SharedArrayBuffer(8))
const start = RestartedThread.start<OfTestThread, object, TestThreadSettings, undefined>

it('lib/peers/restartedThread: rejects with the error of a thread that cannot begin, and ends it', async () => {
  const counts = newCounts()
  await expect(start({ ...deps, clock: systemClock }, { counts, isFailing: true })).rejects.toThrow('the port is taken')
  expect([...counts]).toEqual([0, 0])
})

it('lib/peers/restartedThread: closes a thread that begins while it is disposed', async () => {
  const counts = newCounts()
  const clock = createManualClock()
  const thread = await start({ ...deps, clock }, { counts, isFailing: false })
  await expect(thread.ask('crash')).rejects.toThrow('code 1')
  await clock.advanceMs(5_000)
  expect(thread.ready).toBeUndefined()
  await thread[Symbol.asyncDispose]()
  expect([...counts]).toEqual([2, 1])
})
