import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

type Call = { readonly id: unknown; readonly method: string; readonly params?: readonly unknown[] }
/** Result to return instead of L1's; undefined: L1's. */
export type Lie = (call: Call) => unknown

/** HTTP proxy before an L1 endpoint, which can be gone, lack methods, and lie. */
export interface L1Proxy extends AsyncDisposable {
  readonly url: string
  /** whether connections are reset */
  isGone: boolean
  /** methods that are answered with an error */
  refused: readonly string[]
  lie: Lie
}

export async function startL1Proxy(targetUrl: string): Promise<L1Proxy> {
  const server = createServer((request, response) => {
    pass(request, response).catch(() => request.socket.resetAndDestroy())
  })

  function changed(call: Call | undefined, answer: { id: unknown }): object {
    if (call === undefined) return answer
    if (proxy.refused.includes(call.method)) return { jsonrpc: '2.0', id: call.id, error: { code: -32_000, message: 'not available' } }
    const result = proxy.lie(call)
    return result === undefined ? answer : { jsonrpc: '2.0', id: call.id, result }
  }

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (proxy.isGone) throw new Error('gone')
    const body = await text(request)
    const init = request.method === 'POST' ? { body, headers: { 'content-type': 'application/json' } } : {}
    const answer = await fetch(new URL(request.url ?? '/', targetUrl), { method: request.method ?? 'GET', ...init })
    const received = await answer.text()
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    if (request.method !== 'POST') return void response.end(received)
    const calls = [JSON.parse(body) as Call | Call[]].flat()
    const answers = JSON.parse(received) as { id: unknown } | { id: unknown }[]
    const change = (one: { id: unknown }): object =>
      changed(
        calls.find(({ id }) => id === one.id),
        one,
      )
    response.end(JSON.stringify(Array.isArray(answers) ? answers.map(change) : change(answers)))
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: L1Proxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isGone: false,
    refused: [],
    lie: () => undefined,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
  return proxy
}
