import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { initProofs, pruneProofs, unwindProofs } from '#database/proofs/changeRecorded'
import { verifyRecorded } from '#database/proofs/verifyRecorded'
import { systemClock } from '#lib/clock'
import { openProofs } from '#proofs/openProofs'
import { openChainKv } from '#store/chainTables'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { ModelChain } from '#test/harness/chain/modelChain'
import { anyBlock } from '#test/harness/chain/stateModel'
import { extendChain, startChain } from '#test/harness/process/builtChain'
import { type Mount, mountMemory, mountsRefused } from '#test/harness/process/mounts'

const base = mkdtempSync(join(tmpdir(), 'basalt-proofs-disk-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const refused = mountsRefused()
const title = (what: string): string => `process/proofsDisk: ${what}${refused === undefined ? '' : ` (skipped: ${refused})`}`
const deps = { clock: systemClock, signal: new AbortController().signal, random: (): number => 0, onProgress(): void {} }
const blocks = fc.sample(anyBlock, { seed: 3, numRuns: 300 })
const pageBytes = 4_096

/** Fills a disk but for some pages. */
function fill({ dir }: Mount, freePages = 0): void {
  const name = (i: number): string => join(dir, `ballast-${i}`)
  let files = 0
  try {
    for (;;) writeFileSync(name(files++), Buffer.alloc(pageBytes, 1))
  } catch {
    for (let i = 1; i <= freePages + 1; i++) rmSync(name(files - i), { force: true })
  }
}

function free({ dir }: Mount): void {
  for (const name of readdirSync(dir)) if (name.startsWith('ballast')) rmSync(join(dir, name))
}

/** Makes a chain in a data directory. @returns the chain, whose tables are open */
function chainIn(datadir: string, count: number): ModelChain {
  const kv = openChainKv(join(datadir, 'chain'))
  agreeOnSchema(kv, chainSchema)
  const chain = new ModelChain(kv)
  for (let i = 0; i < count; i++) chain.append(blocks[i] ?? [])
  return chain
}

const mounted = (name: string): Mount => mountMemory(join(base, name), '16m') ?? expect.fail('not mounted')
const isFull = (dir: string): object => ({ code: 'DISK_FULL', message: expect.stringContaining(`no space left to write to ${dir}: `) })

it.skipIf(refused)(
  title('init, prune and unwind of proofs on a full disk name it, and the same command goes on with room (DISK_FULL)'),
  async () => {
    const datadir = join(base, 'commands')
    await chainIn(datadir, 300).kv[Symbol.asyncDispose]()
    using disk = mounted('commands-disk')
    const place = { datadir, path: join(disk.dir, 'proofs') }
    const verified = async (earliest: number, latest: number): Promise<void> =>
      expect(await verifyRecorded(deps, place, 'all')).toMatchObject({
        done: true,
        earliest,
        latest,
        blocks: latest - earliest,
        differences: [],
      })
    await openProofs(place.path)[Symbol.asyncDispose]()
    fill(disk, 40)
    await expect(initProofs(deps, place, 0)).rejects.toMatchObject(isFull(place.path))
    free(disk)
    expect(await initProofs(deps, place, 0)).toMatchObject({ done: true, earliest: 0, latest: 300 })
    fill(disk)
    // pages that the file has free, by the sizes of its transactions, may be enough for these
    for (const change of [() => unwindProofs(deps, place, 200), () => pruneProofs(deps, place, { blocks: 150 })]) {
      const outcome = await change().catch((error: unknown) => error)
      expect(outcome).toMatchObject(outcome instanceof Error ? isFull(place.path) : { done: true })
      expect(await verifyRecorded(deps, place, 'all')).toMatchObject({ done: true, differences: [] })
    }
    free(disk)
    expect(await unwindProofs(deps, place, 200)).toMatchObject({ done: true, latest: 200 })
    expect(await pruneProofs(deps, place, { blocks: 150 })).toMatchObject({ done: true, earliest: 150, latest: 300 })
    await verified(150, 300)
  },
)

it.skipIf(refused)(title('proofs are not made on a full disk, and are made there with room (DISK_FULL)'), async () => {
  const datadir = join(base, 'new')
  await chainIn(datadir, 3).kv[Symbol.asyncDispose]()
  using disk = mounted('new-disk')
  const place = { datadir, path: join(disk.dir, 'proofs') }
  fill(disk)
  await expect(initProofs(deps, place, 0)).rejects.toMatchObject(isFull(place.path))
  free(disk)
  expect(await initProofs(deps, place, 0)).toMatchObject({ done: true, earliest: 0, latest: 3 })
})

it.skipIf(refused)(
  title('a node goes on while the disk of its proofs is full, /readyz names that disk, and recording resumes with room (DISK_FULL)'),
  async () => {
    using disk = mounted('node-disk')
    const dir = join(disk.dir, 'proofs')
    await using node = await startChain(join(base, 'node'), 'kept', () => {}, { proofs: { dir, windowSec: 10 ** 9, isRequired: true } })
    const extend = (last: number): Promise<void> => extendChain(node, last, 'kept', () => {})
    const ready = async (): Promise<string> => (await fetch(`${node.urls.http}/readyz`)).text()
    const recorded = (): number | undefined => {
      using view = node.execution?.view()
      return view?.proofs?.window?.latest.number
    }
    await extend(8)
    await expect.poll(recorded, { timeout: 20_000 }).toBe(8)
    fill(disk)
    await extend(40)
    await expect.poll(ready, { timeout: 20_000 }).toContain(`proofs are not recorded: no space left to write to ${dir}: `)
    expect(node.execution?.published.heads.unsafe.number).toBe(40)
    free(disk)
    await expect.poll(recorded, { timeout: 20_000 }).toBe(40)
    expect(await ready()).not.toContain('proofs')
  },
  60_000,
)
