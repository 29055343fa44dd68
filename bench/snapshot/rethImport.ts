// Reads a generated database of the other client, made by our own test writer: accounts and slots a second of the reader alone, and of an import into an
// empty store with its root rebuilt. The page cache is warm.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
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
    const facts = { accounts, databaseMegabytes: Math.round(bytes.length / 1e6) }
    const [reader, loader]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      reader.push(readAll(path))
      loader.push(await loadAll(path, join(dir, `chain-${round}`)))
    }
    return [
      { ...row('reth reader alone', 'leaves/s', reader), facts },
      { ...row('reth import, root rebuilt', 'leaves/s', loader), facts },
    ]
  } finally {
    rmSync(dir, { recursive: true })
  }
}

const perSecond = (leaves: number, startMs: number): number => Math.round((1_000 * leaves) / (performance.now() - startMs))

/** Visits every account and slot. */
function readAll(path: string): number {
  using database = new Database(path)
  const startMs = performance.now()
  const state = new StateCursor(database)
  let leaves = 0
  let seen = 0
  for (let kind = state.next(); kind !== undefined; kind = state.next()) {
    leaves++
    seen += kind === 'account' ? (state.accountValue().codeHash?.length ?? 0) : state.slotKey.length + state.slotValue.length
  }
  if (seen === 0) throw new Error('nothing was read')
  return perSecond(leaves, startMs)
}

async function loadAll(path: string, dir: string): Promise<number> {
  using database = new Database(path)
  const startMs = performance.now()
  await using loader = await openStateLoader({ dir, source: path, command: 'bench' })
  await loadState({ signal: new AbortController().signal, onProgress: () => {} }, database, loader)
  loader.end()
  const { accounts, slots } = loader.counts
  return perSecond(accounts + slots, startMs)
}
