// Reads a generated database of the other client, made by our own test writer: accounts and slots a second of the reader alone, and of an import into an
// empty store with its root rebuilt. The page cache is warm. `cpu` rows count the processor time of all threads instead of the time that passes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStateLoader } from '#snapshot/load/stateLoader'
import { loadState } from '#snapshot/reth/loadState'
import { Database } from '#snapshot/reth/mdbx/database'
import { StateCursor } from '#snapshot/reth/tables/stateCursor'
import { type Row, row } from '../format.ts'
import { rethDatabase } from './rethState.ts'

type Options = { readonly accounts?: number; readonly slots?: number; readonly seed?: number; readonly rounds?: number }

const pageSize = 4_096

export async function run({ accounts = 200_000, slots = 1_000_000, seed = 1, rounds = 3 }: Options): Promise<readonly Row[]> {
  const dir = mkdtempSync(join(tmpdir(), 'basalt-bench-reth-'))
  try {
    const path = join(dir, 'mdbx.dat')
    const bytes = rethDatabase({ accounts, slots, seed }, pageSize)
    writeFileSync(path, bytes)
    const facts = { accounts, databaseMegabytes: Math.round(bytes.length / 1e6), loadAverage: Math.round(loadavg()[0] ?? 0) }
    const [reader, loader]: [Rates[], Rates[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      reader.push(await measured(() => readAll(path)))
      loader.push(await measured(() => loadAll(path, join(dir, `chain-${round}`))))
    }
    const rowOf = (name: string, rates: readonly Rates[], of: keyof Rates): Row => ({
      ...row(
        name,
        of === 'cpu' ? 'leaves/s of processor time' : 'leaves/s',
        rates.map((rate) => rate[of]),
      ),
      facts,
    })
    return [
      rowOf('reth reader alone', reader, 'wall'),
      rowOf('reth reader alone, cpu', reader, 'cpu'),
      rowOf('reth import, root rebuilt', loader, 'wall'),
      rowOf('reth import, root rebuilt, cpu', loader, 'cpu'),
    ]
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** Accounts and slots a second, of time and of processor time. */
type Rates = { readonly wall: number; readonly cpu: number }

async function measured(run: () => number | Promise<number>): Promise<Rates> {
  const before = process.cpuUsage()
  const startMs = performance.now()
  const leaves = await run()
  const ms = performance.now() - startMs
  const { user, system } = process.cpuUsage(before)
  return { wall: Math.round((1_000 * leaves) / ms), cpu: Math.round((1_000_000 * leaves) / (user + system)) }
}

/** Visits every account and slot. */
function readAll(path: string): number {
  using database = new Database(path)
  const state = new StateCursor(database)
  let leaves = 0
  let seen = 0
  for (let kind = state.next(); kind !== undefined; kind = state.next()) {
    leaves++
    seen += kind === 'account' ? (state.accountValue().codeHash?.length ?? 0) : state.slotKey.length + state.slotValue.length
  }
  if (seen === 0) throw new Error('nothing was read')
  return leaves
}

async function loadAll(path: string, dir: string): Promise<number> {
  using database = new Database(path)
  await using loader = await openStateLoader({ dir, source: path, command: 'bench' })
  await loadState({ signal: new AbortController().signal, onProgress: () => {} }, database, loader)
  loader.end()
  const { accounts, slots } = loader.counts
  return accounts + slots
}
