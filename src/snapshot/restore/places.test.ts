import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Clock } from '#lib/clock'
import { createManualClock, type ManualClock, settle } from '#test/harness/clock'
import { snapshotFault } from '../faults.ts'
import { type ChunkEntry, fileOf, manifestName, sha256 } from '../format/manifest.ts'
import { placeOf, type SnapshotPlace } from './places.ts'

const { signal } = new AbortController()
const content = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251))
const entry: ChunkEntry = { kind: 'codes', name: sha256(content), size: content.length, rawSize: 1 }

/** A body that sends bytes from an offset once a second, and fails when its request is aborted, or at its end. */
function bodyOf(
  clock: Clock,
  bytes: Uint8Array,
  from: number,
  { bytesPerSec, fails }: Mirror,
  aborted: AbortSignal,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(control): void {
      let at = from
      const send = (): void => {
        if (aborted.aborted) return
        if (bytesPerSec > 0) control.enqueue(new Uint8Array(bytes.subarray(at, at + bytesPerSec)))
        at += bytesPerSec
        if (at < bytes.length) clock.after(1_000, send)
        else if (fails) clock.after(1_000, () => control.error(new Error('connection reset')))
        else control.close()
      }
      aborted.addEventListener('abort', () => control.error(aborted.reason))
      clock.after(1_000, send)
    },
  })
}

/** `chunk`: bytes that it sends instead of the chunk. `fails`: its connection fails after the last byte. */
type Mirror = { readonly bytesPerSec: number; readonly manifest?: Uint8Array; readonly chunk?: Uint8Array; readonly fails?: true }

/** Mirrors by host. `asked`: each request as `host offset`. */
function mirrorsOf(mirrors: Readonly<Record<string, Mirror>>): { clock: ManualClock; asked: string[]; place: SnapshotPlace } {
  const clock = createManualClock()
  const asked: string[] = []
  const answer = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { host, pathname } = new URL(String(input))
    const mirror = mirrors[host] ?? expect.fail(`no mirror ${host}`)
    const { manifest = content, chunk = content } = mirror
    const from = Number(/^bytes=(\d+)-$/.exec(new Headers(init?.headers).get('range') ?? '')?.[1] ?? 0)
    asked.push(`${host} ${from}`)
    const bytes = pathname.endsWith(manifestName) ? manifest : chunk
    const body = bodyOf(clock, bytes, from, mirror, init?.signal ?? signal)
    const headers = { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }
    return from > 0 ? new Response(body, { status: 206, headers }) : new Response(body)
  }
  const urls = Object.keys(mirrors).map((host) => `http://${host}`)
  return { clock, asked, place: placeOf({ clock, fetch: answer as typeof fetch }, urls.join(',')) }
}

/** Advances the clock until a promise settles, for an hour at most. @returns the hash of its bytes, or its error */
async function outcomeOf(clock: ManualClock, running: Promise<Uint8Array | 'missing'>): Promise<unknown> {
  const settled: unknown[] = []
  running.then(
    (value) => settled.push(sha256(value)),
    (error: unknown) => settled.push(error),
  )
  await settle()
  while (settled.length === 0) if (clock.elapsedMs() > 3_600_000 || !(await clock.advanceToNext())) expect.fail('it does not settle')
  return settled[0]
}

it('snapshot/restore/places: leaves a slow mirror, and the next one continues at the same byte', async () => {
  const { clock, asked, place } = mirrorsOf({ 'slow.example': { bytesPerSec: 1_000 }, 'fast.example': { bytesPerSec: 50_000 } })
  expect(await outcomeOf(clock, place.chunk(entry, signal))).toBe(entry.name)
  expect(asked).toEqual(['slow.example 0', expect.stringMatching(/^fast\.example (19|20)000$/)])
  expect(clock.elapsedMs()).toBeLessThan(30_000)
})

it('snapshot/restore/places: a mirror at the least pace is not left', async () => {
  const { clock, asked, place } = mirrorsOf({ 'even.example': { bytesPerSec: 3_500 } })
  expect(await outcomeOf(clock, place.chunk(entry, signal))).toBe(entry.name)
  expect(asked).toEqual(['even.example 0'])
})

it('snapshot/restore/places: gives up when the only mirror is too slow for minutes (CHUNK_UNAVAILABLE)', async () => {
  const { clock, place } = mirrorsOf({ 'slow.example': { bytesPerSec: 10 } })
  expect(await outcomeOf(clock, place.chunk(entry, signal))).toMatchObject({
    code: 'CHUNK_UNAVAILABLE',
    message: expect.stringMatching(/it sends \d+ bytes in 20 s/),
  })
  expect(clock.elapsedMs()).toBeLessThan(240_000)
})

const wrong = (bytes: number): Uint8Array => new Uint8Array(bytes).fill(7)

it.each<[string, Partial<Mirror>, readonly string[]]>([
  ['breaks off', { chunk: wrong(1_000) }, ['bad.example 0', 'good.example 1000', 'bad.example 0', 'good.example 0']],
  ['fails after the last of them', { chunk: wrong(content.length), fails: true }, ['bad.example 0', 'good.example 0']],
])('snapshot/restore/places: another mirror is not blamed for wrong bytes of a mirror that %s', async (_what, mirror, requests) => {
  const { clock, asked, place } = mirrorsOf({
    'bad.example': { bytesPerSec: 100_000, ...mirror },
    'good.example': { bytesPerSec: 100_000 },
  })
  expect(await outcomeOf(clock, place.chunk(entry, signal))).toBe(entry.name)
  expect(asked).toEqual(requests)
})

