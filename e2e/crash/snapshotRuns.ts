import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readHead } from '#blockchain/chainStore'
import { openProofs } from '#proofs/openProofs'
import { readLoadMark } from '#state/loadMark'
import { openChainKv } from '#store/chainTables'
import type { Kv } from '#store/ports'
import { proofsTables, type TableSpec, tables } from '#store/tables'
import { deletionsIn, metaRows, nodeCounts, runsIn } from '#test/harness/store/digestedRows'
import type { StateWorld } from '../../bench/state/world.ts'
import { must } from './tally.ts'

const main = new URL('../../src/cli/main.ts', import.meta.url).pathname
const rethImport = new URL('./rethImport.ts', import.meta.url).pathname
const stateTables = [tables.accounts, tables.storage, tables.code, tables.accountNodes, tables.storageNodes]

/** Exit code; undefined: killed. */
export type Ended = { readonly code: number | undefined; readonly err: string }
export type Running = { readonly ended: Promise<Ended>; kill(): void }

/** Arguments of `basalt snapshot …`, or of the child that imports a snapshot of the other client. */
export const snapshotArgs = (...args: readonly string[]): readonly string[] => [main, 'snapshot', ...args]
export const rethArgs = (datadir: string, source: string): readonly string[] => [rethImport, datadir, source]
export const chainFlags = ({ rollupFile, genesisFile }: Pick<StateWorld, 'rollupFile' | 'genesisFile'>): string[] => [
  '--rollup.config',
  rollupFile,
  '--genesis',
  genesisFile,
]

export function start(args: readonly string[]): Running {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let err = ''
  child.stderr.on('data', (bytes) => {
    err += String(bytes)
  })
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => resolve({ code: signal === 'SIGKILL' ? undefined : (code ?? 1), err }))
  })
  return { ended, kill: () => child.kill('SIGKILL') }
}

/** Runs a command, and kills it after a time. */
export async function run(args: readonly string[], killAfterMs?: number): Promise<Ended> {
  const { ended, kill } = start(args)
  const timer = killAfterMs === undefined ? undefined : setTimeout(kill, killAfterMs)
  const end = await ended
  clearTimeout(timer)
  return end
}

/** Runs a command to its end. @returns its time */
export async function wholeMs(args: readonly string[]): Promise<number> {
  const startMs = performance.now()
  const { code, err } = await run(args)
  must(code === 0, `${args.slice(1).join(' ')}: exit code ${code}: ${err}`)
  return performance.now() - startMs
}

function digestIn(kv: Kv, of: readonly TableSpec[]): string {
  using reader = kv.snapshot()
  const hash = createHash('sha256')
  for (const { id } of of) for (const { key, value } of reader.range(id, {})) hash.update(key).update(value)
  return hash.digest('hex')
}

/** Digest of the rows of a state. */
export async function digestOf(chainDir: string): Promise<string> {
  await using kv = openChainKv(chainDir)
  return digestIn(kv, stateTables)
}

/**
 * Digest of the rows of a state and of its history, and of the recorded proofs, if there are any. Digests of rows and nodes have another key in each database,
 * so indices count by their runs and blocks only, and trie nodes by their number in each block.
 */
export async function digestWithHistory(datadir: string): Promise<string> {
  await using kv = openChainKv(join(datadir, 'chain'))
  const parts = [digestIn(kv, [...stateTables, tables.changes])]
  {
    using reader = kv.snapshot()
    parts.push(...metaRows(reader), ...runsIn(reader, tables.historyIndex), ...deletionsIn(reader, tables.historyIndex))
  }
  if (existsSync(join(datadir, 'proofs'))) {
    await using proofs = openProofs(join(datadir, 'proofs'))
    const { canonical, values, historyIndex, nodeIndex } = proofsTables
    parts.push(digestIn(proofs, [canonical, values]))
    using reader = proofs.snapshot()
    parts.push(...metaRows(reader), ...runsIn(reader, historyIndex), ...deletionsIn(reader, historyIndex))
    parts.push(...runsIn(reader, nodeIndex), ...nodeCounts(reader))
  }
  return createHash('sha256').update(parts.join('\n')).digest('hex')
}

/** Returns whether a store has an interrupted load with rows, of the state or of older values. */
export async function isInLoad(datadir: string): Promise<boolean> {
  if (!existsSync(join(datadir, 'chain', 'data.mdb'))) return false
  await using kv = openChainKv(join(datadir, 'chain'))
  using reader = kv.snapshot()
  const mark = readLoadMark(reader)
  return mark !== undefined && (mark.progress.length > 0 || readHead(reader) !== undefined)
}
