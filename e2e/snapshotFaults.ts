// npm run faults:snapshot -- [--slots 600000] [--cut-sec 60] [--kinds network,disk]: cuts the network of a restore and of an import for a minute, once with
// connections that are closed and once with ones that stay silent; fills the disk of a create, a restore and an import (as root: file systems in memory). Each
// ends with the rows, or chunks, of an undisturbed run: after a cut by itself, after a full disk when the same command runs again.
import {
  closeSync,
  createReadStream,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { mountMemory } from '#test/harness/process/mounts'
import { rethDatabase } from '../bench/snapshot/rethState.ts'
import { makeStateWorld } from '../bench/state/world.ts'
import { chainFlags, digestOf, rethArgs, run, snapshotArgs, start, wholeMs } from './crash/snapshotRuns.ts'
import { must } from './crash/tally.ts'

const { values } = parseArgs({
  options: {
    slots: { type: 'string', default: '600000' },
    'cut-sec': { type: 'string', default: '60' },
    kinds: { type: 'string', default: 'network,disk' },
  },
})
const slots = Number(values.slots)
const cutMs = Number(values['cut-sec']) * 1_000
const kinds = values.kinds.split(',')
const folder = mkdtempSync(join(tmpdir(), 'basalt-snapshot-faults-'))
const fixture = resolve(import.meta.dirname, '../test/fixtures/reth')

type ArgsOf = (datadir: string, source: string) => readonly string[]
type Cut = 'closed' | 'silent'
type Cutting = { readonly url: string; readonly cuts: number } & AsyncDisposable

/** Serves a folder with ranges. After some bytes it is cut once for a while. */
async function serveWithCut(dir: string, cut: Cut, afterBytes: number): Promise<Cutting> {
  let [sent, cuts, isCut] = [0, 0, false]
  const sockets = new Set<Socket>()
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    if (isCut) return void (cut === 'closed' && request.socket.destroy())
    const path = join(dir, basename(new URL(request.url ?? '/', 'http://x').pathname))
    if (!existsSync(path)) return void response.writeHead(404).end()
    const size = statSync(path).size
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    const headers = { 'content-length': size - from, 'content-range': `bytes ${from}-${size - 1}/${size}` }
    response.writeHead(from > 0 ? 206 : 200, headers)
    const file = createReadStream(path, { start: from, highWaterMark: 16_384 })
    file.on('data', (bytes) => {
      if (isCut) return
      sent += bytes.length
      if (sent > afterBytes && cuts === 0) begin()
      response.write(bytes)
    })
    file.once('end', () => !isCut && response.end())
  })
  const begin = (): void => {
    cuts++
    isCut = true
    if (cut === 'closed') for (const socket of sockets) socket.destroy()
    setTimeout(() => {
      isCut = false
      // silent connections are not resumed
      for (const socket of sockets) socket.destroy()
    }, cutMs)
  }
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

const bytesIn = (dir: string): number => readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0)

async function cutNetwork(name: string, dir: string, argsOf: ArgsOf, expected: string): Promise<void> {
  for (const cut of ['closed', 'silent'] as const) {
    await using served = await serveWithCut(dir, cut, bytesIn(dir) / 3)
    const datadir = join(folder, `${name}-${cut}`)
    const ms = await wholeMs(argsOf(datadir, served.url))
    must(served.cuts === 1 && ms > cutMs, `${name}: ${served.cuts} cuts, ${ms} ms`)
    must((await digestOf(join(datadir, 'chain'))) === expected, `${name}: the rows differ after a cut`)
    rmSync(datadir, { recursive: true })
    console.log(`network ${cut}, ${name}: whole after ${Math.round(ms / 1_000)} s`)
  }
}

/** Fills what is left of a disk. */
function fill(dir: string): string {
  const path = join(dir, 'filler')
  const file = openSync(path, 'w')
  const bytes = Buffer.alloc(2 ** 16, 1)
  try {
    for (;;) if (writeSync(file, bytes) < bytes.length) break
  } catch {
    // the disk is full
  } finally {
    closeSync(file)
  }
  return path
}

