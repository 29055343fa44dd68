import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, expect, it, vi } from 'vitest'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { masked, maskedStream } from './masked.ts'
import { createProfiles } from './profiles.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-profiles-'))
afterAll(() => rmSync(base, { recursive: true }))
let dirs = 0
const secrets = ['k3y-of-an-account', 'pass"word']

function profilesOf(options: { readonly minFreeBytes?: number } = {}, known: Iterable<string> = secrets) {
  const datadir = join(base, String(dirs++))
  mkdirSync(datadir)
  const hasty = { ...systemClock, delay: (ms: number, signal: AbortSignal) => systemClock.delay(ms / 20, signal) }
  const profiles = createProfiles({ clock: hasty, log: silentLog, secrets: known }, { datadir, minFreeBytes: 0, ...options })
  const ended = async () => {
    await vi.waitFor(() => expect(profiles.state()?.state).not.toBe('running'), { timeout: 60_000 })
    return profiles.state()
  }
  return { datadir, profiles, ended }
}

/** Thread that spends its time in a function of this name and retains a text with a secret. */
const busy = `
  const { workerData } = require('node:worker_threads')
  globalThis.retained = ['https://' + workerData + '.example/' + Math.random()]
  function burnTime() { let sum = 0; for (let i = 0; i < 1e5; i++) sum += Math.sqrt(i); return [sum, ...Array(100)] }
  setInterval(() => { globalThis.last = burnTime() }, 1)`
async function busyThread(): Promise<AsyncDisposable> {
  const worker = new Worker(busy, { eval: true, name: 'basalt busy 1', workerData: secrets[0] })
  await new Promise((resolve) => worker.once('online', resolve))
  return { [Symbol.asyncDispose]: async () => void (await worker.terminate()) }
}

it('node/profiling/profiles: profiles a thread into files that Chrome opens, readable by this user alone, without known secrets', async () => {
  const known = new Set<string>()
  const { datadir, profiles, ended } = profilesOf({}, known)
  using _end = profiles
  await using _thread = await busyThread()
  expect(profiles.threads()).toEqual(['main', 'busy-1'])
  expect(await profiles.start('cpu', 'busy-1', 60)).toMatchObject({ kind: 'done', value: { state: 'running', thread: 'busy-1' } })
  expect(await profiles.start('heap', 'main', 1)).toEqual({ kind: 'refused', reason: 'a profile of busy-1 is being taken' })
  const cpu = await ended()
  expect(cpu).toMatchObject({ state: 'done', bytes: statSync(String(cpu?.file)).size })
  const profile = JSON.parse(readFileSync(String(cpu?.file), 'utf8')) as {
    nodes: { callFrame: { functionName: string } }[]
    samples: unknown[]
  }
  expect(profile.nodes.map(({ callFrame }) => callFrame.functionName)).toContain('burnTime')
  expect(profile.samples.length).toBeGreaterThan(10)
  expect(statSync(String(cpu?.file)).mode & 0o777).toBe(0o600)
  expect(statSync(join(datadir, 'profiles')).mode & 0o777).toBe(0o700)

  await profiles.start('heap', 'busy-1', 10)
  const heap = await ended()
  expect(heap).toMatchObject({ state: 'done', file: expect.stringMatching(/busy-1\.heapprofile$/) })
  expect(JSON.parse(readFileSync(String(heap?.file), 'utf8'))).toHaveProperty('head.children')

  for (const secret of secrets) known.add(secret)
  await profiles.start('snapshot', 'busy-1', 1)
  const snapshot = await ended()
  expect(snapshot).toMatchObject({ state: 'done', file: expect.stringMatching(/busy-1\.heapsnapshot$/) })
  const text = readFileSync(String(snapshot?.file), 'utf8')
  expect(JSON.parse(text)).toHaveProperty('snapshot.meta')
  expect(text).toContain('(secret)')
  expect(text).not.toContain(secrets[0])
})

it('node/profiling/profiles: profiles the main thread', async () => {
  const { profiles, ended } = profilesOf()
  using _end = profiles
  for (const kind of ['cpu', 'heap'] as const) {
    await profiles.start(kind, 'main', 2)
    const state = await ended()
    expect(state).toMatchObject({ state: 'done', thread: 'main' })
    expect(JSON.parse(readFileSync(String(state?.file), 'utf8'))).toHaveProperty(kind === 'cpu' ? 'nodes' : 'head')
  }
})

it('node/profiling/profiles: refuses an unknown thread and a disk that is nearly full, keeps ten files, and other files', async () => {
  const { datadir, profiles, ended } = profilesOf()
  using _end = profiles
  expect(await profiles.start('cpu', 'nothing', 1)).toEqual({ kind: 'refused', reason: 'no thread "nothing"; known: main' })
  using full = profilesOf({ minFreeBytes: 1e18 }).profiles
  expect(await full.start('cpu', 'main', 1)).toMatchObject({ kind: 'refused', reason: expect.stringMatching(/bytes of the disk are free/) })
  expect(full.state()).toBeUndefined()
  const dir = join(datadir, 'profiles')
  mkdirSync(dir)
  for (let i = 10; i < 25; i++) writeFileSync(join(dir, `202601${i}T000000Z-main.cpuprofile`), '')
  writeFileSync(join(dir, 'notes.txt'), '')
  await profiles.start('cpu', 'main', 1)
  await ended()
  const names = readdirSync(dir).toSorted()
  expect(names).toHaveLength(11)
  expect(names).toContain('notes.txt')
  expect(names[0]).toBe('20260116T000000Z-main.cpuprofile')
})

it('node/profiling/profiles: at its end writes the samples so far', async () => {
  const { profiles, ended } = profilesOf()
  await profiles.start('cpu', 'main', 120)
  profiles[Symbol.dispose]()
  expect(await ended()).toMatchObject({ state: 'done' })
})

it('node/profiling/masked: replaces secrets that chunks share, keeps other bytes, and bounds the size', async () => {
  const text = `a k3y-of-an-account and pass\\"word, é–𝄞`
  const through = async (size: number, maxBytes = 1_000): Promise<string> => {
    const bytes = Buffer.from(text)
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_none, at) => bytes.subarray(at * size, (at + 1) * size))
    const parts: Buffer[] = []
    const sink = new Writable({
      write(chunk: Buffer, _encoding, done): void {
        parts.push(chunk)
        done()
      },
    })
    await pipeline(Readable.from(chunks), maskedStream(secrets, maxBytes), sink)
    return Buffer.concat(parts).toString()
  }
  const expected = 'a (secret) and (secret), é–𝄞'
  expect(masked(text, secrets)).toBe(expected)
  for (const size of [1, 2, 7, 1_000]) expect(await through(size)).toBe(expected)
  await expect(through(5, 20)).rejects.toThrow('larger than 20 bytes')
})
