// A node process that follows flashblocks: time from the sending of a flashblock of 50 transfers until the sender's nonce in `pending` includes them,
// polled continuously; and, in another run, until a subscriber to newFlashblocks has the whole block. Each block becomes canonical when the next one
// has begun. The polling client uses a part of the two cores.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { WebSocket, WebSocketServer } from 'ws'
import { l2RefOf } from '#chainspec/l2Ref'
import { type RollupConfig, toRollupJson } from '#chainspec/rollupConfig'
import type { Engine } from '#engine/port'
import { emptyChain, extendChain, genesisNote } from '#test/harness/chain/generatedChain'
import { addressOf, keyOf, sign } from '#test/harness/derive/l1'
import { engineClient, jwtSecret } from '#test/harness/engine/server'
import { flashblocksOf } from '#test/harness/flashblocks/flashblocks'
import { messageOf } from '#test/harness/flashblocks/messages'
import { chainFlags } from '#test/harness/process/chain'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { Flashblock } from '#types/flashblock'
import type { Payload, PayloadAttributes } from '#types/payload'
import { sleep } from './devnet/process.ts'
import type { Row } from './format.ts'

/** Flashblocks of a block after flashblock 0. */
const flashblocksOfBlock = 10

/** Stream of a run. */
export type Stream = {
  readonly blocks: number
  /** blocks at the start that are not measured */
  readonly warmUpBlocks: number
  /** transactions of each flashblock, except flashblock 0 */
  readonly transfers: number
  /** from one flashblock to the next */
  readonly intervalMs: number
  /** from flashblock 0 of a block until its parent is canonical, for one block after another, repeated */
  readonly sealLagsMs: readonly number[]
}

/** Half of the builders' interval, so that the run takes half as long. */
const usual: Stream = { blocks: 40, warmUpBlocks: 10, transfers: 50, intervalMs: 100, sealLagsMs: [30] }

type Told = { readonly payload: Payload; readonly flashblocks: readonly Flashblock[] }
type Chain = { readonly config: RollupConfig; readonly first: Payload; readonly told: readonly Told[]; readonly stream: Stream }

/** Block 1 as a sequencer builds it, then blocks of transfers. */
export async function makeChain(stream: Stream): Promise<Chain> {
  const { blocks, transfers } = stream
  await using kv = createMemoryKv()
  const chain = emptyChain(kv)
  await extendChain(chain, 1)
  const { config, execution } = chain
  const first = await execution.payload(1)
  if (first === undefined) throw new Error('no block 1')
  const told: Told[] = []
  let parent = first
  let nonce = 0n
  for (let made = 0; made < blocks; made++) {
    const signed = Array.from({ length: flashblocksOfBlock * transfers }, () => transferOf(config, nonce++))
    const transactions = [...first.transactions.slice(0, 1), ...signed]
    const on = { number: parent.blockNumber, hash: parent.blockHash }
    const built = await execution.build(on, attributesOn(parent, transactions))
    if (built.kind === 'invalid') throw new Error(built.reason)
    const cuts = Array.from({ length: flashblocksOfBlock }, (_, at) => 1 + at * transfers)
    told.push({ payload: built.payload, flashblocks: flashblocksOf(execution, built.payload, cuts) })
    parent = built.payload
  }
  return { config, first, told, stream }
}

function transferOf({ l2ChainId }: RollupConfig, nonce: bigint): Uint8Array {
  const to = addressOf(`receiver ${nonce % 1_000n}`)
  const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n, accessList: [] }
  const fields = { type: 2, chainId: BigInt(l2ChainId), nonce, gasLimit: 21_000n, to, value: 1n, data: new Uint8Array(0) } as const
  return sign({ ...fields, ...fees } as Parameters<typeof sign>[0], keyOf('user'))
}

const attributesOn = (parent: Payload, transactions: readonly Uint8Array[]): PayloadAttributes => ({
  timestamp: parent.timestamp + 2,
  prevRandao: parent.prevRandao,
  suggestedFeeRecipient: parent.feeRecipient,
  withdrawals: [],
  ...(parent.parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot: parent.parentBeaconBlockRoot }),
  transactions,
  noTxPool: true,
  gasLimit: parent.gasLimit,
  eip1559Params: new Uint8Array(8),
  minBaseFee: 0n,
})

export type NodeProcess = AsyncDisposable & { readonly urls: Readonly<Record<'http' | 'ws' | 'engine', string>> }

/** Additional flags of a node process, and variables of its environment. */
export type NodeStart = { readonly flags: readonly string[]; readonly env: Readonly<Record<string, string>> }

/** @returns once the node answers */
async function startNode(config: RollupConfig, feed: string, folder: string, { flags, env }: NodeStart): Promise<NodeProcess> {
  const files = chainFlags(
    { name: 'frames', rollupJson: toRollupJson(config), genesisJson: genesisNote() } as Parameters<typeof chainFlags>[0],
    folder,
  )
  const ports = ['http', 'ws', 'engine'].flatMap((name) => [`--${name}.port`, '0'])
  const args = ['bin/basalt.js', 'node', '--mode', 'execution', ...files, ...ports, '--metrics.port', 'off', '--log.format', 'json']
  const more = ['--datadir', join(folder, 'data'), '--flashblocks.url', feed, '--jwt.secret', Buffer.from(jwtSecret).toString('hex')]
  const child: ChildProcess = spawn(process.execPath, [...args, ...more, ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  })
  if (child.stderr === null) throw new Error('no output')
  for await (const line of createInterface({ input: child.stderr })) {
    const { msg, rpc, ws, engine } = JSON.parse(line) as Record<string, string>
    if (msg !== 'node started') continue
    child.stderr.resume()
    return {
      urls: { http: rpc ?? '', ws: ws ?? '', engine: engine ?? '' },
      async [Symbol.asyncDispose]() {
        child.kill('SIGINT')
        if (child.exitCode === null) await once(child, 'exit')
      },
    }
  }
  throw new Error('the node ended before it answered')
}

