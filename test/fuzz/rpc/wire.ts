import { connect } from 'node:net'
import { WebSocket } from 'ws'

/** Time limit in ms, longer than the longest time-out of a cost class. */
const patienceMs = 90_000

export type HttpAnswer = { readonly status: number; readonly text: string }

/** @throws Error when no response arrives in time, or the connection breaks */
export async function post(url: string, body: string, token?: string): Promise<HttpAnswer> {
  const headers = { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(patienceMs) })
  return { status: response.status, text: await response.text() }
}

/** Sends bytes and closes the connection after `stayMs`; a response is ignored. */
export async function sendBytes(url: string, bytes: string, stayMs: number): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  socket.on('data', () => {})
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.once('connect', () => socket.write(bytes))
  setTimeout(() => socket.destroy(), stayMs)
  await closed
}

/** Sends calls over one WebSocket, which is opened again when the server has closed it. */
export function createCaller(url: string): {
  call(id: number, text: string): Promise<string>
  throwAt(data: string | Buffer): Promise<void>
  close(): void
} {
  let open: Promise<WebSocket> | undefined
  const waiting = new Map<number, { resolve: (text: string) => void; reject: (error: Error) => void }>()

  function onMessage(data: Buffer): void {
    const text = data.toString()
    const id = Number(/"id":(\d+)/.exec(text)?.[1])
    waiting.get(id)?.resolve(text)
    waiting.delete(id)
  }

  function connected(): Promise<WebSocket> {
    open ??= new Promise((resolve, reject) => {
      const socket = new WebSocket(url, { perMessageDeflate: false })
      socket.on('message', onMessage)
      socket.once('open', () => resolve(socket))
      socket.on('error', reject)
      socket.once('close', (code) => {
        open = undefined
        for (const { reject: fail } of waiting.values()) fail(new Error(`socket closed: ${code}`))
        waiting.clear()
      })
    })
    return open
  }

  return {
    async call(id, text) {
      const socket = await connected()
      const answer = new Promise<string>((resolve, reject) => waiting.set(id, { resolve, reject }))
      socket.send(text)
      const timer = setTimeout(() => waiting.get(id)?.reject(new Error(`no response within ${patienceMs} ms`)), patienceMs)
      return await answer.finally(() => clearTimeout(timer))
    },
    async throwAt(data) {
      const socket = await connected()
      socket.send(data)
    },
    close() {
      void open?.then((socket) => socket.terminate())
    },
  }
}
