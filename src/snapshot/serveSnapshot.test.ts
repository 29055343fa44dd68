import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { serveSnapshot } from './serveSnapshot.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-serve-'))
const large = `${'ab'.repeat(32)}.zst`
/** more than the buffers of both sockets take */
const largeBytes = 32 * 2 ** 20
writeFileSync(join(dir, large), new Uint8Array(largeBytes))
writeFileSync(join(dir, 'manifest.json'), '{}')
afterAll(() => rmSync(dir, { recursive: true }))

async function connected(url: string, localAddress: string): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), localAddress })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

it('snapshot/serveSnapshot: ends the connection of a client that reads nothing for a while', async () => {
  await using server = await serveSnapshot(dir, { host: '127.0.0.1', port: 0, idleMs: 500 })
  const socket = await connected(server.url, '127.0.0.1')
  socket.pause()
  socket.write(`GET /${large} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
  await systemClock.delay(4_000)
  let bytes = 0
  socket.on('data', (part) => {
    bytes += part.length
  })
  // what the buffers have, and then the end
  socket.resume()
  if (!socket.closed) await once(socket, 'close')
  expect(bytes).toBeLessThan(largeBytes)
}, 30_000)

it('snapshot/serveSnapshot: one address leaves places to others', async () => {
  await using server = await serveSnapshot(dir, { host: '127.0.0.1', port: 0 })
  const sockets: Socket[] = []
  for (let i = 0; i < 256; i++) sockets.push(await connected(server.url, '127.0.0.2'))
  const response = await fetch(`${server.url}/manifest.json`, { signal: AbortSignal.timeout(5_000) })
  expect(await response.text()).toBe('{}')
  for (const socket of sockets) socket.destroy()
})

it('snapshot/serveSnapshot: refuses a directory without a snapshot (MANIFEST_UNAVAILABLE)', async () => {
  const missing = join(dir, 'none')
  await expect(serveSnapshot(missing, { host: '127.0.0.1', port: 0 })).rejects.toMatchObject({ code: 'MANIFEST_UNAVAILABLE' })
})
