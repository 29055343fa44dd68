import { WebSocket } from 'ws'
import type { Clock } from '#lib/clock'
import type { Endpoint } from '#lib/endpoint'
import { isFault } from '#lib/fault'
import { rpcRequest } from '#types/jsonRpc'
import { objectOf, ShapeError } from '#types/jsonShape'
import { l2Fault } from './faults.ts'
import type { L2Metrics } from './metrics.ts'
import type { RpcCall, SourceRpc, SourceRpcLimits } from './rpc.ts'
import { resultOf, Slots } from './rpcResult.ts'
import { parseMessage } from './socketMessage.ts'

export type SocketRpcDeps = { readonly clock: Clock; readonly metrics: Pick<L2Metrics, 'requests'> }

/** Pending request: a batch whose answers are collected by id. */
type Pending = {
  readonly ids: readonly number[]
  readonly answers: Map<number, unknown>
  readonly done: PromiseWithResolvers<void>
}

function outcomeOf(error: unknown): 'ok' | 'rate_limited' | 'unreachable' | 'wrong_answer' {
  if (error instanceof ShapeError) return 'wrong_answer'
  if (isFault(error, 'SOURCE_RATE_LIMITED')) return 'rate_limited'
  return isFault(error, 'SOURCE_RPC_ERROR') ? 'ok' : 'unreachable'
}

/**
 * Creates a JSON-RPC client over a WebSocket. It opens the connection for the first call, and again after the connection closed or went silent.
 * Answers may arrive in any order. Dispose it to close the connection. Errors are those of `SourceRpc`.
 */
export function createSocketRpc(
  { clock, metrics }: SocketRpcDeps,
  { timeoutMs, maxBodyBytes, maxConcurrent }: SourceRpcLimits,
  { url, headers, name }: Endpoint,
): SourceRpc & Disposable {
  const slots = new Slots(maxConcurrent)
  const pending = new Set<Pending>()
  let socket: WebSocket | undefined
  let nextId = 1
  let heardMs = Number.NEGATIVE_INFINITY

  const unreachable = (asked: string, reason: string): Error => l2Fault('SOURCE_UNREACHABLE', { endpoint: name, asked, reason })

  function drop(dropped: WebSocket, reason: string): void {
    if (socket !== dropped) return
    socket = undefined
    dropped.terminate()
    for (const request of pending) request.done.reject(unreachable('the connection', reason))
    pending.clear()
  }

  function take(answer: unknown): void {
    const id = Number((answer as { id?: unknown } | null)?.id)
    for (const request of pending) {
      if (!request.ids.includes(id)) continue
      request.answers.set(id, answer)
      if (request.answers.size === request.ids.length) request.done.resolve()
      return
    }
  }

  function receive(from: WebSocket, data: Buffer): void {
    heardMs = clock.elapsedMs()
    const message = parseMessage(data)
    if (message === undefined) drop(from, 'message is not JSON')
    else if (Array.isArray(message)) message.forEach(take)
    else if ((message as { id?: unknown } | null)?.id === null) drop(from, 'answer to no call; the node may not accept batches')
    else take(message)
  }

  function opened(): Promise<WebSocket> {
    const current = socket ?? new WebSocket(url, { headers, maxPayload: maxBodyBytes, perMessageDeflate: false, followRedirects: false })
    if (socket === undefined) {
      socket = current
      current.on('message', (data: Buffer) => receive(current, data))
      current.on('error', (error: NodeJS.ErrnoException) => drop(current, error.code ?? 'connection failed'))
      current.on('close', (code) => drop(current, `closed with ${code}`))
    }
    if (current.readyState === current.OPEN) return Promise.resolve(current)
    return new Promise((resolve, reject) => {
      current.once('open', () => resolve(current))
      current.once('close', () => reject(unreachable('the connection', 'it cannot be opened')))
    })
  }

  async function send(request: Pending, calls: readonly RpcCall[]): Promise<void> {
    const open = await opened()
    if (!pending.has(request)) return
    const encoded = calls.map((call, at) => rpcRequest(call, request.ids[at] as number))
    open.send(JSON.stringify(encoded.length === 1 ? encoded[0] : encoded))
  }

  async function ask(calls: readonly RpcCall[], asked: string, signal: AbortSignal): Promise<readonly unknown[]> {
    signal.throwIfAborted()
    const request: Pending = { ids: calls.map(() => nextId++), answers: new Map(), done: Promise.withResolvers() }
    pending.add(request)
    const stop = (): void => request.done.reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    const askedMs = clock.elapsedMs()
    using _timer = clock.after(timeoutMs, () => {
      request.done.reject(unreachable(asked, `no answer within ${timeoutMs / 1_000} s`))
      // without this, the operating system reports a vanished peer only after a quarter of an hour
      if (socket !== undefined && heardMs <= askedMs) drop(socket, 'connection is silent')
    })
    try {
      send(request, calls).catch((error: unknown) => request.done.reject(error))
      await request.done.promise
      return request.ids.map((id) => request.answers.get(id))
    } finally {
      pending.delete(request)
      signal.removeEventListener('abort', stop)
    }
  }

  return {
    async call(calls, signal): Promise<readonly unknown[]> {
      const asked = [...new Set(calls.map(({ method }) => method))].join(', ')
      try {
        const answers = await slots.run(() => ask(calls, asked, signal), signal)
        const results = answers.map((answer, at) => resultOf(name, calls[at]?.method ?? asked, objectOf(answer, 'answer')))
        metrics.requests.inc({ outcome: 'ok' })
        return results
      } catch (error) {
        signal.throwIfAborted()
        metrics.requests.inc({ outcome: outcomeOf(error) })
        if (error instanceof ShapeError) throw l2Fault('SOURCE_BAD_ANSWER', { endpoint: name, asked, reason: error.message })
        throw error
      }
    },
    [Symbol.dispose](): void {
      if (socket !== undefined) drop(socket, 'closed by this node')
    },
  }
}