export type Watch = { readonly of: (blockNumber: number, count: number) => number | undefined; close(): void }

/** Times at which the sender's nonce in `pending` first reached each number of transfers. */
function poll(url: string, sender: string, transfers: number): Watch {
  const seen: number[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const stop = new AbortController()
  const ask = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const nonce = await nonceInPending(agent, url, sender)
      const nowMs = performance.now()
      for (let count = seen.length; count <= nonce; count++) seen.push(nowMs)
      await sleep(1)
    }
  }
  void ask().catch(() => undefined)
  return {
    of: (blockNumber, count) => seen[(blockNumber - 2) * flashblocksOfBlock * transfers + count - 1],
    close(): void {
      stop.abort()
      agent.destroy()
    },
  }
}

function nonceInPending(agent: Agent, url: string, sender: string): Promise<number> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getTransactionCount', params: [sender, 'pending'] })
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, method: 'POST', headers: { 'content-type': 'application/json' } }, (response) => {
      let text = ''
      response.setEncoding('latin1')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve(Number((JSON.parse(text) as { result: string }).result)))
      response.on('error', reject)
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

/** Times at which newFlashblocks first had a block with each number of transactions. */
export async function listen(url: string): Promise<Watch> {
  const heard = new Map<string, number>()
  const socket = new WebSocket(url)
  await once(socket, 'open')
  socket.on('message', (data: Buffer) => {
    const nowMs = performance.now()
    const { params } = JSON.parse(data.toString()) as { params?: { result: { number: string; transactions: unknown[] } } }
    if (params) heard.set(`${Number(params.result.number)} ${params.result.transactions.length}`, nowMs)
  })
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newFlashblocks'] }))
  return { of: (blockNumber, count) => heard.get(`${blockNumber} ${count}`), close: () => socket.terminate() }
}

async function seal(engine: Engine, config: RollupConfig, payload: Payload): Promise<void> {
  const inserted = await engine.insert(payload)
  if (inserted.kind === 'invalid') throw new Error(inserted.reason)
  await engine.setHeads({ ...(await engine.heads()), unsafe: l2RefOf(config, payload) })
}

export function rowOf(name: string, times: readonly number[], lost: number): Row {
  const sorted = [...times].sort((a, b) => a - b)
  const part = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return {
    name,
    value: part(0.5),
    unit: 'ms',
    runs: [part(0), part(0.5), part(1)],
    facts: { p90Ms: part(0.9), p99Ms: part(0.99), frames: times.length, lost },
  }
}

type Sent = { readonly blockNumber: number; readonly count: number; readonly ms: number }

/** Times of all flashblocks except those of the first blocks; NaN: never observed. */
export async function measure(
  { config, first, told, stream }: Chain,
  watchOn: (urls: NodeProcess['urls']) => Watch | Promise<Watch>,
  start: NodeStart = { flags: [], env: {} },
): Promise<number[]> {
  const { warmUpBlocks, intervalMs, sealLagsMs } = stream
  const folder = mkdtempSync(join(tmpdir(), 'basalt-frames-'))
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  try {
    await using node = await startNode(config, `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, folder, start)
    const engine = engineClient(node.urls.engine, config)
    await seal(engine, config, first)
    while (server.clients.size === 0) await sleep(20)
    const watch = await watchOn(node.urls)
    const sent: Sent[] = []
    const sealed: Promise<void>[] = []
    for (const [at, { flashblocks }] of told.entries()) {
      let count = 0
      for (const flashblock of flashblocks) {
        count += flashblock.transactions.length
        const message = messageOf(flashblock)
        const ms = performance.now()
        for (const client of server.clients) client.send(message)
        // flashblock 0 has no transfers
        if (at >= warmUpBlocks && flashblock.index > 0) sent.push({ blockNumber: flashblock.blockNumber, count, ms })
        const below = flashblock.index === 0 ? told[at - 1]?.payload : undefined
        if (below) sealed.push(sleep(sealLagsMs[at % sealLagsMs.length] ?? 0).then(() => seal(engine, config, below)))
        await sleep(intervalMs)
      }
    }
    await Promise.all(sealed)
    watch.close()
    return sent.map(({ blockNumber, count, ms }) => (watch.of(blockNumber, count) ?? Number.NaN) - ms)
  } finally {
    for (const client of server.clients) client.terminate()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function run(): Promise<readonly Row[]> {
  const { transfers } = usual
  const chain = await makeChain(usual)
  const rows: Row[] = []
  const ways = [
    ['nonce in pending', ({ http }: NodeProcess['urls']) => poll(http, addressOf('user'), transfers)],
    ['newFlashblocks at a subscriber', ({ ws }: NodeProcess['urls']) => listen(ws)],
  ] as const
  for (const [what, watchOn] of ways) {
    const times = await measure(chain, watchOn)
    const known = times.filter((ms) => !Number.isNaN(ms))
    rows.push(rowOf(`frame of ${transfers} transfers → ${what}`, known, times.length - known.length))
  }
  return rows
}
