// A node process that follows a feed: from the sending of a frame of 50 transfers until a subscriber to newFlashblocks hears of it, which is after it
// can be read. Each block becomes canonical when the next one has begun. Nobody polls: on two cores that would take them from what is measured.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { WebSocket, WebSocketServer } from 'ws'
import { l2RefOf } from '#chain/l2Ref'
import { type RollupConfig, toRollupJson } from '#chain/rollupConfig'
import type { Engine } from '#engine/port'
import { createMemoryKv } from '#store/memoryKv'
import { addressOf, keyOf, sign } from '#test/harness/deriveL1'
import { engineClient, jwtSecret } from '#test/harness/engineServer'
import { messageOf } from '#test/harness/flashblocks'
import { emptyChain, extendChain, genesisNote } from '#test/harness/generatedChain'
import { incrementsOf } from '#test/harness/increments'
import { chainFlags } from '#test/harness/processChain'
import type { Increment } from '#types/increment'
import type { Payload, PayloadAttributes } from '#types/payload'
import { sleep } from './devnetProcess.ts'
import type { Row } from './format.ts'

const [blocks, slices, transfers] = [14, 10, 50]
/** Half as long as builders wait, so that it takes half as long. */
const intervalMs = 100
/** from slice 0 of a block until its parent is canonical */
const sealLagMs = 30
const warmUpBlocks = 2

type Told = { readonly payload: Payload; readonly increments: readonly Increment[] }
type Chain = { readonly config: RollupConfig; readonly first: Payload; readonly told: readonly Told[] }

/** Block 1 as its sequencer makes it, then blocks of transfers. */
async function makeChain(): Promise<Chain> {
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
    const signed = Array.from({ length: slices * transfers }, () => transferOf(config, nonce++))
    const transactions = [...first.transactions.slice(0, 1), ...signed]
    const on = { number: parent.blockNumber, hash: parent.blockHash }
    const built = await execution.build(on, attributesOn(parent, transactions))
    if (built.kind === 'invalid') throw new Error(built.reason)
    const cuts = Array.from({ length: slices }, (_, slice) => 1 + slice * transfers)
    told.push({ payload: built.payload, increments: incrementsOf(execution, built.payload, cuts) })
    parent = built.payload
  }
  return { config, first, told }
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

type NodeProcess = AsyncDisposable & { readonly urls: Readonly<Record<'ws' | 'engine', string>> }

/** @returns when it answers */
async function startNode(config: RollupConfig, feed: string, folder: string): Promise<NodeProcess> {
  const files = chainFlags(
    { name: 'frames', rollupJson: toRollupJson(config), genesisJson: genesisNote() } as Parameters<typeof chainFlags>[0],
    folder,
  )
  const ports = ['http', 'ws', 'engine'].flatMap((name) => [`--${name}.port`, '0'])
  const args = ['bin/basalt.js', 'node', '--mode', 'execution', ...files, ...ports, '--metrics.port', 'off', '--log.format', 'json']
  const more = ['--datadir', join(folder, 'data'), '--flashblocks.url', feed, '--jwt.secret', Buffer.from(jwtSecret).toString('hex')]
  const child: ChildProcess = spawn(process.execPath, [...args, ...more], { stdio: ['ignore', 'ignore', 'pipe'] })
  if (child.stderr === null) throw new Error('no output')
  for await (const line of createInterface({ input: child.stderr })) {
    const { msg, ws, engine } = JSON.parse(line) as Record<string, string>
    if (msg !== 'node started') continue
    child.stderr.resume()
    return {
      urls: { ws: ws ?? '', engine: engine ?? '' },
      async [Symbol.asyncDispose]() {
        child.kill('SIGINT')
        if (child.exitCode === null) await once(child, 'exit')
      },
    }
  }
  throw new Error('the node ended before it answered')
}

/** When each block of so many transactions was told of first. */
async function listen(url: string): Promise<Map<string, number>> {
  const heard = new Map<string, number>()
  const socket = new WebSocket(url)
  await once(socket, 'open')
  socket.on('message', (data: Buffer) => {
    const nowMs = performance.now()
    const { params } = JSON.parse(data.toString()) as { params?: { result: { number: string; transactions: unknown[] } } }
    if (params) heard.set(`${Number(params.result.number)} ${params.result.transactions.length}`, nowMs)
  })
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newFlashblocks'] }))
  return heard
}

async function seal(engine: Engine, config: RollupConfig, payload: Payload): Promise<void> {
  const inserted = await engine.insert(payload)
  if (inserted.kind === 'invalid') throw new Error(inserted.reason)
  await engine.setHeads({ ...(await engine.heads()), unsafe: l2RefOf(config, payload) })
}

function rowOf(name: string, times: readonly number[], lost: number): Row {
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

export async function run(): Promise<readonly Row[]> {
  const { config, first, told } = await makeChain()
  const folder = mkdtempSync(join(tmpdir(), 'basalt-frames-'))
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  try {
    await using node = await startNode(config, `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, folder)
    const engine = engineClient(node.urls.engine, config)
    await seal(engine, config, first)
    while (server.clients.size === 0) await sleep(20)
    const heard = await listen(node.urls.ws)
    const sent: { readonly key: string; readonly ms: number }[] = []
    const sealed: Promise<void>[] = []
    for (const [at, { increments }] of told.entries()) {
      let count = 0
      for (const increment of increments) {
        count += increment.transactions.length
        const message = messageOf(increment)
        const ms = performance.now()
        for (const client of server.clients) client.send(message)
        if (at >= warmUpBlocks) sent.push({ key: `${increment.blockNumber} ${count}`, ms })
        const below = increment.index === 0 ? told[at - 1]?.payload : undefined
        if (below) sealed.push(sleep(sealLagMs).then(() => seal(engine, config, below)))
        await sleep(intervalMs)
      }
    }
    await Promise.all(sealed)
    const toldMs = sent.flatMap(({ key, ms }) => (heard.has(key) ? [(heard.get(key) ?? 0) - ms] : []))
    return [rowOf(`frame of ${transfers} transfers → newFlashblocks at a subscriber`, toldMs, sent.length - toldMs.length)]
  } finally {
    for (const client of server.clients) client.terminate()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
