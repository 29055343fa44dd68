import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '#lib/clock'
import { fileNameOf } from '#lib/endpoint'
import { errorMessage, Fault } from '#lib/fault'
import { type Random, retry } from '#lib/retry'
import { rethFault } from '../../faults.ts'

export type DownloadDeps = { readonly fetch: typeof fetch; readonly clock: Clock; readonly random: Random; readonly signal: AbortSignal }

/** Time without a byte after which a request is given up. */
const stallMs = 30_000
const backoff = { baseMs: 250, maxMs: 10_000, jitter: 0.5 }
/** Failures in a row without a byte in between, some five minutes, after which the download ends. */
const maxTries = 30

/**
 * Downloads a file of known size to `path`, from where an earlier download stopped. A server that ignores ranges makes it start again. The name of
 * the server's version (ETag) is kept beside the file, so that two versions are never mixed.
 * @param onBytes called with the number of bytes received, or with a negative number when a download starts again
 * @throws Fault SNAPSHOT_UNREACHABLE, SNAPSHOT_CHANGED, SNAPSHOT_DISK_FULL; the signal's reason when it is aborted
 */
export async function downloadFile(
  deps: DownloadDeps,
  {
    url,
    path,
    sizeBytes,
    onBytes,
  }: { readonly url: string; readonly path: string; readonly sizeBytes: number; readonly onBytes: (count: number) => void },
): Promise<void> {
  mkdirSync(dirname(path), { recursive: true })
  while (sizeOf(path) < sizeBytes) {
    // returns after a request that received bytes, so only failures in a row are counted
    await retry(deps, { backoff, signal: deps.signal, maxTries }, () => receiveSome(deps, { url, path, sizeBytes, onBytes }))
  }
  rmSync(`${path}.etag`, { force: true })
}

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0)

type Target = Parameters<typeof downloadFile>[1]

/** Sends one request and writes what it returns. Throws SNAPSHOT_UNREACHABLE when it returns no byte. */
async function receiveSome(deps: DownloadDeps, target: Target): Promise<void> {
  const { url, path, sizeBytes } = target
  const have = Math.min(sizeOf(path), sizeBytes)
  const etag = existsSync(`${path}.etag`) ? readFileSync(`${path}.etag`, 'utf8') : undefined
  const stop = new AbortController()
  const end = (): void => stop.abort(deps.signal.reason)
  deps.signal.addEventListener('abort', end, { once: true })
  let timer = deps.clock.after(stallMs, () => stop.abort())
  let received = 0
  try {
    const response = await deps.fetch(url, { headers: rangeHeaders(have, etag), redirect: 'error', signal: stop.signal })
    const from = startOf(response, target, have, etag)
    saveEtag(path, response.headers.get('etag'))
    if (from < have) target.onBytes(from - have)
    using file = openAt(path, from)
    for await (const chunk of response.body ?? []) {
      timer[Symbol.dispose]()
      timer = deps.clock.after(stallMs, () => stop.abort())
      if (from + received + chunk.length > sizeBytes) throw changed(url, `it has more than ${sizeBytes} bytes`)
      file.write(chunk)
      received += chunk.length
      target.onBytes(chunk.length)
    }
  } catch (error) {
    deps.signal.throwIfAborted()
    if (error instanceof Fault) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw rethFault('SNAPSHOT_DISK_FULL', { dir: dirname(path) }, error)
    if (received === 0) throw unreachable(url, failureCode(error), error)
  } finally {
    timer[Symbol.dispose]()
    deps.signal.removeEventListener('abort', end)
  }
  if (received === 0) throw unreachable(url, 'the server sent no bytes')
}

const rangeHeaders = (have: number, etag: string | undefined): Record<string, string> => ({
  ...(have > 0 && { range: `bytes=${have}-` }),
  ...(have > 0 && etag !== undefined && { 'if-range': etag }),
})

/** Returns the offset of the response's first byte. */
function startOf(response: Response, { url, sizeBytes }: Target, have: number, etag: string | undefined): number {
  const { status, headers } = response
  const newEtag = headers.get('etag')
  if (etag !== undefined && newEtag !== null && newEtag !== etag) throw changed(url, 'the server has another version now')
  if (status === 206) {
    const [, from, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? []
    if (Number(total) !== sizeBytes) throw changed(url, `its size is ${total ?? 'unknown'}, the manifest says ${sizeBytes}`)
    if (Number(from) !== have) throw unreachable(url, `the server answered with the range from ${from}, ${have} was requested`)
    return have
  }
  if (status !== 200) throw unreachable(url, `HTTP ${status}`)
  const length = headers.get('content-length')
  if (length !== null && Number(length) !== sizeBytes) throw changed(url, `its size is ${length}, the manifest says ${sizeBytes}`)
  return 0
}

/** Keeps a strong ETag: only such a one names bytes. */
function saveEtag(path: string, etag: string | null): void {
  if (etag?.startsWith('"') && etag.length <= 256) writeFileSync(`${path}.etag`, etag)
}

function openAt(path: string, from: number): Disposable & { write(bytes: Uint8Array): void } {
  const fd = openSync(path, existsSync(path) ? 'r+' : 'w')
  let at = from
  ftruncateSync(fd, from)
  return {
    write(bytes): void {
      for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written, bytes.length - written, at + written)
      at += bytes.length
    },
    [Symbol.dispose]: () => closeSync(fd),
  }
}

/** Returns an error code such as ECONNREFUSED. */
function failureCode(error: unknown): string {
  const { cause } = error as { cause?: unknown }
  const { code } = (cause ?? error) as { code?: unknown }
  return typeof code === 'string' ? code : errorMessage(cause ?? error)
}

const unreachable = (url: string, reason: string, cause?: unknown): Fault =>
  rethFault('SNAPSHOT_UNREACHABLE', { url: fileNameOf(url), reason }, cause)
const changed = (url: string, reason: string): Fault => rethFault('SNAPSHOT_CHANGED', { url: fileNameOf(url), reason })
