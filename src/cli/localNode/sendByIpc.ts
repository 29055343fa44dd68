import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Received, Send } from '#lib/jsonHttp'

/** Reads the first line: an answer ends with a newline. */
async function* firstLine(socket: Socket): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      const end = chunk.indexOf(0x0a)
      yield end < 0 ? chunk : chunk.subarray(0, end)
      if (end >= 0) return
    }
  } finally {
    socket.destroy()
  }
}

/** Returns a function that sends each request over a new connection to a Unix socket. The URL is not used. */
export const sendByIpc =
  (path: string): Send =>
  async (_url, { body = '', signal }): Promise<Received> => {
    const socket = connect({ path, signal })
    await once(socket, 'connect')
    socket.on('error', () => {}) // the iteration below throws it
    socket.write(Buffer.from(body))
    const lines = firstLine(socket)
    return {
      ...{ status: 200, ok: true, headers: { get: () => null } },
      body: { [Symbol.asyncIterator]: () => lines, cancel: async () => void socket.destroy() },
    }
  }
