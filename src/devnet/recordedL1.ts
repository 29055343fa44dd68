import { type BeaconChain, beaconReply, type Exchange, type Reply, RpcRefusal, rpcReply, type ServedBlob } from './l1Server.ts'

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

/** L1 that serves a recording up to its head. */
export interface RecordedL1 {
  readonly head: number
  /** Moves the head, to the last block at most. */
  reveal(head: number): void
  reply(exchange: Exchange): Reply
}

const blobHexDigits = 2 * 131_072
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

  /** Returns the versioned hashes of the blobs of a slot, in order; undefined when the slot has no block. */
  function blobHashes(slot: number): readonly string[] | undefined {
    const time = recording.genesisTime + slot * recording.secondsPerSlot
    const entry = blocks.find(({ block }) => Number(block['timestamp']) === time)
    if (!entry || numberOf(entry) > head) return undefined
    return (entry.block['transactions'] as readonly Json[]).flatMap((tx) => (tx['blobVersionedHashes'] as readonly string[]) ?? [])
  }

  const beacon: BeaconChain = {
    genesisTimeSec: recording.genesisTime,
    spec: { SECONDS_PER_SLOT: String(recording.secondsPerSlot) },
    blobHashes,
    blob(hash): ServedBlob | undefined {
      const found = recording.blobs[hash]
      return found && { ...found, data: `0x${found.data.slice(2).padEnd(blobHexDigits, '0')}` }
    },
  }

  const l1: RecordedL1 = {
    get head(): number {
      return head
    },
    reveal(to): void {
      head = Math.max(0, Math.min(to, blocks.length - 1))
    },
    reply: ({ method, url, body }) => (method === 'GET' ? beaconReply(beacon, url) : rpcReply(body, call)),
  }
  l1.reveal(start.head)
  return l1
}
