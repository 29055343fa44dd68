import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { startHealthServer } from './healthServer.ts'

const listen = { host: '127.0.0.1', port: 0 }
const start = (problems: () => readonly string[]) =>
  startHealthServer({ clock: systemClock, log: silentLog, readiness: () => ({ problems: problems() }) }, { listen, version: 'v1' })

async function read(url: string): Promise<unknown> {
  const answer = await fetch(url)
  return [answer.status, await answer.json()]
}

it('node/health/healthServer: answers by the problems of the main thread', async () => {
  let problems = ['no L1 head yet']
  await using server = await start(() => problems)
  expect(await read(`${server.url}/healthz`)).toEqual([200, { version: 'v1' }])
  expect(await read(`${server.url}/readyz`)).toEqual([503, { ready: false, problems: ['no L1 head yet'] }])
  problems = []
  expect(await read(`${server.url}/readyz`)).toEqual([200, { ready: true }])
})

type Asked = { readonly status: number; readonly text: string; readonly tookMs: number }

/** Sends a request from another process, some time after this thread became busy. */
async function askWhileBusy(url: string, busyMs: number, afterMs: number): Promise<Asked> {
  const identity = fork(new URL('../../../test/harness/process/healthAsker.ts', import.meta.url), [url, String(afterMs)])
  await once(identity, 'message')
  const asked = once(identity, 'message') as Promise<[Asked]>
  await new Promise((resolve) => identity.send('go', resolve))
  const endMs = performance.now() + busyMs
  while (performance.now() < endMs);
  return (await asked)[0]
}

it('node/health/healthServer: answers within a second by the last problems while the main thread is busy', async () => {
  await using server = await start(() => [])
  expect(await read(`${server.url}/readyz`)).toEqual([200, { ready: true }])
  const { status, text, tookMs } = await askWhileBusy(`${server.url}/readyz`, 2_000, 500)
  expect([status, JSON.parse(text)]).toEqual([200, { ready: true }])
  expect(tookMs).toBeLessThan(1_000)
})

it('node/health/healthServer: answers new connections while many others are idle', async () => {
  await using server = await start(() => [])
  const sockets = Array.from({ length: 200 }, () => connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {}))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  expect(await read(`${server.url}/healthz`)).toEqual([200, { version: 'v1' }])
  for (const socket of sockets) socket.destroy()
})

it('node/health/healthServer: refuses a port that another program has (PORT_IN_USE)', async () => {
  await using server = await start(() => [])
  const taken = { ...listen, port: Number(new URL(server.url).port) }
  const second = startHealthServer(
    { clock: systemClock, log: silentLog, readiness: () => ({ problems: [] }) },
    { listen: taken, version: 'v1' },
  )
  await expect(second).rejects.toMatchObject({ code: 'PORT_IN_USE' })
})
