import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Answer to a call: a result, or an error. */
export type ScriptedAnswer = { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } }

export type ScriptedServer = {
  /** by method; other methods are unknown */
  readonly rpc?: Readonly<Record<string, ScriptedAnswer | ((params: readonly unknown[]) => ScriptedAnswer)>>
  /** by path */
  readonly pages?: Readonly<Record<string, { readonly status?: number; readonly body: string }>>
  /** pages whose path is not in `pages` */
  readonly otherPages?: (path: string) => { readonly status?: number; readonly body: string } | undefined
  /** status of every answer to a call; default 200 */
  readonly rpcStatus?: number
  readonly headers?: Readonly<Record<string, string>>
  /** replaces the answer to every call */
  readonly rawAnswer?: string
}

/** HTTP server of a test on loopback. */
export interface ServedNode extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** methods called so far */
  readonly called: readonly string[]
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

type Call = { readonly id: unknown; readonly method: string; readonly params?: readonly unknown[] }

/** Starts a server that answers as scripted: JSON-RPC with batches by POST, pages by GET. */
export async function serveNode(script: ScriptedServer): Promise<ServedNode> {
  const called: string[] = []
  const answer = ({ id, method, params = [] }: Call): unknown => {
    called.push(method)
    const scripted = script.rpc?.[method] ?? { error: { code: -32_601, message: 'method not found' } }
    return { jsonrpc: '2.0', id, ...(typeof scripted === 'function' ? scripted(params) : scripted) }
  }
  const server = createServer((request, response) => {
    void (async () => {
      if (request.method === 'GET') {
        const page = script.pages?.[request.url ?? ''] ?? script.otherPages?.(request.url ?? '')
        response.writeHead(page ? (page.status ?? 200) : 404, script.headers).end(page?.body ?? '')
        return
      }
      const calls = JSON.parse(await bodyOf(request)) as Call | readonly Call[]
      const answers = Array.isArray(calls) ? calls.map(answer) : answer(calls as Call)
      response.writeHead(script.rpcStatus ?? 200, { 'content-type': 'application/json', ...script.headers })
      response.end(script.rawAnswer ?? JSON.stringify(answers))
    })()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    called,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
