import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'

/** HTTP proxy on 127.0.0.1 that can change requests. */
export type HttpProxy = AsyncDisposable & { readonly port: number }

/**
 * Forwards JSON-RPC requests. Resets the connection when the target does not respond.
 * @param rewrite returns the body to forward for a received body
 * @param delayMs time by which each response is late
 */
export async function startHttpProxy(targetUrl: string, rewrite: (body: string) => string, delayMs = 0): Promise<HttpProxy> {
  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = await text(request)
    const headers = { 'content-type': request.headers['content-type'] ?? 'application/json' }
    const init = request.method === 'GET' ? {} : { body: rewrite(asked) }
    const answer = await fetch(new URL(request.url ?? '/', targetUrl), { method: request.method ?? 'POST', headers, ...init })
    const body = await answer.text()
    if (delayMs > 0) await delay(delayMs)
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' }).end(body)
  }
  const server = createServer((request, response) => {
    pass(request, response).catch(() => request.socket.resetAndDestroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
