// Thread that subscribes to the heads of nodes. Each message returns their times so far, ms since 1970, by number, in the order of the URLs.
import { parentPort, workerData } from 'node:worker_threads'
import { openSocket } from '#test/harness/process/socketClient'

type Message = { readonly method?: string; readonly params?: { readonly result: { readonly number: string } } }

/** Notes each new head of a node. */
async function watchHeads(url: string): Promise<ReadonlyMap<number, number>> {
  const client = await openSocket(url)
  const headsMs = new Map<number, number>()
  client.socket.on('message', (data: Buffer) => {
    const { method, params } = JSON.parse(data.toString()) as Message
    if (method === 'eth_subscription' && params) headsMs.set(Number(params.result.number), performance.timeOrigin + performance.now())
  })
  client.send({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })
  return headsMs
}

const heads = await Promise.all((workerData as readonly string[]).map(watchHeads))
parentPort?.on('message', () => parentPort?.postMessage(heads))
