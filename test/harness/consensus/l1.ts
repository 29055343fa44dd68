import type { L1Label, L1Source } from '#consensus/ports'
import type { L1Block } from '#derive/ports'
import { defineFaults } from '#lib/fault'
import { keccak256 } from '#lib/keccak'
import type { L1Ref } from '#types/blockRef'
import { type Hash, hashFromBytes, zeroHash } from '#types/ids'
import { headerOf } from '../chain/headers.ts'

export const l1Fault = defineFaults({
  L1_TIMEOUT: { severity: 'retry', says: (_: Record<never, never>) => 'timed out', fix: 'none' },
  L1_RATE_LIMITED: { severity: 'retry', says: (_: { retryAfterMs: number }) => '429', fix: 'none' },
  L1_MISMATCH: { severity: 'retry', says: (_: Record<never, never>) => 'block does not match its hash', fix: 'none' },
})

/** Block in a batch: its number, its L1 origin, and a tag that makes blocks with the same number differ. */
export type Batch = { readonly number: number; readonly origin: number; readonly tag: string }
/** Batches of one channel. `span`: all in one span batch. `blob`: in the blob with this name. */
export type Channel = { readonly batches: readonly Batch[]; readonly span?: true; readonly blob?: string }

const textHash = (text: string): Hash => hashFromBytes(keccak256(new TextEncoder().encode(text)))

export const blobHash = (name: string): Hash => textHash(`blob ${name}`)

export function encodeChannel(channel: Channel): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(channel))
}

export function decodeChannel(bytes: Uint8Array): Channel {
  return JSON.parse(new TextDecoder().decode(bytes)) as Channel
}

function l1Block(parent: L1Ref | undefined, branch: string, timestamp: number, channels: readonly Channel[]): L1Block {
  const number = parent ? parent.number + 1 : 0
  const transactions = channels.map(encodeChannel)
  const ref = {
    number,
    hash: textHash(`${parent?.hash} ${branch} ${number} ${JSON.stringify(channels)}`),
    parentHash: parent?.hash ?? zeroHash,
    timestamp,
  }
  const header = headerOf({ parentHash: ref.parentHash, number, timestamp, baseFeePerGas: 7n })
  return { ref, header, transactions, receipts: [] }
}

type Method = 'head' | 'ref' | 'block' | 'blobs'

export type MemoryL1 = L1Source & {
  readonly tip: L1Ref
  at(number: number): L1Ref
  /** Mines a block with these channels. */
  mine(...channels: readonly Channel[]): L1Ref
  /** Drops the last `depth` blocks; later blocks are on another branch. */
  rollBack(depth: number): void
  /** Hides the blocks above a number until the next call. */
  reveal(number: number): void
  /** Sets the number of the finalized block; without a call there is none. */
  finalize(number: number): void
  lose(blob: string): void
  find(blob: string): void
  failNext(method: Method, ...errors: readonly unknown[]): void
  /** Replaces the set of methods that fail with L1_TIMEOUT. */
  cut(...methods: readonly Method[]): void
  /** Number of calls by method. */
  readonly calls: Readonly<Record<Method, number>>
}

/** L1 in memory with block n at `genesisTime + 12 n` seconds. Its blocks contain no blobs, only their names. */
export function createMemoryL1(genesisTime: number): MemoryL1 {
  let branch = 0
  let visible = Number.POSITIVE_INFINITY
  let finalized = -1
  const blocks: L1Block[] = [l1Block(undefined, 'genesis', genesisTime, [])]
  const lost = new Set<Hash>()
  let cutOff: readonly Method[] = []
  const failures: Record<Method, unknown[]> = { head: [], ref: [], block: [], blobs: [] }
  const calls: Record<Method, number> = { head: 0, ref: 0, block: 0, blobs: 0 }

  function begin(method: Method, signal: AbortSignal): void {
    signal.throwIfAborted()
    calls[method]++
    if (cutOff.includes(method)) throw l1Fault('L1_TIMEOUT', {})
    if (failures[method].length > 0) throw failures[method].shift()
  }
  const seen = (): L1Block[] => blocks.slice(0, visible + 1)
  const tip = (): L1Ref => (blocks.at(-1) as L1Block).ref
  const number = (label: L1Label): number => (label === 'finalized' ? finalized : seen().length - (label === 'safe' ? 3 : 1))

  return {
    get tip() {
      return tip()
    },
    at: (at) => (blocks[at] as L1Block).ref,
    mine(...channels) {
      const block = l1Block(tip(), `branch ${branch}`, tip().timestamp + 12, channels)
      blocks.push(block)
      return block.ref
    },
    rollBack(depth) {
      blocks.length -= depth
      branch++
    },
    reveal: (at) => {
      visible = at
    },
    finalize: (at) => {
      finalized = at
    },
    lose: (name) => void lost.add(blobHash(name)),
    find: (name) => void lost.delete(blobHash(name)),
    failNext: (method, ...errors) => void failures[method].push(...errors),
    cut: (...methods) => {
      cutOff = methods
    },
    calls,
    async head(label, signal) {
      begin('head', signal)
      return seen()[number(label)]?.ref
    },
    async ref(at, signal) {
      begin('ref', signal)
      return seen()[at]?.ref
    },
    async block(at, signal) {
      begin('block', signal)
      return typeof at === 'number' ? seen()[at] : seen().find((block) => block.ref.hash === at)
    },
    async blobs(_block, hashes, signal) {
      begin('blobs', signal)
      return hashes.some((hash) => lost.has(hash)) ? 'missing' : hashes.map(() => new Uint8Array(131_072))
    },
  }
}
