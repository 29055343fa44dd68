import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createEngineHttp } from '#engine/engineHttp'
import type { Engine } from '#engine/port'
import { systemClock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { startCli } from '#test/harness/process/cliProcess'
import { everyMs, type ThreadMemory } from './threadMemory.ts'
import type { StateWorld } from './world.ts'

const preload = pathToFileURL(join(import.meta.dirname, 'threadMemory.ts')).href

/** A node in its own process over a generated state, and a client of its Engine API. */
/** Percent of the reads that a cache has answered: of trie nodes for state roots, and of codes that messages run. */
export type CachedReads = { readonly nodes: number; readonly code: number }

export type StateNode = AsyncDisposable & {
  readonly url: string
  readonly engine: Engine
  readonly pid: number
  /** from the start of the process until it serves */
  readonly startMs: number
  /** Returns the lines that the node has logged. */
  readonly logged: () => readonly string[]
  /** Returns the part of the reads that caches of execution have answered since the start, in percent. */
  readonly cachedReads: () => Promise<CachedReads>
  /** Returns the memory that the caches hold, and that of each thread some seconds ago. */
  readonly memory: () => Promise<NodeMemory>
}

export type NodeMemory = { readonly cachesMb: number; readonly threads: readonly ThreadMb[] }

/** Memory of the threads of one name: heaps of JavaScript, buffers, and other allocations of V8. */
export type ThreadMb = {
  readonly name: string
  readonly threads: number
  readonly heapMb: number
  readonly bufferMb: number
  readonly ownMb: number
}

/**
 * Starts a node on the data directory itself: it is too large to copy for each run.
 * @param onStart called with the process's id before the process has read anything
 * @param flags further ones
 */
export async function startStateNode(
  { dir, config, rollupFile, genesisFile }: StateWorld,
  onStart: (pid: number) => void = () => {},
  flags: readonly string[] = [],
): Promise<StateNode> {
  const threadsFile = join(dir, 'threads.jsonl')
  rmSync(threadsFile, { force: true })
  const env = { NODE_OPTIONS: `--import ${preload}`, BENCH_THREAD_MEMORY: threadsFile }
  const jwtFile = join(dir, 'jwt.hex')
  const beganMs = performance.now()
  const own = [
    ...['node', '--mode', 'execution', '--rollup.config', rollupFile, '--genesis', genesisFile, '--datadir', dir, '--jwt', jwtFile],
    ...['--http.port', '0', '--ws.port', 'off', '--engine.port', '0', '--metrics.port', '0', '--rpc.workers', '0', '--log.format', 'json'],
  ]
  const node = startCli([...own, ...flags], env)
  const pid = node.child.pid ?? 0
  onStart(pid)
  const urlOf = async (field: string): Promise<string> => (await node.until(new RegExp(`"${field}":"([^"]+)"`)))[1] ?? ''
  const [url, engineUrl, metricsUrl] = [await urlOf('rpc'), await urlOf('engine'), await urlOf('metrics')]
  const startMs = performance.now() - beganMs
  const secret = fromHex(`0x${readFileSync(jwtFile, 'latin1').trim().replace(/^0x/, '')}`)
  const deps = { fetch, clock: systemClock, log: silentLog }
  const engine = createEngineHttp(deps, { url: engineUrl, jwtSecret: () => secret, config, timeoutMs: 60_000 })
  const logged = (): readonly string[] => node.output().stderr.split('\n')
  const cachedReads = (): Promise<CachedReads> => readCachedReads(metricsUrl)
  const memory = (): Promise<NodeMemory> => readMemory(metricsUrl, threadsFile)
  return { url, engine, pid, startMs, logged, cachedReads, memory, [Symbol.asyncDispose]: () => stop(node) }
}

const metricsOf = async (metricsUrl: string): Promise<string> => (await fetch(`${metricsUrl}/metrics`)).text()

async function readMemory(metricsUrl: string, threadsFile: string): Promise<NodeMemory> {
  const text = await metricsOf(metricsUrl)
  const held = [...text.matchAll(/^basalt_cache_held_bytes\{.*\} (\d+)$/gm)].reduce((sum, [, bytes]) => sum + Number(bytes), 0)
  return { cachesMb: held / 2 ** 20, threads: threadsOf(readFileSync(threadsFile, 'utf8').trim().split('\n')) }
}

/** Returns the sums of the last lines of each thread that still writes some, by name. */
function threadsOf(lines: readonly string[]): readonly ThreadMb[] {
  const memories = lines.map((line) => JSON.parse(line) as ThreadMemory)
  const sinceMs = Date.now() - 3 * everyMs
  const last = [...new Map(memories.filter(({ atMs }) => atMs > sinceMs).map((memory) => [memory.id, memory])).values()]
  return [...Map.groupBy(last, ({ name }) => name)].map(([name, threads]) => {
    const mb = (bytes: (thread: ThreadMemory) => number): number => threads.reduce((sum, thread) => sum + bytes(thread), 0) / 2 ** 20
    const [heapMb, bufferMb, ownMb] = [
      mb(({ heapBytes }) => heapBytes),
      mb(({ bufferBytes }) => bufferBytes),
      mb(({ ownBytes }) => ownBytes),
    ]
    return { name: name === '' ? 'main' : name, threads: threads.length, heapMb, bufferMb, ownMb }
  })
}

async function readCachedReads(metricsUrl: string): Promise<CachedReads> {
  const text = await metricsOf(metricsUrl)
  const percentOf = (cache: keyof CachedReads): number => {
    const [hits, misses] = ['hits', 'misses'].map((name) => {
      return Number(new RegExp(`^basalt_cache_${name}_total{cache="${cache}"} (\\d+)$`, 'm').exec(text)?.[1])
    })
    return (100 * (hits ?? 0)) / ((hits ?? 0) + (misses ?? 0))
  }
  return { nodes: percentOf('nodes'), code: percentOf('code') }
}

/** Ends a node in order, so that all its blocks are committed. */
async function stop(node: ReturnType<typeof startCli>): Promise<void> {
  node.child.kill('SIGTERM')
  await node.ended()
}

/** Returns the milliseconds of each transaction of blocks, from the lines of a log with level debug. */
export function commitTimes(lines: readonly string[]): readonly number[] {
  return lines.filter((line) => line.includes('"committed"')).map((line) => (JSON.parse(line) as { ms: number }).ms)
}
