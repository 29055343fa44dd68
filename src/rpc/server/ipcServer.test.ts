import { once } from 'node:events'
import { existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { IpcSocketProvider } from 'ethers'
import { afterAll, expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import type { SocketContext } from '../context.ts'
import { socketRegistry } from '../methods.ts'
import { createIpcServer } from './ipcServer.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-ipc-'))
afterAll(() => rmSync(dir, { recursive: true }))
const pathOf = (name: string) => join(dir, name)

async function serve(path: string) {
  const feed = scriptedFeed()
  const chain = fakeChain([[], [[]]])
  const eth = fakeContext(chain)
  const contextOf = (cancellation: SocketContext['cancellation'], subscriptions: SocketContext['subscriptions']): SocketContext => ({
    ...{ ...eth, cancellation, subscriptions },
  })
  const deps = { registry: socketRegistry, contextOf, heads: feed, log: silentLog, clock: systemClock }
  const server = await createIpcServer<SocketContext>(deps, { path, flag: 'ipc.path' })
  return Object.assign(server, { tell: () => feed.tell(chain.blocks[1] ?? expect.fail()), hash: chain.blocks[1]?.hash })
}

/** Sends pieces and reads that many lines. */
async function talk(path: string, pieces: readonly string[], lines: number): Promise<Record<string, unknown>[]> {
  const socket = connect(path)
  let received = ''
  const whole = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      received += chunk.toString()
      if (received.split('\n').length > lines) resolve()
    })
    socket.on('close', () => resolve())
  })
  for (const piece of pieces) {
    socket.write(piece)
    await new Promise(setImmediate)
  }
  await whole
  socket.destroy()
  return received
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}
const call = (id: number, method: string, ...params: unknown[]) => JSON.stringify({ jsonrpc: '2.0', id, method, params })

it('rpc/server/ipcServer: answers values and batches however they are split, and continues after malformed JSON', async () => {
  const path = pathOf('a')
  await using _server = await serve(path)
  const text = `${call(1, 'eth_chainId')}${call(2, 'web3_sha3', '0x7b')}\n [${call(3, 'eth_chainId')}]`
  expect(await talk(path, [...text], 3)).toMatchObject([{ id: 1, result: '0x2105' }, { id: 2 }, [{ id: 3 }]])
  const odd = `${call(4, 'x', '}"\\')}\nnonsense {"a":]} ${call(5, 'eth_chainId')}`
  const told = await talk(path, [odd], 5)
  expect(told.map(({ id, error }) => id ?? (error as { code: number }).code).sort()).toEqual([-32700, -32700, -32700, 4, 5])
})

it('rpc/server/ipcServer: the socket is accessible to its user only, and is removed when the server closes', async () => {
  const path = pathOf('b')
  const server = await serve(path)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  await server[Symbol.asyncDispose]()
  expect(existsSync(path)).toBe(false)
})

it('rpc/server/ipcServer: replaces the socket of a killed node, and leaves anything else at the path alone (IPC_UNUSABLE)', async () => {
  const path = pathOf('c')
  await using _server = await serve(path)
  await expect(serve(path)).rejects.toMatchObject({ code: 'IPC_UNUSABLE', severity: 'fatal' })
  const dead = pathOf('dead')
  const killed = createServer().listen(pathOf('killed'))
  await once(killed, 'listening')
  renameSync(pathOf('killed'), dead) // so that closing the server does not remove it
  killed.close()
  await using after = await serve(dead)
  expect(after.url).toBe(dead)
  const file = pathOf('d')
  writeFileSync(file, 'a file')
  await expect(serve(file)).rejects.toMatchObject({ code: 'IPC_UNUSABLE' })
  await expect(serve(pathOf('x'.repeat(200)))).rejects.toMatchObject({ code: 'IPC_UNUSABLE' })
})

it('rpc/server/ipcServer: ethers reads the chain and subscribes to blocks over the socket', async () => {
  const path = pathOf('e')
  await using server = await serve(path)
  const provider = new IpcSocketProvider(path)
  expect((await provider.getNetwork()).chainId).toBe(8453n)
  const told = new Promise((resolve) => void provider.on('block', resolve))
  for (let waited = 0; waited < 100 && (await Promise.race([told, new Promise((later) => setTimeout(later, 20))])) === undefined; waited++)
    server.tell()
  expect(await told).toBe(1)
  await provider.destroy()
})
