import { MessageChannel } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { ThreadLink } from '#lib/threadLink'
import type { Readiness } from '#rpc/ports'
import { createManualClock } from '#test/harness/clock'
import { type ForHealthThread, type OfHealthThread, runHealthThread } from './healthThread.ts'

/** Calls that the main thread takes; its answer may never come. */
type Main = Omit<ForHealthThread, 'readiness'> & { readiness(): Readiness | Promise<never> }

/** Runs the function of the health thread on a manual clock. `isSilent`: the main thread does not answer. */
async function run() {
  const { port1, port2 } = new MessageChannel()
  const clock = createManualClock()
  const opened = Promise.withResolvers<string>()
  const main: { isSilent: boolean; error?: Error } = { isSilent: false }
  const never = new Promise<never>(() => {})
  const here: Main = {
    opened: opened.resolve,
    failed: opened.reject,
    log() {},
    readiness: () => {
      if (main.error) throw main.error
      return main.isSilent ? never : { problems: [] }
    },
  }
  const link = new ThreadLink<OfHealthThread, Main>({
    post: (message) => port1.postMessage(message),
    here,
    onFailure: opened.reject,
  })
  port1.on('message', (message) => link.receive(message))
  const ended = runHealthThread(port2, { listen: { host: '127.0.0.1', port: 0 }, version: 'v1' }, clock)
  const url = await opened.promise
  return {
    ...{ clock, main },
    /** Requests a page, and moves time on until it is answered. */
    async read(path: string): Promise<unknown> {
      let isOver = false
      const answered = fetch(url + path).finally(() => {
        isOver = true
      })
      while (!isOver) {
        await systemClock.delay(1)
        await clock.advanceMs(main.isSilent ? 5 : 0)
      }
      const answer = await answered
      return [answer.status, await answer.json()]
    },
    async [Symbol.asyncDispose](): Promise<void> {
      link.tell('close')
      await ended
    },
  }
}

const silent = expect.stringMatching(/^the main thread of the node has not answered for \d+ s$/)

it('node/health/healthThread: is not ready when the main thread has not answered for five seconds, and stuck after ten', async () => {
  await using thread = await run()
  const { clock, main, read } = thread
  await clock.advanceMs(1_000)
  expect(await read('/readyz')).toEqual([200, { ready: true }])
  main.isSilent = true
  await clock.advanceMs(4_000)
  expect(await read('/readyz')).toEqual([200, { ready: true }])
  await clock.advanceMs(2_000)
  expect(await read('/readyz')).toEqual([503, { ready: false, problems: [silent] }])
  expect(await read('/healthz')).toEqual([200, { version: 'v1' }])
  await clock.advanceMs(4_000)
  expect(await read('/healthz')).toEqual([503, { version: 'v1', problems: [silent] }])
})

it('node/health/healthThread: a main thread that answers with an error is not ready, and not stuck', async () => {
  await using thread = await run()
  const { clock, main, read } = thread
  main.error = new Error('the store is damaged')
  await clock.advanceMs(20_000)
  expect(await read('/readyz')).toEqual([503, { ready: false, problems: ['the state of the node cannot be read: the store is damaged'] }])
  expect(await read('/healthz')).toEqual([200, { version: 'v1' }])
})
