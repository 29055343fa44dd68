// Snapshots of a generated state: how fast one is made and restored, and the times of the parts of a restore.
// npm run bench -- snapshot [--accounts 100000] [--slots 1000000] [--rounds 1] [--dir DIR]
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { systemClock } from '#lib/clock'
import { createSnapshot } from '#snapshot/create/createSnapshot'
import { restoreSnapshot, verifySnapshot } from '#snapshot/restore/restoreSnapshot'
import { type Row, row } from '../format.ts'
import { inFolder } from '../rpc/servers.ts'
import type { StateOptions } from '../state/make.ts'
import { createProgress } from '../state/progress.ts'
import { makeStateWorld, readStateWorld, type StateWorld } from '../state/world.ts'

type Options = StateOptions & { readonly rounds?: number }
type Timed<T> = { readonly result: T; readonly seconds: number; readonly cpuSeconds: number }

async function timed<T>(work: () => Promise<T>): Promise<Timed<T>> {
  const [startMs, startCpu] = [performance.now(), process.cpuUsage()]
  const result = await work()
  const { user, system } = process.cpuUsage(startCpu)
  return { result, seconds: (performance.now() - startMs) / 1_000, cpuSeconds: (user + system) / 1e6 }
}

/** Writes a file of random bytes, from one buffer, and flushes it. */
async function writeFlushed(path: string, size: number): Promise<void> {
  const file = openSync(path, 'w')
  const bytes = randomBytes(2 ** 22)
  for (let left = size; left > 0; left -= bytes.length) writeSync(file, bytes, 0, Math.min(left, bytes.length))
  fsyncSync(file)
  closeSync(file)
  rmSync(path)
}

async function worldIn(dir: string, { accounts = 100_000, slots = 1_000_000, seed = 1 }: Options): Promise<StateWorld> {
  if (existsSync(join(dir, 'genesis.json'))) return readStateWorld(dir)
  const progress = createProgress(accounts + slots, 'accounts and slots')
  const world = await makeStateWorld(dir, { seed, accounts, slots }, (own) => progress.add(1 + own))
  progress.end()
  return world
}

async function measure(folder: string, options: Options): Promise<readonly Row[]> {
  const world = await worldIn(options.dir ?? join(folder, 'source'), options)
  const { config } = world
  const { signal } = new AbortController()
  const deps = { clock: systemClock, fetch, signal, onProgress: (): void => {} }
  const out = join(folder, 'snapshot')
  const signingKey = generateKeyPairSync('ed25519').privateKey
  const rates: Record<string, number[]> = {}
  const add = (name: string, unit: string, value: number): void => {
    const key = `${name}|${unit}`
    rates[key] = [...(rates[key] ?? []), value]
  }
  for (let round = 0; round < (options.rounds ?? 1); round++) {
    rmSync(out, { recursive: true, force: true })
    const made = await timed(() =>
      createSnapshot(
        { signal, onProgress: () => {} },
        { chainDir: join(world.dir, 'chain'), out, config, flavour: 'minimal', key: signingKey },
      ),
    )
    const manifest = made.result?.manifest
    if (manifest === undefined) throw new Error('no snapshot')
    const leaves = manifest.accounts + manifest.slots
    const from = { from: out, config, given: manifest.block.hash }
    const verified = await timed(() => verifySnapshot(deps, from))
    const datadir = join(folder, `restored-${round}`)
    const restored = await timed(() => restoreSnapshot(deps, { ...from, datadir, command: 'again' }))
    const written = await timed(() => writeFlushed(join(folder, 'bytes'), statSync(join(datadir, 'chain', 'data.mdb')).size))
    rmSync(datadir, { recursive: true })
    const unpacked = await timed(async () => {
      for (const name of readdirSync(out)) if (name.endsWith('.zst')) zstdDecompressSync(readFileSync(join(out, name)))
    })
    for (const [name, { seconds, cpuSeconds }] of Object.entries({ create: made, verify: verified, restore: restored })) {
      add(name, 'leaves/s', leaves / seconds)
      add(`${name}, for each second of processor time`, 'leaves', leaves / cpuSeconds)
    }
    add('disk: as many bytes as the restored store has, written and flushed', 'leaves/s', leaves / written.seconds)
    add('restore, of the slower of disk and zstd', 'share', Math.max(written.seconds, unpacked.seconds) / restored.seconds)
    add('zstd of all chunks alone', 'leaves/s', leaves / unpacked.seconds)
    add('size of the snapshot for a leaf', 'bytes, less is better', manifest.chunks.reduce((sum, { size }) => sum + size, 0) / leaves)
  }
  add('maximum memory of the process, pages of the databases included', 'MB, less is better', process.resourceUsage().maxRSS / 1e3)
  return Object.entries(rates).map(([name, runs]) => row(name.split('|')[0] ?? '', name.split('|')[1] ?? '', runs))
}

export const run = (options: Options): Promise<readonly Row[]> => inFolder('snapshot', (folder) => measure(folder, options))
