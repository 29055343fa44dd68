import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { hostInUrl, listen } from '#lib/listen'
import { addressGroup, ownAddresses } from '#lib/peers/inboundLimits'
import { snapshotFault } from './faults.ts'
import { manifestName } from './format/manifest.ts'

/** Names that a snapshot has: nothing else in the directory is served. */
const served = /^(?:[0-9a-f]{64}\.zst|[a-z]{1,10}-\d{12,15}-[0-9a-f]{64}\.seg|manifest(?:-\d{1,15})?\.json)$/

/** Types of files that never change. */
const types: Readonly<Record<string, string>> = { '.zst': 'application/zstd', '.seg': 'application/octet-stream' }

/** Connections of all clients, and of one address. */
const [maxConnections, maxPerAddress] = [256, 64]

type Range = { readonly from: number; readonly to: number }

export type SnapshotServer = AsyncDisposable & { readonly url: string }

/**
 * Serves the files of a snapshot's directory over HTTP, with ranges.
 * @param idleMs time without a byte in either direction after which a connection ends
 * @throws Fault PORT_IN_USE, LISTEN_FAILED (fatal); MANIFEST_UNAVAILABLE when the directory has no snapshot
 */
export async function serveSnapshot(
  dir: string,
  { host, port, idleMs = 20_000 }: { readonly host: string; readonly port: number; readonly idleMs?: number },
): Promise<SnapshotServer> {
  if (!existsSync(join(dir, manifestName))) throw snapshotFault('MANIFEST_UNAVAILABLE', { place: dir, reason: `no file ${manifestName}` })
  const server = createServer((request, response) => answer(dir, request, response))
  server.requestTimeout = 30_000
  server.timeout = idleMs
  server.maxConnections = maxConnections
  boundPerAddress(server)
  const { port: bound } = await listen(server, { host, port, flag: 'snapshot.port' })
  return {
    url: `http://${hostInUrl(host)}:${bound}`,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Refuses connections of an address that has its share; clients of this machine have no bound, for a proxy is one of them. */
function boundPerAddress(server: Server): void {
  const counts = new Map<string, number>()
  server.on('connection', (socket) => {
    const ip = socket.remoteAddress
    if (ip === undefined || ownAddresses.includes(ip)) return
    const group = addressGroup(ip)
    const count = counts.get(group) ?? 0
    if (count >= maxPerAddress) return void socket.destroy()
    counts.set(group, count + 1)
    socket.once('close', () => {
      const left = (counts.get(group) ?? 0) - 1
      if (left > 0) counts.set(group, left)
      else counts.delete(group)
    })
  })
}

function answer(dir: string, request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end()
    return
  }
  const name = (request.url ?? '').split('?')[0]?.split('/').at(-1) ?? ''
  const size = served.test(name) ? sizeOf(join(dir, name)) : undefined
  const range = size === undefined ? undefined : rangeOf(request.headers.range, size)
  if (size === undefined) response.writeHead(404).end()
  else if (range === 'bad') response.writeHead(416, { 'content-range': `bytes */${size}` }).end()
  else sendFile(join(dir, name), size, range, request, response)
}

function sendFile(path: string, size: number, range: Range | undefined, request: IncomingMessage, response: ServerResponse): void {
  const { from, to } = range ?? { from: 0, to: size - 1 }
  const type = types[extname(path)]
  response.writeHead(range ? 206 : 200, {
    'accept-ranges': 'bytes',
    'cache-control': type === undefined ? 'no-cache' : 'public, max-age=31536000, immutable',
    'content-length': String(Math.max(0, to - from + 1)),
    'content-type': type ?? 'application/json',
    ...(range && { 'content-range': `bytes ${from}-${to}/${size}` }),
  })
  if (request.method === 'HEAD' || size === 0) {
    response.end()
    return
  }
  const file = createReadStream(path, { start: from, end: to })
  file.once('error', () => response.destroy())
  response.once('close', () => file.destroy())
  file.pipe(response)
}

function sizeOf(path: string): number | undefined {
  try {
    const facts = statSync(path)
    return facts.isFile() ? facts.size : undefined
  } catch {
    return undefined
  }
}

/** Returns the range of a request; undefined: the whole file. Several ranges are answered with the whole file. */
function rangeOf(header: string | undefined, size: number): Range | 'bad' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (first === '') return undefined
  const from = Number(first)
  const to = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  return from >= size || to < from ? 'bad' : { from, to }
}
