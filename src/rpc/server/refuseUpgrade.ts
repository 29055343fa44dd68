import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

/** Refuses an upgrade request with an HTTP error and closes both directions of the connection. */
export function refuseUpgrade(socket: Duplex, status: number, text: string): void {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: text/plain\r\n`
  socket.once('finish', () => socket.destroy())
  socket.end(`${head}content-length: ${text.length}\r\n\r\n${text}`)
}