/** Fills the disk when a run has written some bytes there, and runs again when it has ended. @returns false when this user may not mount */
async function fillDisk(
  name: string,
  sizeMb: number,
  dirty: number,
  args: (dir: string) => readonly string[],
  faults: RegExp,
): Promise<string | undefined> {
  const dir = join(folder, `disk-${name}`)
  const disk = mountMemory(dir, `${sizeMb}m`)
  if (disk === undefined) return undefined
  try {
    const free = (): number => statfsSync(dir).bavail * statfsSync(dir).bsize
    const before = free()
    const { ended } = start(args(dir))
    let isRunning = true
    void ended.then(() => {
      isRunning = false
    })
    while (isRunning && before - free() < dirty) await sleep(5)
    const filler = fill(dir)
    const { code, err } = await ended
    must(code !== 0 && faults.test(err), `${name}: exit code ${code} on a full disk: ${err}`)
    rmSync(filler)
    const again = await run(args(dir))
    must(again.code === 0, `${name}: exit code ${again.code} after a full disk: ${again.err}`)
    const fault = faults.exec(err)?.[0] ?? ''
    console.log(`disk full, ${name}: ${fault}, then whole`)
    return existsSync(join(dir, 'd', 'chain'))
      ? await digestOf(join(dir, 'd', 'chain'))
      : readdirSync(join(dir, 'd'))
          .filter((file) => /\.(?:zst|seg)$/.test(file))
          .sort()
          .join()
  } finally {
    disk[Symbol.dispose]()
  }
}

const world = await makeStateWorld(join(folder, 'source'), { seed: 1, accounts: Math.ceil(slots / 20), slots }, () => {})
const out = join(folder, 'snapshot')
await wholeMs(snapshotArgs('create', ...chainFlags(world), '--datadir', world.dir, '--out', out))
const given = ['--start.block-hash', world.config.genesis.l2.hash]
const restoreArgs: ArgsOf = (datadir, source) => snapshotArgs('restore', source, ...chainFlags(world), '--datadir', datadir, ...given)
const stateDigest = await digestOf(join(world.dir, 'chain'))
if (kinds.includes('network')) {
  const reference = join(folder, 'reference')
  await wholeMs(rethArgs(reference, fixture))
  await cutNetwork('restore', out, restoreArgs, stateDigest)
  await cutNetwork('import', fixture, rethArgs, await digestOf(join(reference, 'chain')))
}
if (kinds.includes('disk')) {
  const full = /DISK_FULL|SNAPSHOT_UNWRITABLE|SNAPSHOT_DISK_FULL/
  const chunks = readdirSync(out)
    .filter((name) => /\.(?:zst|seg)$/.test(name))
    .sort()
    .join()
  const createArgs = (dir: string): readonly string[] =>
    snapshotArgs('create', ...chainFlags(world), '--datadir', world.dir, '--out', join(dir, 'd'))
  const made = await fillDisk('create', 200, 2 ** 20, createArgs, full)
  must(made === undefined || made === chunks, 'create: other chunks after a full disk')
  const restored = await fillDisk('restore', 600, 100_000, (dir) => restoreArgs(join(dir, 'd'), out), full)
  must(restored === undefined || restored === stateDigest, 'restore: other rows after a full disk')
  const database = join(folder, 'mdbx.dat')
  writeFileSync(database, rethDatabase({ accounts: Math.ceil(slots / 5), slots, seed: 1 }, 4_096))
  const reference = join(folder, 'loaded')
  await wholeMs(rethArgs(reference, database))
  const loaded = await fillDisk('import', 600, 100_000, (dir) => rethArgs(join(dir, 'd'), database), full)
  must(loaded === undefined || loaded === (await digestOf(join(reference, 'chain'))), 'import: other rows after a full disk')
  if (made === undefined) console.log('disk full: skipped, this user may not mount file systems')
}
rmSync(folder, { recursive: true })
