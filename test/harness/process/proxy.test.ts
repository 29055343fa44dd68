import { expect, it } from 'vitest'
import { serveL1 } from '#devnet/l1Server'
import { startProxy } from './proxy.ts'

const body = JSON.stringify({ result: `0x${'abcdef0123456789'.repeat(4_000)}` })

async function pair() {
  const server = await serveL1(() => ({ status: 200, body }), 0)
  const proxy = await startProxy(Number(new URL(server.url).port))
  return {
    proxy,
    ask: async (timeoutMs = 5_000): Promise<string> => {
      const response = await fetch(`http://127.0.0.1:${proxy.port}`, { signal: AbortSignal.timeout(timeoutMs) })
      return response.text()
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

it('harness/process/proxy: passes data, cuts connections, passes data again', async () => {
  await using held = await pair()
  expect(await held.ask()).toBe(body)
  held.proxy.setMode({ kind: 'cut' })
  await expect(held.ask()).rejects.toThrow()
  held.proxy.setMode({ kind: 'pass' })
  expect(await held.ask()).toBe(body)
  expect(held.proxy.accepted).toBeGreaterThanOrEqual(3)
})

it('harness/process/proxy: answers a stalled request when the stall ends', async () => {
  await using held = await pair()
  held.proxy.setMode({ kind: 'stall' })
  const answer = held.ask()
  await expect(held.ask(50)).rejects.toThrow()
  held.proxy.setMode({ kind: 'pass' })
  expect(await answer).toBe(body)
})

it('harness/process/proxy: changes a garbled response but keeps it valid JSON; a truncated response is an error', async () => {
  await using held = await pair()
  held.proxy.setMode({ kind: 'garble' })
  const answer = await held.ask()
  expect(JSON.parse(answer)).not.toEqual(JSON.parse(body))
  expect(answer).toHaveLength(body.length)
  held.proxy.setMode({ kind: 'truncate' })
  await expect(held.ask()).rejects.toThrow()
})

it('harness/process/proxy: resets connections when it has no target', async () => {
  await using held = await pair()
  held.proxy.setTarget(undefined)
  await expect(held.ask()).rejects.toThrow()
})
