import { Buffer } from 'node:buffer'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Json = Readonly<Record<string, unknown>>

/** Block in the formats of `eth_getBlockByNumber` (full) and `eth_getBlockReceipts`. */
export type RecordedBlock = { readonly block: Json; readonly receipts: readonly Json[] }
/** Blob; `data` is without its trailing zero bytes. */
export type RecordedBlob = { readonly commitment: string; readonly proof: string; readonly data: string }
export type L1Recording = {
  readonly chainId: number
  /** of the beacon chain, in seconds */
  readonly genesisTime: number
  readonly secondsPerSlot: number
  /** from number 0 on */
  readonly blocks: readonly RecordedBlock[]
  /** by versioned hash */
  readonly blobs: Readonly<Record<string, RecordedBlob>>
}

export type Exchange = { readonly method: string; readonly url: URL; readonly body: string }
export type Reply = { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: string }

/** L1 that serves a recording up to its head. */
export interface RecordedL1 {
  readonly head: number
  /** Moves the head, to the last block at most. */
  reveal(head: number): void
  reply(exchange: Exchange): Reply
}

class RpcRefusal extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const blobHexDigits = 2 * 131_072
const reply = (status: number, body: unknown): Reply => ({ status, body: JSON.stringify(body) })
/** Distance of each label behind the head, in blocks. */
const lag: Readonly<Record<string, number>> = { latest: 0, pending: 0, safe: 3, finalized: 5 }

export function createRecordedL1(recording: L1Recording, start: { readonly head: number }): RecordedL1 {
  const { blocks } = recording
  const byHash = new Map(blocks.map((entry) => [entry.block['hash'], entry]))
  let head = 0
  const numberOf = (entry: RecordedBlock): number => Number(entry.block['number'])

  function at(param: unknown): RecordedBlock | undefined {
    if (typeof param !== 'string') throw new RpcRefusal(-32602, 'invalid block parameter')
    const byName = lag[param] === undefined ? Number(param === 'earliest' ? 0 : param) : Math.max(0, head - lag[param])
    const entry = param.length === 66 ? byHash.get(param) : blocks[byName]
    return entry && numberOf(entry) <= head ? entry : undefined
  }

  function blockAnswer(params: readonly unknown[]): unknown {
    const entry = at(params[0])
    if (!entry) return null
    if (params[1]) return entry.block
    return { ...entry.block, transactions: (entry.block['transactions'] as readonly Json[]).map(({ hash }) => hash) }
  }

  function call(method: string, params: readonly unknown[]): unknown {
    switch (method) {
      case 'eth_chainId':
        return `0x${recording.chainId.toString(16)}`
      case 'eth_blockNumber':
        return `0x${head.toString(16)}`
      case 'eth_getBlockByNumber':
      case 'eth_getBlockByHash':
        return blockAnswer(params)
      case 'eth_getBlockReceipts':
        return at(params[0])?.receipts ?? null
      default:
        throw new RpcRefusal(-32601, `the method ${method} does not exist`)
    }
  }

  function rpcAnswer(request: unknown): unknown {
    const { id = null, method, params } = request as { id?: unknown; method?: unknown; params?: unknown }
    try {
      return { jsonrpc: '2.0', id, result: call(String(method), Array.isArray(params) ? params : []) }
    } catch (error) {
      if (!(error instanceof RpcRefusal)) throw error
      return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } }
    }
  }

  /** Returns the versioned hashes of the blobs of a slot, in order; undefined when the slot has no block. */
  function blobHashes(slot: number): readonly string[] | undefined {
    const time = recording.genesisTime + slot * recording.secondsPerSlot
    const entry = blocks.find(({ block }) => Number(block['timestamp']) === time)
    if (!entry || numberOf(entry) > head) return undefined
    return (entry.block['transactions'] as readonly Json[]).flatMap((tx) => (tx['blobVersionedHashes'] as readonly string[]) ?? [])
  }

  const padded = (hash: string): string => (recording.blobs[hash]?.data ?? '0x').slice(2).padEnd(blobHexDigits, '0')

  function blobReply(kind: string, slot: number, query: URLSearchParams): Reply {
    const hashes = blobHashes(slot)
    if (!hashes) return reply(404, { code: 404, message: 'no block in this slot' })
    if (kind === 'blobs') {
      const wanted = query.getAll('versioned_hashes').flatMap((value) => value.split(','))
      const given = hashes.filter((hash) => wanted.length === 0 || wanted.includes(hash))
      return reply(200, { data: given.map((hash) => `0x${padded(hash)}`) })
    }
    const sidecar = (hash: string, index: number): unknown => {
      const { commitment, proof } = recording.blobs[hash] ?? {}
      return { index: String(index), blob: `0x${padded(hash)}`, kzg_commitment: commitment, kzg_proof: proof }
    }
    return reply(200, { data: hashes.map(sidecar) })
  }

  function beaconReply({ pathname, searchParams }: URL): Reply {
    if (pathname === '/eth/v1/config/spec') return reply(200, { data: { SECONDS_PER_SLOT: String(recording.secondsPerSlot) } })
    if (pathname === '/eth/v1/beacon/genesis') return reply(200, { data: { genesis_time: String(recording.genesisTime) } })
    const [, kind, slot] = /^\/eth\/v1\/beacon\/(blobs|blob_sidecars)\/(\d+)$/.exec(pathname) ?? []
    return kind && slot ? blobReply(kind, Number(slot), searchParams) : reply(404, { code: 404, message: 'not found' })
  }

  const l1: RecordedL1 = {
    get head(): number {
      return head
    },
    reveal(to): void {
      head = Math.max(0, Math.min(to, blocks.length - 1))
    },
    reply({ method, url, body }): Reply {
      if (method === 'GET') return beaconReply(url)
      let json: unknown
      try {
        json = JSON.parse(body)
      } catch {
        return reply(400, { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'parse error' } })
      }
      return reply(200, Array.isArray(json) ? json.map(rpcAnswer) : rpcAnswer(json))
    },
  }
  l1.reveal(start.head)
  return l1
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
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
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
