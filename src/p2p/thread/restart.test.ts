import type { Worker } from 'node:worker_threads'
import { expect, it, vi } from 'vitest'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { configNow } from '#test/harness/p2p/chain'
import { settingsOf } from '#test/harness/p2p/nodes'
import { P2pThread } from './p2pThread.ts'

const workers = vi.hoisted((): Worker[] => [])
vi.mock(import('node:worker_threads'), async (original) => {
  const threads = await original()
  class KnownWorker extends threads.Worker {
    constructor(...args: ConstructorParameters<typeof Worker>) {
      super(...args)
      workers.push(this)
    }
  }
  return { ...threads, Worker: KnownWorker }
})

const peer = '16Uiu2HAmGmcgGv2xrqmt2Uzhs6o8oThZXcwLuWc82MQDw7jEtHtr'

it('p2p/thread: what an operator has denied stays denied after the thread is started again', async () => {
  const clock = createManualClock()
  const here = { block: () => {}, canonical: async () => undefined, events: () => {} }
  await using thread = await P2pThread.start({ clock, log: silentLog, here }, settingsOf(configNow(100, clock.nowMs())))
  await thread.deny('peer', peer, true)
  await thread.deny('address', '192.0.2.1', true)
  await thread.deny('address', '192.0.2.2', true)
  await thread.deny('address', '192.0.2.1', false)
  await workers[0]?.terminate()
  await vi.waitFor(() => expect(thread.failure?.message).toContain('ended with code 1'))
  await clock.advanceMs(5_000)
  await vi.waitFor(() => expect(thread.failure).toBeUndefined(), 20_000)
  expect([await thread.ask('denied', 'peer'), await thread.ask('denied', 'address')]).toEqual([[peer], ['192.0.2.2']])
  expect(workers.length).toBe(2)
})
