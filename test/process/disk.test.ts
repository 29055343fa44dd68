import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compactDatabase } from '#database/compact'
import { migrateDatabase } from '#database/migrate'
import { pruneDatabase } from '#database/prune'
import { datadirStats } from '#database/stats'
import { verifyDatabase } from '#database/verify'
import { systemClock } from '#lib/clock'
import type { FromNode } from '#test/harness/process/buildingNode'
import { rpcCall } from '#test/harness/process/cliProcess'
import { mountMemory, mountReadOnly, mountsRefused } from '#test/harness/process/mounts'

const base = mkdtempSync(join(tmpdir(), 'basalt-disk-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const refused = mountsRefused()
const title = (what: string): string => `process/disk: ${what}${refused === undefined ? '' : ` (skipped: ${refused})`}`
const script = resolve(import.meta.dirname, '../harness/process/buildingNode.ts')
const { signal } = new AbortController()
const deps = { clock: systemClock, signal, onProgress(): void {} }

type Head = { readonly number: number; readonly hash: string }

class BuildingNode implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  readonly heads: Head[] = []
  url = ''

  constructor(datadir: string, size: 'large' | 'small' = 'small') {
    this.#child = fork(script, [datadir, size], { execArgv: [], silent: true })
    this.#ended = once(this.#child, 'exit')
  }

  /** Resolves with the next message that is no head. */
  next(): Promise<FromNode | 'exit'> {
    const message = new Promise<FromNode>((found) => {
      const take = (received: unknown): void => {
        const sent = received as FromNode
        if (sent.kind === 'head') {
          this.heads.push({ number: sent.number, hash: sent.hash })
          return
        }
        this.#child.off('message', take)
        if (sent.kind === 'serving') this.url = sent.url
        found(sent)
      }
      this.#child.on('message', take)
    })
    return Promise.race([message, this.#ended.then(() => 'exit' as const)])
  }

  build(blocks: number): Promise<FromNode | 'exit'> {
    const next = this.next()
    this.#child.send(blocks)
    return next
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }
}

type Answer = { readonly hash: string; readonly transactions: readonly unknown[] } | null

/** Requires that every head reads as it was acknowledged, and the newest is the last one. */
async function requireHeads(url: string, heads: readonly Head[]): Promise<void> {
  for (const { number, hash } of heads) {
    const block = (await rpcCall(url, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, true])) as Answer
    expect([number, block?.hash, block?.transactions.length]).toEqual([number, hash, 7])
  }
  expect(Number(await rpcCall(url, 'eth_blockNumber'))).toBe(heads.at(-1)?.number)
}

it.skipIf(refused)(
  title('a node on a full disk of 64 MB refuses blocks (DISK_FULL), serves the others, continues with room, and loses none in a kill'),
  async () => {
    const mount = mountMemory(join(base, 'full'), '64m')
    using disk = mount ?? expect.fail('not mounted')
    const ballast = join(disk.dir, 'ballast')
    writeFileSync(ballast, Buffer.alloc(25 * 2 ** 20, 1))
    const datadir = join(disk.dir, 'data')
    const heads: Head[] = []
    {
      await using node = new BuildingNode(datadir, 'large')
      expect(await node.next()).toMatchObject({ kind: 'serving' })
      expect(await node.build(400)).toMatchObject({
        kind: 'fault',
        code: 'DISK_FULL',
        severity: 'retry',
        message: expect.stringContaining(`no space left to write to ${datadir}`),
      })
      const acknowledged = node.heads.length
      expect(acknowledged).toBeGreaterThan(1)
      await requireHeads(node.url, node.heads)
      rmSync(ballast)
      await expect.poll(() => node.build(4), { timeout: 60_000, interval: 500 }).toEqual({ kind: 'ended' })
      expect(node.heads.length).toBeGreaterThan(acknowledged)
      heads.push(...node.heads)
    }
    expect(await verifyDatabase(deps, { datadir })).toMatchObject({ done: true, found: 0 })
    await using node = new BuildingNode(datadir)
    expect(await node.next()).toMatchObject({ kind: 'serving' })
    await requireHeads(node.url, heads)
  },
  180_000,
)

/** A data directory after a kill, with segment files and a journal. */
const killed = join(base, 'killed')
const acknowledged: Head[] = []
beforeAll(async () => {
  await using node = new BuildingNode(killed)
  await node.next()
  expect(await node.build(90)).toEqual({ kind: 'ended' })
  await systemClock.delay(4_000)
  expect(await node.build(2)).toEqual({ kind: 'ended' })
  acknowledged.push(...node.heads)
}, 120_000)

it.skipIf(refused)(
  title('on a read-only disk a node and commands that write name the directory (DATADIR_UNWRITABLE), others read it'),
  async () => {
    const mount = mountReadOnly(killed, join(base, 'read-only'))
    using disk = mount ?? expect.fail('not mounted')
    const datadir = disk.dir
    await using node = new BuildingNode(datadir)
    const unwritable = {
      code: 'DATADIR_UNWRITABLE',
      severity: 'fatal',
      message: expect.stringContaining(`${join(datadir, 'chain')} cannot be written: `),
    }
    expect(await node.next()).toMatchObject({ kind: 'fault', ...unwritable })
    await expect(compactDatabase(deps, datadir)).rejects.toMatchObject(unwritable)
    await expect(pruneDatabase(deps, datadir, { blocks: 5 })).rejects.toMatchObject(unwritable)
    await expect(migrateDatabase(deps, datadir)).rejects.toMatchObject(unwritable)
    // the position is due after each run, and cannot be written
    let nowMs = 0
    const notSaved: unknown[] = []
    const verifying = {
      ...deps,
      clock: { ...systemClock, elapsedMs: () => nowMs },
      onProgress(): void {
        nowMs += 11_000
      },
      onNotSaved: (error: unknown): void => void notSaved.push(error),
    }
    expect(await verifyDatabase(verifying, { datadir })).toMatchObject({ done: true, found: 0 })
    expect(notSaved).toEqual([expect.objectContaining({ code: 'VERIFY_NOT_SAVED' })])
    expect(await datadirStats(datadir)).toMatchObject({ segments: [{ table: 'headers' }, { table: 'bodies' }, { table: 'receipts' }] })
  },
  120_000,
)

/** Returns one file of each kind, relative to the data directory. */
function filesOf(datadir: string): string[] {
  const files = readdirSync(datadir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map((entry) => relative(datadir, join(entry.parentPath, entry.name))).sort()
  const kindOf = (path: string): string => path.replace(/[0-9a-f]{64}|\d{12}/g, '')
  return paths.filter(
    (path, at) => paths.findIndex((other) => kindOf(other) === kindOf(path)) === at && statSync(join(datadir, path)).size > 0,
  )
}

const damages: Readonly<Record<string, (path: string) => void>> = {
  'cut off': (path) => truncateSync(path, statSync(path).size >> 1),
  flipped(path) {
    const bytes = readFileSync(path)
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 0xff
    writeFileSync(path, bytes)
  },
}

/** Returns the answers for acknowledged blocks that are neither right nor an error. A block above the head is not known. */
async function wrongAnswers(url: string): Promise<unknown[]> {
  const head = Number(await rpcCall(url, 'eth_blockNumber'))
  const wrong: unknown[] = []
  for (const { number, hash } of acknowledged) {
    const asked = rpcCall(url, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, true]) as Promise<Answer>
    const block = await asked.catch(() => 'error' as const)
    if (block === 'error' || (number > head && block === null)) continue
    if (block?.hash !== hash || block.transactions.length !== 31) wrong.push({ number, block: block?.hash })
  }
  return wrong
}

/** Starts a node on a copy with one damaged file, and reads all acknowledged blocks. */
async function requireNoWrongAnswer(file: string, name: string, damage: (path: string) => void): Promise<void> {
  const datadir = join(base, 'damaged')
  rmSync(datadir, { recursive: true, force: true })
  cpSync(killed, datadir, { recursive: true })
  damage(join(datadir, file))
  await using node = new BuildingNode(datadir)
  const started = await node.next()
  // LMDB ends the process at some pages: the parent process of `basalt node` names the file
  if (started === 'exit') expect(file).toBe('chain/data.mdb')
  else if (started.kind === 'fault') expect([file, name, started.message]).toEqual([file, name, expect.stringContaining(datadir)])
  else expect([file, name, await wrongAnswers(node.url)]).toEqual([file, name, []])
}

it('process/disk: with any file cut off or a byte flipped, a start names the file or its directory, or the node answers rightly or with errors', async () => {
  const files = filesOf(killed)
  const kinds = ['chain/data.mdb', 'chain/journal', 'chain/segments/headers', 'chain/segments/bodies', 'chain/segments/receipts']
  for (const kind of kinds) expect(files.some((file) => file.startsWith(kind))).toBe(true)
  for (const file of files) for (const [name, damage] of Object.entries(damages)) await requireNoWrongAnswer(file, name, damage)
}, 600_000)
