import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Exchange = { readonly method: string; readonly url: URL; readonly body: string }
export type Reply = { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: string }

const reply = (status: number, body: unknown): Reply => ({ status, body: JSON.stringify(body) })

/** JSON-RPC error, with the code of other clients. */
export class RpcRefusal extends Error {
  readonly code: number
  readonly data: string | undefined

  constructor(code: number, message: string, data?: string) {
    super(message)
    this.code = code
    this.data = data
  }
}

type Call = (method: string, params: readonly unknown[]) => unknown

const maxBatch = 1_000
const parseError = { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'parse error' } }

function rpcAnswer(request: unknown, call: Call): unknown {
  const { id = null, method, params } = (request ?? {}) as { id?: unknown; method?: unknown; params?: unknown }
  try {
    return { jsonrpc: '2.0', id, result: call(String(method), Array.isArray(params) ? params : []) }
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error
    const { code, message, data } = error
    return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } }
  }
}

/** Answers a JSON-RPC request or batch. @param call throws RpcRefusal for an error response */
export function rpcReply(body: string, call: Call): Reply {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    return reply(400, parseError)
  }
  if (!Array.isArray(json)) return reply(200, rpcAnswer(json, call))
  if (json.length > maxBatch) return reply(413, parseError)
  return reply(
    200,
    json.map((each) => rpcAnswer(each, call)),
  )
}

/** Blob with its commitment and proof, in hex; `proof` undefined: there are cell proofs only. */
export type ServedBlob = { readonly data: string; readonly commitment: string; readonly proof: string | undefined }

/** L1 as the beacon API shows it. */
export type BeaconChain = {
  readonly genesisTimeSec: number
  readonly spec: Readonly<Record<string, string>>
  /** Returns the versioned hashes of a slot's blobs, in order; undefined when the slot has no block. */
  blobHashes(slot: number): readonly string[] | undefined
  blob(hash: string): ServedBlob | undefined
}

function blobReply(chain: BeaconChain, kind: string, slot: number, query: URLSearchParams): Reply {
  const hashes = chain.blobHashes(slot)
  if (!hashes) return reply(404, { code: 404, message: 'no block in this slot' })
  const wanted = kind === 'blobs' ? query.getAll('versioned_hashes').flatMap((value) => value.split(',')) : []
  const blobs = hashes.filter((hash) => wanted.length === 0 || wanted.includes(hash)).map((hash) => chain.blob(hash))
  if (blobs.includes(undefined)) return reply(404, { code: 404, message: 'these blobs are no longer available' })
  if (kind === 'blobs') return reply(200, { data: blobs.map((blob) => blob?.data) })
  if (blobs.some((blob) => blob?.proof === undefined)) return reply(410, { code: 410, message: 'no proofs, request blobs instead' })
  const sidecar = (blob: ServedBlob | undefined, index: number): unknown => {
    return { index: String(index), blob: blob?.data, kzg_commitment: blob?.commitment, kzg_proof: blob?.proof }
  }
  return reply(200, { data: blobs.map(sidecar) })
}

/**
 * Answers the requests to the beacon API that blobs require.
 * @see beacon-APIs: getGenesis, getSpec, getBlobs, getBlobSidecars
 */
export function beaconReply(chain: BeaconChain, { pathname, searchParams }: URL): Reply {
  if (pathname === '/eth/v1/config/spec') return reply(200, { data: chain.spec })
  if (pathname === '/eth/v1/beacon/genesis') return reply(200, { data: { genesis_time: String(chain.genesisTimeSec) } })
  const [, kind, slot] = /^\/eth\/v1\/beacon\/(blobs|blob_sidecars)\/(\d{1,15})$/.exec(pathname) ?? []
  return kind && slot ? blobReply(chain, kind, Number(slot), searchParams) : reply(404, { code: 404, message: 'not found' })
}

/** Handler of a request; undefined: no response is ever sent. */
export type Handler = (exchange: Exchange) => Reply | undefined

/** limit of a request: a transaction with nine blobs in hex fits */
const maxRequestBytes = 4_194_304

async function answer(handle: Handler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxRequestBytes) {
      response.writeHead(413, { connection: 'close' }).end()
      return
    }
    chunks.push(chunk)
  }
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  const given = handle({ method: request.method ?? 'GET', url, body: Buffer.concat(chunks).toString('utf8') })
  if (given) response.writeHead(given.status, { 'content-type': 'application/json', ...given.headers }).end(given.body)
}

export type L1Server = AsyncDisposable & { readonly url: string }

/**
 * Serves on 127.0.0.1 until disposed.
 * @param port 0: any free port
 */
export async function serveL1(handle: Handler, port: number): Promise<L1Server> {
  const server = createServer((request, response) => {
    answer(handle, request, response).catch(() => response.destroy())
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${bound}`,
    async [Symbol.asyncDispose](): Promise<void> {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
