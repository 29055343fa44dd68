import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** A request of an attacker, from a loopback address of its own, so that limits by address apply to it and not to honest clients. */
export const attackerAddress = (n: number): string => `127.0.0.${2 + (n % 200)}`

/** Opens a connection as an attacker; a refused or reset connection is expected. */
export function attackerSocket(port: number, n: number): Socket {
  const socket = connect({ host: '127.0.0.1', port, localAddress: attackerAddress(n) })
  socket.on('error', () => {})
  return socket
}

/** Resolves when a connection has ended, or after a time. */
export function endOf(socket: Socket, atMostMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      socket.destroy()
      resolve()
    }, atMostMs)
    socket.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** Sends one HTTP request with a body as an attacker and drops the answer. */
export async function postAsAttacker(port: number, n: number, body: string | Uint8Array, headers: readonly string[] = []): Promise<void> {
  const socket = attackerSocket(port, n)
  const length = Buffer.byteLength(body)
  const head = [
    'POST / HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    ...headers,
    'Connection: close',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  socket.write(body)
  socket.resume()
  await endOf(socket, 20_000)
}

/** Holds connections open: a third stay silent, a third send a header a byte at a time, a third a body that never ends. */
export async function slowLoris(port: number, count: number, signal: AbortSignal): Promise<void> {
  const sockets = new Set<Socket>()
  const open = (n: number): void => {
    const socket = attackerSocket(port, n % 3)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    if (n % 3 === 1) socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ')
    if (n % 3 === 2)
      socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n[')
  }
  for (let n = 0; !signal.aborted; n++) {
    for (const socket of sockets) if (socket.bytesWritten > 0) socket.write(' ')
    for (let i = 0; i < 50 && sockets.size < count; i++) open(n * 50 + i)
    await delay(250)
  }
  for (const socket of sockets) socket.destroy()
}
