import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { brotliCompressSync } from 'node:zlib'
import { WebSocket, WebSocketServer } from 'ws'
import type { RollupConfig } from '../../src/chainspec/rollupConfig.ts'
import { type HostileBlock, hostileBlock, loopingDepositHex } from './hostileBlocks.ts'

/** A server of an attacker that a victim is configured with. */
export interface Attacker extends AsyncDisposable {
  readonly url: string
  /** hostile messages sent so far */
  readonly sent: number
}

/** An L2 source that passes an honest node on, and for 5 of every 20 seconds names a looping block as its head. */
export async function hostileSource(config: RollupConfig, honestUrl: string, isOn: boolean): Promise<Attacker> {
  let sent = 0
  let block: HostileBlock | undefined
  const isHostile = (): boolean => isOn && Math.floor(performance.now() / 5_000) % 4 === 1
  async function answer(call: { readonly id: unknown; readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown> {
    const { id, method, params = [] } = call
    if (isHostile() && (method === 'eth_getBlockByNumber' || method === 'eth_getBlockByHash')) {
      if (params[0] === 'latest') block = await hostileBlock(config, honestUrl).catch(() => block)
      const { number, hash } = block?.json ?? {}
      if (block && (params[0] === 'latest' || params[0] === number || params[0] === hash)) {
        sent++
        return { jsonrpc: '2.0', id, result: block.json }
      }
    }
    const response = await fetch(honestUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    })
    return response.json()
  }
  const server = createServer(async (request, response) => {
    try {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      const asked = JSON.parse(body) as Parameters<typeof answer>[0] | Parameters<typeof answer>[0][]
      const answered = Array.isArray(asked) ? await Promise.all(asked.map(answer)) : await answer(asked)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answered))
    } catch {
      response.destroy()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get sent() {
      return sent
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type Message = {
  readonly payload_id: string
  readonly index: number
  readonly base?: Record<string, unknown>
  readonly diff: Record<string, unknown>
}

const nested = (depth: number): string => '['.repeat(depth)

/** Hostile variants of one honest message of a publisher. */
const variations: readonly ((message: Message, n: number) => string | Uint8Array)[] = [
  (message, n) =>
    JSON.stringify({
      ...message,
      payload_id: `0x${n.toString(16).padStart(16, '0')}`,
      base: { ...message.base, gas_limit: '0x4000000000000000' },
      diff: { ...message.diff, transactions: [...(message.diff['transactions'] as string[]), loopingDepositHex] },
    }),
  (message) =>
    JSON.stringify({
      ...message,
      diff: { ...message.diff, transactions: [...(message.diff['transactions'] as string[]), loopingDepositHex] },
    }),
  () => brotliCompressSync(nested(20_000_000)),
  () => brotliCompressSync(new Uint8Array(200_000_000)),
  () => nested(5_000_000),
  () => '{"payload_id":"0x00","index":0}',
]

/** A publisher of flashblocks that passes an honest one on and adds a hostile message after each first flashblock of a block. */
export async function hostilePublisher(honestUrl: string, isOn: boolean): Promise<Attacker> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const upstream = new WebSocket(honestUrl)
  upstream.on('error', () => {})
  let sent = 0
  const made = new Map<number, string | Uint8Array>()
  upstream.on('message', (data, isBinary) => {
    const text = isBinary ? undefined : String(data)
    for (const client of server.clients) client.send(text ?? data)
    const message = text === undefined ? undefined : (JSON.parse(text) as Message)
    if (!isOn || message?.index !== 0) return
    const at = sent % variations.length
    const fixed = made.get(at)
    const hostile = fixed ?? variations[at]?.(message, sent) ?? ''
    if (at >= 2) made.set(at, hostile)
    sent++
    for (const client of server.clients) client.send(hostile)
  })
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get sent() {
      return sent
    },
    async [Symbol.asyncDispose]() {
      upstream.terminate()
      for (const client of server.clients) client.terminate()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Repeats an action with a pause until the signal; failures are expected. */
export async function repeat(everyMs: number, signal: AbortSignal, act: (n: number) => Promise<unknown>): Promise<number> {
  let n = 0
  for (; !signal.aborted; n++) {
    await act(n).catch(() => {})
    await delay(everyMs, undefined, { signal }).catch(() => {})
  }
  return n
}
