import { type KnownGenesis, l2RefOf } from '#chainspec/l2Ref'
import { BoundedMap } from '#lib/boundedMap'
import type { Clock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import type { Log } from '#lib/log'
import type { AncestorSource } from '#types/ancestorSource'
import type { BlockId, L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { isCanonical } from './canonical.ts'
import type { Engine } from './port.ts'

export type HeadFetchDeps = {
  readonly engine: Pick<Engine, 'insert' | 'setHeads' | 'heads' | 'payload'>
  readonly config: KnownGenesis
  readonly clock: Clock
  readonly log: Log
  readonly source: AncestorSource
  /** Runs a change of the chain after all earlier ones. */
  readonly inOrder: <T>(run: () => Promise<T>) => Promise<T>
  /** Called with an invalid ancestor of a head. */
  readonly onInvalid: (head: Hash, ancestor: Payload, reason: string) => void
  /** ends all work */
  readonly signal: AbortSignal
}

/** Blocks that are executed between two calls of the consensus half. */
const sliceBlocks = 16
/** Blocks without a known parent that are kept: consensus halves name one as the head just after they sent it. */
const maxUnlinked = 4
/** Pause after a fetch that did not reach its head. */
const pauseMs = 10_000

/**
 * Fetches the ancestors that are missing below a head which the consensus half names, and moves the unsafe head along them. Their hashes tie them to that
 * head, so they are the blocks that the consensus half asked for. Until it names the fetched head, the chain here is ahead of it.
 */
export class HeadFetch {
  readonly #deps: HeadFetchDeps
  readonly #unlinked = new BoundedMap<Hash, Payload>(maxUnlinked)
  #running: AbortController | undefined
  #isAhead = false
  /** Last head outside the canonical chain that the consensus half named since the fetch began; undefined once the fetch has moved the head */
  #named: L2Ref | undefined
  #pausedUntilMs = 0

  constructor(deps: HeadFetchDeps) {
    this.#deps = deps
  }

  /** Keeps a block whose parent is unknown. */
  offer(payload: Payload): void {
    this.#unlinked.set(payload.blockHash, payload)
  }

  /** Begins to fetch the ancestors of a head, if its block was offered and no fetch runs. */
  begin(head: Hash): void {
    const { clock, source, log, signal } = this.#deps
    const payload = this.#unlinked.get(head)
    if (payload === undefined || this.#running || source.count === 0 || signal.aborted || clock.elapsedMs() < this.#pausedUntilMs) return
    const running = new AbortController()
    this.#running = running
    this.#named = undefined
    this.#fetch(payload, AbortSignal.any([running.signal, signal]))
      .catch((error: unknown) => {
        if (running.signal.aborted || signal.aborted) return
        this.#pausedUntilMs = clock.elapsedMs() + pauseMs
        log.warn('ancestors of the head not fetched', { number: payload.blockNumber, reason: errorMessage(error) })
      })
      .finally(() => {
        if (this.#running === running) this.#running = undefined
      })
  }

  /**
   * Returns the unsafe head if it was fetched and a named head is its ancestor. A client may skip such an update of the head, unless a block is to
   * be built on it (Engine API, paris, forkchoiceUpdated 2). Otherwise ends the fetch: the consensus half has reached its head, or wants another one.
   * A fetch that has not moved the head yet goes on, because its blocks may include the named head: a consensus half derives blocks meanwhile.
   */
  async aheadOf(head: L2Ref, isBuilt: boolean): Promise<L2Ref | undefined> {
    if (!this.#isAhead && this.#running === undefined) return undefined
    const { unsafe } = await this.#deps.engine.heads()
    const isOnChain = head.number <= unsafe.number && (await isCanonical(this.#deps.engine, head))
    if (!this.#isAhead) {
      if (!isOnChain) this.#named = head
      return undefined
    }
    if (isOnChain && !isBuilt && head.number < unsafe.number) return unsafe
    this.#isAhead = false
    this.#running?.abort()
    this.#running = undefined
    return undefined
  }

  /** @throws Faults of the source and of the engine; Error with the reason */
  async #fetch(head: Payload, signal: AbortSignal): Promise<void> {
    const { engine, source, inOrder } = this.#deps
    const { unsafe, finalized } = await engine.heads()
    for await (const blocks of source.ancestors(head, unsafe.number, finalized.number, signal)) {
      for (let from = 0; from < blocks.length; from += sliceBlocks)
        await inOrder(() => this.#extend(head.blockHash, blocks.slice(from, from + sliceBlocks), signal))
    }
    await inOrder(() => this.#extend(head.blockHash, [head], signal))
    this.#unlinked.delete(head.blockHash)
  }

  /**
   * Executes blocks and makes the last one the unsafe head, unless it is below that. Ends the fetch if the consensus half has named a head that the
   * blocks do not include.
   */
  async #extend(head: Hash, blocks: readonly Payload[], signal: AbortSignal): Promise<void> {
    const { engine, config, onInvalid } = this.#deps
    const last = blocks.at(-1)
    if (last === undefined || (await isCanonical(this.#deps.engine, { number: last.blockNumber, hash: last.blockHash }))) return
    for (const payload of blocks) {
      signal.throwIfAborted()
      const result = await engine.insert(payload)
      if (result.kind === 'valid') continue
      onInvalid(head, payload, result.reason)
      throw new Error(`block ${payload.blockNumber} is invalid: ${result.reason}`)
    }
    if (this.#named && !isIncluded(this.#named, blocks)) this.#running?.abort()
    signal.throwIfAborted()
    await engine.setHeads({ ...(await engine.heads()), unsafe: l2RefOf(config, last) })
    this.#isAhead = true
    this.#named = undefined
  }
}

/** Returns whether a block is one of linked blocks, or the parent of the first one. */
const isIncluded = ({ number, hash }: BlockId, blocks: readonly Payload[]): boolean =>
  blocks.some(({ blockHash, blockNumber, parentHash }) =>
    blockNumber === number ? blockHash === hash : blockNumber === number + 1 && parentHash === hash,
  )
