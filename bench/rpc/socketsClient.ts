// node bench/rpc/socketsClient.ts URL COUNT: opens COUNT WebSockets, each subscribed to newHeads, from several addresses of loopback. A forked
// child: reports when all are subscribed, and for each head the time at which the last of them had it.
import { WebSocket } from 'ws'
import type { FromSockets } from './sockets.ts'

const [url = '', count = '1'] = process.argv.slice(2)
/** connections of one address: a server may limit each client */
const perAddress = 200
/** handshakes at once */
const opening = 100

const tell = (message: FromSockets): void => void process.send?.(message)
const arrivals = new Map<string, number>()
let subscribed = 0
const subscribe = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })

function onMessage(text: string): void {
  if (!text.includes('"eth_subscription"')) {
    if (text.includes('"error"')) tell({ kind: 'failed', why: text.slice(0, 200) })
    if (++subscribed === Number(count)) tell({ kind: 'ready' })
    return
  }
  const hash = /"hash":"(0x[0-9a-f]{64})"/.exec(text)?.[1] ?? ''
  const seen = (arrivals.get(hash) ?? 0) + 1
  arrivals.set(hash, seen)
  if (seen === Number(count)) tell({ kind: 'head', hash, lastMs: performance.timeOrigin + performance.now() })
}

async function open(index: number): Promise<void> {
  const localAddress = `127.0.0.${2 + Math.floor(index / perAddress)}`
  const socket = new WebSocket(url, { localAddress, perMessageDeflate: false, skipUTF8Validation: true })
  socket.on('message', (data: Buffer) => onMessage(data.toString()))
  socket.once('close', (code) => tell({ kind: 'failed', why: `closed: ${code}` }))
  await new Promise<void>((resolve) => {
    socket.once('open', () => {
      socket.send(subscribe)
      resolve()
    })
    socket.on('error', (error) => {
      tell({ kind: 'failed', why: error.message })
      resolve()
    })
  })
}

for (let from = 0; from < Number(count); from += opening)
  await Promise.all(Array.from({ length: Math.min(opening, Number(count) - from) }, (_, index) => open(from + index)))
