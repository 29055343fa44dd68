// Runs thousands of hostile subscribers against one WebSocket server in a process with a small heap: `npm run test:subscribers -- --connections 12000 --heap 600`.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { WebSocket } from 'ws'

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '12000' },
    /** MB of old space of the server's process */
    heap: { type: 'string', default: '600' },
    /** connections that also create filters of maximal size */
    greedy: { type: 'string', default: '100' },
  },
})
const [connections, heap, greedy] = [values.connections, values.heap, values.greedy].map(Number) as [number, number, number]

const address = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`
const topic = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`
const thousand = Array.from({ length: 1_000 }, (_, i) => i)
/** Filters with the maximal number of addresses and topics, all different. */
const largest = (number: number) => ({
  address: thousand.map((i) => address(number * 1_000 + i)),
  topics: [0, 1, 2, 3].map((at) => thousand.map((i) => topic(at * 1_000 + i))),
})

type Heard = { readonly heads: number; readonly logs: number }
type Memory = { readonly heapUsed: number; readonly rss: number; readonly stalledMs: number }

class Subscriber {
  readonly #socket: WebSocket
  readonly #answers = new Map<number, (answer: Readonly<Record<string, unknown>>) => void>()
  #id = 0
  heads = 0
  logs = 0

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('error', () => {})
    socket.on('message', (data: Buffer) => this.#hear(data.toString()))
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN
  }

  ask(method: string, ...params: readonly unknown[]): Promise<Readonly<Record<string, unknown>>> {
    const id = ++this.#id
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return new Promise((resolve) => this.#answers.set(id, resolve))
  }

  end(): void {
    this.#socket.terminate()
  }

  #hear(text: string): void {
    if (text.includes('"eth_subscription"')) {
      if (text.includes('"parentHash"')) this.heads++
      else this.logs++
      return
    }
    const answer = JSON.parse(text) as Readonly<Record<string, unknown>>
    this.#answers.get(Number(answer['id']))?.(answer)
    this.#answers.delete(Number(answer['id']))
  }
}

async function open(url: string): Promise<Subscriber> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  const subscriber = new Subscriber(socket)
  await once(socket, 'open')
  return subscriber
}

/** Requests far more subscriptions than one connection may have. @returns the number that was granted */
async function grab(subscriber: Subscriber, number: number): Promise<number> {
  const asked = [subscriber.ask('eth_subscribe', 'newHeads'), subscriber.ask('eth_subscribe', 'logs', { address: address(0) })]
  for (let each = 0; each < 10; each++) asked.push(subscriber.ask('eth_subscribe', 'logs', { address: address(1 + number * 10 + each) }))
  if (number < greedy) for (let each = 0; each < 4; each++) asked.push(subscriber.ask('eth_subscribe', 'logs', largest(number * 4 + each)))
  return (await Promise.all(asked)).filter((answer) => 'result' in answer).length
}

const server = fork(new URL('./subscribers/server.ts', import.meta.url), [String(connections)], {
  execArgv: [`--max-old-space-size=${heap}`],
})
let isOver = false
server.once('exit', (code, signal) => {
  if (isOver) return
  console.error(`the server ended: code ${code}, signal ${signal}`)
  process.exit(1)
})
const [{ url }] = (await once(server, 'message')) as [{ url: string }]
const command = async (what: 'block' | 'memory'): Promise<Memory> => {
  server.send(what)
  const [memory] = (await once(server, 'message')) as [Memory]
  return memory
}

const subscribers: Subscriber[] = []
let granted = 0
const startMs = performance.now()
for (let from = 0; from < connections; from += 100) {
  const more = await Promise.all(Array.from({ length: Math.min(100, connections - from) }, () => open(url)))
  const got = await Promise.all(more.map((subscriber, i) => grab(subscriber, from + i)))
  granted += got.reduce((sum, each) => sum + each, 0)
  subscribers.push(...more)
}
const seconds = ((performance.now() - startMs) / 1_000).toFixed(0)
console.log(`${subscribers.length} connections with ${granted} subscriptions after ${seconds} s`, await command('memory'))

const blocks = 5
for (let block = 0; block < blocks; block++) {
  const memory = await command('block')
  const askedMs = performance.now()
  await subscribers[0]?.ask('eth_chainId')
  console.log(`block ${block + 1}: next answer after ${(performance.now() - askedMs).toFixed(0)} ms`, memory)
}
const heardAll = (): boolean => subscribers.every(({ heads, logs }: Heard) => heads === blocks && logs === blocks)
const endMs = performance.now() + 120_000
while (!heardAll() && performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 100))
const last = await command('memory')
console.log('at the end', last)
const closed = subscribers.filter(({ isOpen }) => !isOpen).length
for (const subscriber of subscribers) subscriber.end()
isOver = true
server.kill()
if (closed > 0 || !heardAll()) {
  console.error(`${closed} connections ended, ${subscribers.filter(({ heads }) => heads !== blocks).length} missed heads`)
  process.exit(1)
}
process.exit(0)
