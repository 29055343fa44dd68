import type { UnsafeInbox } from '#consensus/ports'
import type { Heads } from '#engine/port'
import type { Clock } from '#lib/clock'
import { errorMessage, isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { AncestorSource } from '#types/ancestorSource'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import type { P2pMetrics } from './metrics.ts'

export type GossipFeedDeps = {
  readonly inbox: Pick<UnsafeInbox, 'heads' | 'insert'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<P2pMetrics, 'ancestors'>
  /** blocks by number from peers, each with the hash that its fields have */
  readonly fetch: (numbers: readonly number[]) => Promise<readonly (Payload | undefined)[]>
  /** fills large gaps, and gaps that peers of gossip cannot fill; absent: nothing does */
  readonly ancestors?: AncestorSource
  /** called with the number of a fetched block that is not the ancestor it should be */
  readonly blame: (number: number) => void
}

/** Bounds of the blocks in memory, for arrived blocks and those fetched for one block each. */
const [maxBlocks, maxBytes] = [8_192, 128 * 1_048_576]
const maxRecent = 512
const fetchBlocks = 256
const insertBlocks = 32
/** Attempts to fetch a range of which peers return nothing. */
const maxAttempts = 3
const retryMs = 500
/** Missing blocks from which on they are fetched by hash first: peers of gossip answer a few requests a second. */
const largeGap = 256

const sizeOf = ({ transactions }: Payload): number => transactions.reduce((sum, { length }) => sum + length, 1_024)

/** Blocks and bytes that the fetch for one block may still keep in memory. */
type Room = { blocks: number; bytes: number }

type Branch = { readonly kind: 'linked'; readonly blocks: readonly Payload[] } | { readonly kind: 'unavailable' | 'too_far' | 'wrong' }
type BranchEnd = 'inserted' | 'over' | Exclude<Branch['kind'], 'linked'>

/**
 * Passes signed blocks of peers to consensus, the newest first in line. Ancestors that are missing are fetched by number, backwards from the signed
 * block, so each is tied to it by hash. A block whose ancestors cannot be fetched never becomes the head; a source or L1 has them later.
 */
export class GossipFeed {
  readonly #deps: GossipFeedDeps
  /** newest last */
  readonly #recent = new Map<Hash, Payload>()
  #recentBytes = 0
  #newest: Payload | undefined
  #ring: () => void = () => {}

  constructor(deps: GossipFeedDeps) {
    this.#deps = deps
  }

  /** Takes a block that passed validation. */
  offer(payload: Payload): void {
    const earlier = this.#recent.get(payload.blockHash)
    if (earlier) this.#recentBytes -= sizeOf(earlier)
    this.#recent.delete(payload.blockHash)
    this.#recent.set(payload.blockHash, payload)
    this.#recentBytes += sizeOf(payload)
    for (const [hash, oldest] of this.#recent) {
      if (this.#recent.size <= maxRecent && this.#recentBytes <= maxBytes) break
      this.#recent.delete(hash)
      this.#recentBytes -= sizeOf(oldest)
    }
    if (this.#newest === undefined || payload.blockNumber >= this.#newest.blockNumber) this.#newest = payload
    this.#ring()
  }

  /** Runs until the signal is aborted. @throws Fault of the engine (fatal) */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const payload = this.#newest
      this.#newest = undefined
      try {
        if (payload === undefined) await this.#nextOffer(signal)
        else await this.#advance(payload, signal)
      } catch (error) {
        if (signal.aborted) return
        if (isFault(error) && error.severity === 'fatal') throw error
        this.#deps.log.warn('block of peers not inserted', { number: payload?.blockNumber, reason: errorMessage(error) })
      }
    }
  }

  #nextOffer(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done)
        this.#ring = (): void => {}
        resolve()
      }
      this.#ring = done
      signal.addEventListener('abort', done, { once: true })
    })
  }

  async #advance(payload: Payload, signal: AbortSignal): Promise<void> {
    const { inbox, metrics, log } = this.#deps
    const { heads } = inbox
    if (heads === undefined || payload.blockNumber <= heads.unsafe.number) return
    if (payload.blockNumber - heads.unsafe.number > largeGap && (await this.#fillByHash(payload, heads, signal))) return
    const room: Room = { blocks: maxBlocks, bytes: maxBytes }
    const branch = await this.#branchOf(payload, heads.unsafe.number, room, signal)
    const end = branch.kind === 'linked' ? await this.#insertBranch(payload, branch.blocks, room, signal) : branch.kind
    if (end === 'over') return
    if (end !== 'inserted') {
      if (await this.#fillByHash(payload, inbox.heads ?? heads, signal)) return
      metrics.ancestors.inc({ outcome: end })
      log.debug('ancestors of a block not fetched', { number: payload.blockNumber, head: heads.unsafe.number, why: end })
      return
    }
    const missing = branch.kind === 'linked' ? branch.blocks.length - 1 : 0
    if (missing > 0) {
      metrics.ancestors.inc({ outcome: 'filled' })
      log.info('missing blocks filled from peers', { blocks: missing, head: inbox.heads?.unsafe.number })
    }
  }

  /**
   * Inserts a branch. If its first block is on another branch than the head, fetches ancestors down to the safe head; by hash when they are many.
   * @returns `over`: nothing else can be done for this block
   */
  async #insertBranch(payload: Payload, blocks: readonly Payload[], room: Room, signal: AbortSignal): Promise<BranchEnd> {
    const { inbox } = this.#deps
    /** blocks in a row; the last run is the lowest */
    const runs = [blocks]
    for (let run = runs.at(-1); run !== undefined; run = runs.at(-1)) {
      const outcome = await this.#insert(run, signal)
      if (outcome === undefined) {
        runs.pop()
        continue
      }
      const [lowest] = run
      const { heads } = inbox
      const floor = heads?.safe.number ?? 0
      if (outcome.kind !== 'gap') return 'inserted'
      if (lowest === undefined || lowest.blockNumber <= floor + 1) return 'over'
      if (heads && runs.length === 2 && (await this.#fillByHash(payload, heads, signal))) return 'over'
      const lower = await this.#ancestorsOf(lowest, Math.max(floor, lowest.blockNumber - 1 - fetchBlocks), room, signal)
      if (lower.kind !== 'linked') return lower.kind
      runs.push(lower.blocks)
    }
    return 'inserted'
  }

  /** Fills the gap below a block by hash. @returns whether the block is the head, or was refused */
  async #fillByHash(payload: Payload, { unsafe, safe }: Heads, signal: AbortSignal): Promise<boolean> {
    const { ancestors, metrics, log } = this.#deps
    if (ancestors === undefined || ancestors.count === 0) return false
    try {
      for await (const blocks of ancestors.ancestors(payload, unsafe.number, safe.number, signal)) {
        const outcome = await this.#insert(blocks, signal)
        if (outcome !== undefined) return outcome.kind !== 'gap'
      }
    } catch (error) {
      if (signal.aborted || (isFault(error) && error.severity === 'fatal')) throw error
      log.debug('ancestors not fetched by hash', { number: payload.blockNumber, reason: errorMessage(error) })
      return false
    }
    if ((await this.#insert([payload], signal))?.kind === 'gap') return false
    metrics.ancestors.inc({ outcome: 'filled_by_hash' })
    return true
  }

  /** Inserts in slices, oldest first, so that other work of consensus runs in between. Returns the outcome of the slice that ended it. */
  async #insert(blocks: readonly Payload[], signal: AbortSignal): Promise<Awaited<ReturnType<UnsafeInbox['insert']>> | undefined> {
    for (let from = 0; from < blocks.length; from += insertBlocks) {
      const outcome = await this.#deps.inbox.insert(blocks.slice(from, from + insertBlocks), signal)
      if (outcome.kind !== 'inserted') return outcome
    }
    return undefined
  }

  async #branchOf(payload: Payload, headNumber: number, room: Room, signal: AbortSignal): Promise<Branch> {
    const ancestors = await this.#ancestorsOf(payload, headNumber, room, signal)
    return ancestors.kind === 'linked' ? { kind: 'linked', blocks: [...ancestors.blocks, payload] } : ancestors
  }

  /** Returns the ancestors above a number, oldest first. A peer with a wrong block costs one of the attempts, not the blocks found before. */
  async #ancestorsOf(payload: Payload, floor: number, room: Room, signal: AbortSignal): Promise<Branch> {
    if (payload.blockNumber - floor > room.blocks) return { kind: 'too_far' }
    const found: Payload[] = []
    const fetched = new Map<number, Payload>()
    let lowest = payload
    let attempts = 0
    while (lowest.blockNumber > floor + 1) {
      signal.throwIfAborted()
      const known = this.#recent.get(lowest.parentHash)
      const { linked, isWrong } = known ? { linked: [known], isWrong: false } : await this.#fetchBelow(lowest, floor, fetched)
      attempts = linked.length > 0 ? 0 : attempts + 1
      if (attempts >= maxAttempts) return { kind: isWrong ? 'wrong' : 'unavailable' }
      if (linked.length === 0) await this.#deps.clock.delay(retryMs, signal)
      for (const block of linked) {
        found.push(block)
        room.blocks--
        room.bytes -= sizeOf(block)
        lowest = block
      }
      if (room.bytes < 0) return { kind: 'too_far' }
    }
    return { kind: 'linked', blocks: found.reverse() }
  }

  /**
   * Fetches the next ancestors.
   * @param fetched blocks of earlier calls by number, below one that no peer returned
   * @returns those that are linked, newest first; none: peers do not have the next one, or it is wrong
   */
  async #fetchBelow(
    block: Payload,
    floor: number,
    fetched: Map<number, Payload>,
  ): Promise<{ linked: readonly Payload[]; isWrong: boolean }> {
    const first = Math.max(floor + 1, block.blockNumber - fetchBlocks)
    const numbers = Array.from({ length: block.blockNumber - first }, (_, i) => block.blockNumber - 1 - i).filter((n) => !fetched.has(n))
    for (const ancestor of await this.#deps.fetch(numbers)) if (ancestor) fetched.set(ancestor.blockNumber, ancestor)
    const linked: Payload[] = []
    for (let lowest = block; ; ) {
      const ancestor = fetched.get(lowest.blockNumber - 1)
      if (ancestor === undefined || ancestor.blockNumber <= floor) return { linked, isWrong: false }
      fetched.delete(ancestor.blockNumber)
      if (ancestor.blockHash !== lowest.parentHash) {
        this.#deps.blame(ancestor.blockNumber)
        return { linked, isWrong: true }
      }
      linked.push(ancestor)
      lowest = ancestor
    }
  }
}