it('snapshot/restore/places: fails when no mirror has the chunk, and two of them break off for minutes (CHUNK_DAMAGED)', async () => {
  const { clock, place } = mirrorsOf({
    'bad.example': { bytesPerSec: 100_000, chunk: wrong(200_000) },
    'worse.example': { bytesPerSec: 100_000, chunk: wrong(100_000) },
    'worst.example': { bytesPerSec: 100_000, chunk: wrong(content.length) },
  })
  expect(await outcomeOf(clock, place.chunk(entry, signal))).toMatchObject({ code: 'CHUNK_DAMAGED' })
  expect(clock.elapsedMs()).toBeLessThan(300_000)
})

describe('snapshot/restore/places: downloads to a file', () => {
  const dir = mkdtempSync(join(tmpdir(), 'basalt-places-'))
  afterAll(() => rmSync(dir, { recursive: true }))
  const download = async (place: SnapshotPlace, path: string) =>
    (await place.download(entry, path, signal)) === 'missing' ? 'missing' : new Uint8Array(readFileSync(path))

  it('the next mirror continues at the same byte', async () => {
    const { clock, asked, place } = mirrorsOf({ 'slow.example': { bytesPerSec: 1_000 }, 'fast.example': { bytesPerSec: 50_000 } })
    expect(await outcomeOf(clock, download(place, join(dir, 'a.seg')))).toBe(entry.name)
    expect(asked).toEqual(['slow.example 0', expect.stringMatching(/^fast\.example (19|20)000$/)])
    expect(readdirSync(dir)).toEqual(['a.seg'])
  })

  it('damaged bytes are dropped, and nothing of them is left when no mirror has others (CHUNK_DAMAGED)', async () => {
    const other = { ...entry, name: sha256('other') }
    const { clock, asked, place } = mirrorsOf({ 'bad.example': { bytesPerSec: 100_000 } })
    expect(
      await outcomeOf(
        clock,
        place.download(other, join(dir, 'b.seg'), signal).then(() => 'missing'),
      ),
    ).toMatchObject({
      code: 'CHUNK_DAMAGED',
    })
    expect(asked).toEqual(['bad.example 0', 'bad.example 0'])
    expect(readdirSync(dir)).toEqual(['a.seg'])
  })

  it('a directory that cannot be written ends the download (STORE_FAILED)', async () => {
    const { place } = mirrorsOf({ 'fast.example': { bytesPerSec: 100_000 } })
    await expect(place.download(entry, join(dir, 'missing', 'c.seg'), signal)).rejects.toMatchObject({ code: 'STORE_FAILED' })
  })

  it('a directory of a snapshot gives a copy, and names a file with other bytes (CHUNK_DAMAGED)', async () => {
    const from = mkdtempSync(join(dir, 'from-'))
    const place = placeOf({ clock: createManualClock(), fetch }, from)
    const path = join(dir, 'd.seg')
    expect(await place.download(entry, path, signal)).toBe('missing')
    writeFileSync(join(from, fileOf(entry)), content)
    expect([await place.download(entry, path, signal), sha256(readFileSync(path))]).toEqual(['whole', entry.name])
    writeFileSync(join(from, fileOf(entry)), content.subarray(1))
    await expect(place.download(entry, join(dir, 'e.seg'), signal)).rejects.toMatchObject({ code: 'CHUNK_DAMAGED' })
    expect(readdirSync(dir)).not.toContain('e.seg')
  })
})

it.each([
  ['is silent', 0, 30_000],
  ['is slow', 1_000, 30_000],
  ['does not end', 5_000, 310_000],
])('snapshot/restore/places: the next mirror is asked for a manifest when one %s', async (_what, bytesPerSec, withinMs) => {
  const { clock, asked, place } = mirrorsOf({
    'bad.example': { bytesPerSec, manifest: new Uint8Array(2 ** 24) },
    'fast.example': { bytesPerSec: 100_000 },
  })
  expect(
    await outcomeOf(
      clock,
      place.manifest((file) => file, signal),
    ),
  ).toBe(entry.name)
  expect(asked).toEqual(['bad.example 0', 'fast.example 0'])
  expect(clock.elapsedMs()).toBeLessThan(withinMs)
})

it('snapshot/restore/places: the next mirror is asked for a manifest when one has another page, and the first is named when all have (MANIFEST_BAD)', async () => {
  const page = { bytesPerSec: 100_000, manifest: Buffer.from('<html>') }
  const parse = (file: Uint8Array, mirror: string): Uint8Array => {
    if (file.length !== content.length) throw snapshotFault('MANIFEST_BAD', { place: mirror, reason: 'it is a page' })
    return file
  }
  const mixed = mirrorsOf({ 'bad.example': page, 'good.example': { bytesPerSec: 100_000 } })
  expect(await outcomeOf(mixed.clock, mixed.place.manifest(parse, signal))).toBe(entry.name)
  expect(mixed.asked).toEqual(['bad.example 0', 'good.example 0'])
  const bad = mirrorsOf({ 'bad.example': page, 'worse.example': page })
  expect(await outcomeOf(bad.clock, bad.place.manifest(parse, signal))).toMatchObject({
    code: 'MANIFEST_BAD',
    data: { place: expect.stringContaining('bad.example') },
  })
  expect(bad.asked).toEqual(['bad.example 0', 'worse.example 0'])
})
