import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Clock, systemClock } from '#lib/clock'
import { isFault } from '#lib/fault'
import { dice } from '#test/harness/dice'
import { downloadFile } from './download.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'basalt-download-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const bytes = Uint8Array.from({ length: 10_000 }, (_, i) => i % 253)
const url = 'https://user:secret@example.com/base/state.tar.zst?token=secret'

type Server = {
  /** bytes of a response before its connection breaks; undefined: all */
  readonly cutAfter?: (request: number) => number | undefined
  readonly etag?: (request: number) => string
  readonly ranges?: boolean
  readonly status?: (request: number) => number | undefined
  readonly content?: (request: number) => Uint8Array
}

/** Waits between tries end at once. */
const clock: Clock = { ...systemClock, delay: async (_ms, signal) => signal?.throwIfAborted() }

/** A web server as a function. `ranges` lists the ranges that it was asked for. */
function serverOf({
  cutAfter = (): undefined => undefined,
  etag,
  ranges = true,
  status = (): undefined => undefined,
  content = (): Uint8Array => bytes,
}: Server): { readonly fetch: typeof globalThis.fetch; readonly asked: (string | null)[] } {
  const asked: (string | null)[] = []
  const fetch = (async (_url: unknown, init: RequestInit = {}): Promise<Response> => {
    const request = asked.length
    const given = new Headers(init.headers)
    asked.push(given.get('range'))
    const failure = status(request)
    if (failure !== undefined) return new Response('', { status: failure })
    const whole = content(request)
    const tag = etag?.(request)
    const isSame = given.get('if-range') === null || given.get('if-range') === tag
    const from = ranges && isSame ? Number(/^bytes=(\d+)-$/.exec(given.get('range') ?? '')?.[1] ?? 0) : 0
    const cut = cutAfter(request)
    const body = new ReadableStream({
      start(controller): void {
        const part = whole.subarray(from, cut === undefined ? undefined : from + cut)
        for (let at = 0; at < part.length; at += 700) controller.enqueue(part.slice(at, at + 700))
        if (cut === undefined || from + cut >= whole.length) controller.close()
      },
      pull(controller): void {
        controller.error(new Error('cut'))
      },
    })
    const headers = new Headers(tag === undefined ? {} : { etag: tag })
    if (from > 0) headers.set('content-range', `bytes ${from}-${whole.length - 1}/${whole.length}`)
    else headers.set('content-length', String(whole.length))
    return new Response(body, { status: from > 0 ? 206 : 200, headers })
  }) as typeof globalThis.fetch
  return { fetch, asked }
}

async function download(
  server: ReturnType<typeof serverOf>,
  signal = new AbortController().signal,
): Promise<{ file: Uint8Array; counted: number }> {
  let counted = 0
  const onBytes = (count: number): void => {
    counted += count
  }
  const path = join(dir, 'archives/state.tar.zst')
  await downloadFile({ fetch: server.fetch, clock, random: () => 0, signal }, { url, path, sizeBytes: bytes.length, onBytes })
  return { file: new Uint8Array(readFileSync(path)), counted }
}

describe('snapshot/reth/download', () => {
  it('downloads a file in one request', async () => {
    const server = serverOf({})
    expect(await download(server)).toEqual({ file: bytes, counted: bytes.length })
    expect(server.asked).toEqual([null])
  })

  it('continues after each cut from the byte that it has', async () => {
    const roll = dice(5)
    const server = serverOf({ cutAfter: (request) => (request < 8 ? roll(1_500) : undefined), etag: () => '"1"' })
    expect(await download(server)).toEqual({ file: bytes, counted: bytes.length })
    expect(server.asked.slice(1).every((range) => range?.startsWith('bytes='))).toBe(true)
  })

  it('continues in another process', async () => {
    const stop = new AbortController()
    const first = serverOf({
      cutAfter: () => 2_100,
      etag: () => '"1"',
      status: (request) => {
        if (request === 1) stop.abort(new Error('killed'))
        return request === 1 ? 500 : undefined
      },
    })
    await expect(download(first, stop.signal)).rejects.toThrow('killed')
    const second = serverOf({ etag: () => '"1"' })
    expect((await download(second)).file).toEqual(bytes)
    expect(second.asked).toEqual(['bytes=2100-'])
  })

  it('starts again with a server that ignores ranges, and counts that', async () => {
    const server = serverOf({ ranges: false, cutAfter: (request) => (request === 0 ? 3_500 : undefined) })
    expect(await download(server)).toEqual({ file: bytes, counted: bytes.length })
  })

  it('waits for a server that fails for a while', async () => {
    expect((await download(serverOf({ status: (request) => (request < 20 ? 503 : undefined) }))).file).toEqual(bytes)
  })

  it('gives up on a server that only fails, without secrets of the URL (SNAPSHOT_UNREACHABLE)', async () => {
    const error = await download(serverOf({ status: () => 404 })).catch((reason: unknown) => reason)
    expect(isFault(error, 'SNAPSHOT_UNREACHABLE')).toBe(true)
    expect((error as Error).message).toBe('state.tar.zst at example.com cannot be fetched: HTTP 404')
  })

  it.each<[string, Server]>([
    ['another version after a cut', { cutAfter: (request) => (request === 0 ? 1_000 : undefined), etag: (request) => `"${request}"` }],
    ['another size', { content: () => bytes.subarray(1) }],
    [
      'another size after a cut',
      { cutAfter: (request) => (request === 0 ? 1_000 : undefined), content: (request) => (request === 0 ? bytes : bytes.subarray(2)) },
    ],
  ])('refuses %s (SNAPSHOT_CHANGED)', async (_, server) => {
    expect(isFault(await download(serverOf(server)).catch((reason: unknown) => reason), 'SNAPSHOT_CHANGED')).toBe(true)
  })

  it('takes a file that is there', async () => {
    await download(serverOf({}))
    const server = serverOf({})
    await download(server)
    expect(server.asked).toEqual([])
    writeFileSync(join(dir, 'archives/state.tar.zst'), bytes.subarray(0, 9_000))
    expect((await download(server)).file).toEqual(bytes)
  })
})
