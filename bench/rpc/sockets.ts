// Ten thousand WebSockets with newHeads: time until the last of them has a block, and the node's memory for each connection.
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { l2RefOf } from '#chainspec/l2Ref'
import { systemClock } from '#lib/clock'
import type { Payload } from '#types/payload'
import { type Row, row } from '../format.ts'
import { residentMb } from '../processTree.ts'
import { engineOf } from './engine.ts'
import { buildMixedBlocks } from './mixedBlocks.ts'
import { type BenchNode, importWorld, inFolder, withEachNode } from './servers.ts'

/** Message of the process with the connections; `lastMs`: since the epoch. */
export type FromSockets =
  | { readonly kind: 'ready' }
  | { readonly kind: 'head'; readonly hash: string; readonly lastMs: number }
  | { readonly kind: 'failed'; readonly why: string }

const connections = Number(process.env['BASALT_BENCH_SOCKETS'] ?? 10_000)
const blocks = 20
const blockEveryMs = 1_000
const settleMs = 5_000

type Sockets = AsyncDisposable & { readonly arrivedMs: ReadonlyMap<string, number>; readonly failures: readonly string[] }

/** Connects and subscribes all of them, in a separate process. @throws Error when one cannot */
async function openSockets(url: string): Promise<Sockets> {
  const child = fork(join(import.meta.dirname, 'socketsClient.ts'), [url, String(connections)])
  const ready = Promise.withResolvers<void>()
  const arrivedMs = new Map<string, number>()
  const failures: string[] = []
  child.on('message', (message: FromSockets) => {
    if (message.kind === 'ready') ready.resolve()
    else if (message.kind === 'head') arrivedMs.set(message.hash, message.lastMs)
    else {
      failures.push(message.why)
      ready.reject(new Error(`a connection failed: ${message.why}`))
    }
  })
  const close = async (): Promise<void> => void child.kill('SIGKILL')
  await ready.promise.catch(async (error: unknown) => {
    await close()
    throw error
  })
  return { arrivedMs, failures, [Symbol.asyncDispose]: close }
}

/** Makes each payload the head, one after the other. @returns the time at which each was sent, since the epoch, by hash */
async function feed(
  { engine, config }: ReturnType<typeof engineOf>,
  payloads: readonly Payload[],
  everyMs: number,
): Promise<ReadonlyMap<string, number>> {
  const heads = await engine.heads()
  const sentMs = new Map<string, number>()
  for (const payload of payloads) {
    await engine.insert(payload)
    sentMs.set(payload.blockHash, performance.timeOrigin + performance.now())
    await engine.setHeads({ ...heads, unsafe: l2RefOf(config, payload) })
    await systemClock.delay(everyMs)
  }
  return sentMs
}

async function measure(node: BenchNode, payloads: readonly Payload[]): Promise<readonly Row[]> {
  const engine = engineOf(node)
  await feed(engine, payloads.slice(0, 2), 0)
  await systemClock.delay(settleMs)
  const before = residentMb(node.pid)
  await using sockets = await openSockets(node.wsUrl)
  await systemClock.delay(settleMs)
  const after = residentMb(node.pid)
  const sentMs = await feed(engine, payloads.slice(2), blockEveryMs)
  await systemClock.delay(settleMs)
  const lags = [...sentMs].map(([hash, ms]) => (sockets.arrivedMs.get(hash) ?? Number.POSITIVE_INFINITY) - ms)
  const kbEach = ((after.all - after.files - (before.all - before.files)) * 1_024) / connections
  const name = `${connections} WebSockets with newHeads · ${node.name}`
  return [
    {
      ...row(`the last has a block: ${name}`, 'ms, less is better', lags),
      facts: { goalMs: 500, mostMs: Math.max(...lags), lost: sockets.failures.length },
    },
    { ...row(`memory of each: ${name}`, 'KB, less is better', [kbEach]), facts: { goalKb: 12 } },
  ]
}

/** @param workers numbers of RPC threads, each measured */
export function run({ workers = '0' }: { readonly workers?: string }): Promise<readonly Row[]> {
  return inFolder('sockets', async (folder) => {
    const world = await importWorld(folder)
    const payloads = await buildMixedBlocks(world, blocks)
    return withEachNode(world, workers, (node) => measure(node, payloads))
  })
}
