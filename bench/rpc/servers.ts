import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type CliProcess, runCliProcess, startCli } from '#test/harness/process/cliProcess'
import { readShared, readSharedJson, sharedDataDir } from '#test/harness/sharedData'

/** A JSON-RPC server over HTTP, in its own process. */
export interface Server extends AsyncDisposable {
  readonly name: string
  readonly url: string
}

export type BenchNode = Server & { readonly wsUrl: string; readonly engineUrl: string; readonly jwtFile: string; readonly pid: number }

/** The files of a chain, and a data directory that holds its blocks. */
export type World = { readonly folder: string; readonly genesisFile: string; readonly rollupFile: string; readonly datadir: string }

/** A genesis as its difference from Base mainnet's. */
export type GenesisNote = {
  readonly config: Readonly<Record<string, unknown>>
  readonly genesisTimestamp: number
  readonly extraAlloc: unknown
}

/** A rollup config for a bench's chain: without derivation only its forks matter. */
export function rollupOf(genesis: GenesisNote, genesisHash: string): unknown {
  const base = readSharedJson<Record<string, unknown> & { genesis: Record<string, unknown> }>('chains/op-bedrock-to-holocene/rollup.json')
  const times = Object.entries(genesis.config).filter(([name]) =>
    /^(canyon|delta|ecotone|fjord|granite|holocene|isthmus|jovian)Time$/.test(name),
  )
  return {
    ...base,
    ...Object.fromEntries(times.map(([name, time]) => [`${name.slice(0, -4)}_time`, time])),
    l2_chain_id: genesis.config['chainId'],
    genesis: { ...base.genesis, l2: { hash: genesisHash, number: 0 }, l2_time: genesis.genesisTimestamp },
  }
}

/** Imports the recorded blocks by `basalt import`. @throws Error when it fails */
export async function importWorld(folder: string): Promise<World> {
  const blocksFile = join(folder, 'blocks.jsonl')
  const lines = readShared('bench/mixed-42-blocks.jsonl.zst')
  writeFileSync(blocksFile, lines)
  const { p: first } = JSON.parse(lines.toString('utf8', 0, lines.indexOf('\n'))) as { p: { parentHash: string } }
  const genesisFile = resolve(sharedDataDir, 'bench/mixed-42-blocks.genesis.json')
  const rollupFile = join(folder, 'rollup.json')
  writeFileSync(rollupFile, JSON.stringify(rollupOf(readSharedJson('bench/mixed-42-blocks.genesis.json'), first.parentHash)))
  const datadir = join(folder, 'imported')
  const { code, stderr } = await runCliProcess(['import', blocksFile, '--genesis', genesisFile, '--datadir', datadir])
  if (code !== 0) throw new Error(`the import failed: ${stderr}`)
  return { folder, genesisFile, rollupFile, datadir }
}

/**
 * A node over a copy of the world's data directory.
 * @param workers number of RPC threads; 0: the main thread
 * @param more further flags
 */
export async function startNode(world: World, workers: number, more: readonly string[] = []): Promise<BenchNode> {
  const datadir = mkdtempSync(join(world.folder, 'node-'))
  cpSync(world.datadir, datadir, { recursive: true })
  const jwtFile = join(datadir, 'jwt.hex')
  const node: CliProcess = startCli([
    ...['node', '--mode', 'execution', '--rollup.config', world.rollupFile, '--genesis', world.genesisFile, '--datadir', datadir],
    ...['--http.port', '0', '--ws.port', '0', '--engine.port', '0', '--metrics.port', 'off', '--jwt', jwtFile, '--log.format', 'json'],
    ...['--rpc.workers', String(workers), '--http.api', 'all', '--ws.api', 'all'],
    ...more,
  ])
  const url = async (field: string): Promise<string> => (await node.until(new RegExp(`"${field}":"([^"]+)"`)))[1] ?? ''
  const [http, wsUrl, engineUrl] = [await url('rpc'), await url('ws'), await url('engine')]
  return {
    name: `workers ${workers}`,
    ...{ url: http, wsUrl, engineUrl, jwtFile, pid: node.child.pid ?? 0 },
    [Symbol.asyncDispose]: () => node[Symbol.asyncDispose](),
  }
}

/**
 * Makes a folder for the duration of a run.
 * @param name of the suite
 */
export async function inFolder<T>(name: string, run: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), `basalt-bench-${name}-`))
  try {
    return await run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts one node after the other, each with another number of RPC threads. @param workers comma-separated */
export async function withEachNode<T>(
  world: World,
  workers: string,
  measure: (node: BenchNode) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const all: T[] = []
  for (const count of workers.split(',').map(Number)) {
    await using node = await startNode(world, count)
    all.push(...(await measure(node)))
  }
  return all
}

/** Starts the reference server. */
export async function startBare(): Promise<Server> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bareServer.ts')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
  return {
    name: 'bare node:http',
    url: `http://127.0.0.1:${Number(chunk.toString())}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await once(child, 'close')
    },
  }
}
