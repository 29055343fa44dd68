import { WebSocket } from 'ws'

type Message = Readonly<Record<string, unknown>>

export type SocketClient = AsyncDisposable & {
  readonly socket: WebSocket
  /** Sends a string unchanged and any other value as JSON. */
  send(message: unknown): void
  /** Returns the next message that is not taken yet. */
  next(): Promise<Message>
  call(method: string, ...params: unknown[]): Promise<Message>
  /** Messages that are not taken yet. */
  readonly waiting: readonly Message[]
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
}

/** Connects a WebSocket client. Rejects with the server's reason when the server refuses. */
export async function openSocket(url: string, headers: Record<string, string> = {}): Promise<SocketClient> {
  const socket = new WebSocket(url, { headers, perMessageDeflate: false })
  const messages: Message[] = []
  const takers: ((message: Message) => void)[] = []
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Message
    const taker = takers.shift()
    if (taker) taker(message)
    else messages.push(message)
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }))
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve())
    socket.once('error', reject)
  })
  socket.on('error', () => {})
  let id = 0
  const client: SocketClient = {
    socket,
    closed,
    waiting: messages,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    next(): Promise<Message> {
      const message = messages.shift()
      return message === undefined ? new Promise((resolve) => takers.push(resolve)) : Promise.resolve(message)
    },
    call(method, ...params): Promise<Message> {
      client.send({ jsonrpc: '2.0', id: ++id, method, params })
      return client.next()
    },
    async [Symbol.asyncDispose]() {
      socket.terminate()
      await closed
    },
  }
  return client
}
