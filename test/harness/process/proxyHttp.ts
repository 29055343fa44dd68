import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** An HTTP proxy on 127.0.0.1 that may change what is asked. */
export type HttpProxy = AsyncDisposable & { readonly port: number }

/**
 * Passes JSON-RPC requests on; where nothing answers, the connection is reset.
 * @param rewrite makes the body that is asked out of the one that came
 */
export async function startHttpProxy(targetUrl: string, rewrite: (body: string) => string): Promise<HttpProxy> {
  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = await text(request)
    const headers = { 'content-type': request.headers['content-type'] ?? 'application/json' }
    const init = request.method === 'GET' ? {} : { body: rewrite(asked) }
    const answer = await fetch(new URL(request.url ?? '/', targetUrl), { method: request.method ?? 'POST', headers, ...init })
    const body = await answer.text()
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
