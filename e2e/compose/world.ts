// A recorded L1 that containers can reach, and the expected results of the node.
import { createServer } from 'node:http'
import { type RecordedChain, type RecordedChainName, readRecordedChain } from '#devnet/recordedChain'
import { createRecordedL1, type RecordedL1 } from '#devnet/recordedL1'
import { systemClock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import { silentLog } from '#lib/log'
import { startNode } from '#node/node'
import { rpcCall } from '#test/harness/process/cliProcess'

export type World = AsyncDisposable & {
  readonly chain: RecordedChain
  readonly l1: RecordedL1
  readonly url: string
  /** number of the last block of the recording */
  readonly lastL1: number
}

/** Serves the L1 of a recorded chain on an address that containers can reach. */
export async function serveWorld(name: RecordedChainName, host: string): Promise<World> {
  const chain = readRecordedChain(name)
  const lastL1 = chain.l1.blocks.length - 1
  const l1 = createRecordedL1(chain.l1, { head: 3 })
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const answer = l1.reply({ method: request.method ?? 'GET', url: new URL(request.url ?? '/', 'http://l1'), body })
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body)
    })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve))
  const { port } = server.address() as { port: number }
  return {
    chain,
    l1,
    lastL1,
    url: `http://${host}:${port}`,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Starts a node of the same chain that containers can reach, with the L1 of the world. */
export async function startSource({ chain, url }: World, datadir: string): Promise<AsyncDisposable & { readonly url: string }> {
  const { hostname: host } = new URL(url)
  const local = { host: '127.0.0.1', port: 0 }
  const node = await startNode(
    { clock: systemClock, random: Math.random, fetch, log: silentLog },
    {
      ...{ mode: 'all', config: chain.config, genesis: () => chain.genesis, datadir, version: 'source' },
      ...{ listen: { http: { host, port: 0 }, rollup: local }, isAdminOn: false, readyMaxLagSec: 30, minFreeBytes: 0 },
      l1: { rpcUrls: [url], beaconUrls: [url], pollMs: 100 },
    },
  )
  return { url: node.urls.http ?? '', [Symbol.asyncDispose]: () => node[Symbol.asyncDispose]() }
}

type Status = { readonly safe_l2: { readonly number: number; readonly hash: string }; readonly unsafe_l2: { readonly number: number } }

/** Waits until the rollup RPC has the recorded safe head after the L1 block, and the chain's RPC has that head. */
export async function untilSafe(
  { chain }: World,
  l1Block: number,
  urls: { http: string; rollup: string },
  timeoutMs = 60_000,
): Promise<void> {
  const number = chain.safeHeads[l1Block] ?? 0
  const hash = chain.blocks[number]?.hash
  const deadline = performance.now() + timeoutMs
  let seen = 'no answer'
  while (performance.now() < deadline) {
    try {
      const status = (await rpcCall(urls.rollup, 'optimism_syncStatus')) as Status
      const block = (await rpcCall(urls.http, 'eth_getBlockByNumber', ['safe', false])) as { hash: string } | null
      seen = `safe ${status.safe_l2.number}, on the other port ${block?.hash}`
      if (status.safe_l2.hash === hash && block?.hash === hash) return
    } catch (error) {
      seen = errorMessage(error)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`after L1 block ${l1Block} block ${number} ${hash} must be safe: ${seen}`)
}
