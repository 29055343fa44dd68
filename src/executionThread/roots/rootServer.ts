import { rowState } from '#state/rowState'
import { latestRows } from '#state/rows'
import { nodesAbove } from '#state/stateStack'
import type { SnapshotSource } from '#store/ports'
import { plainTries } from '#trie/tries'
import { StateDiffTable } from '#types/stateDiffTable'
import { drainOf } from '../drainOf.ts'
import { RootClaims } from './rootClaims.ts'
import { type RootLink, type RootMessage, RootQueue } from './rootLink.ts'

/** A collection of `node --expose-gc`. */
type Gc = (options: { readonly type: 'minor'; readonly execution: 'sync' }) => void
const { gc } = globalThis as { readonly gc?: Gc }

/** Computes parts of state roots in this thread, on the last committed state and the layers that come with the work. */
export class RootServer implements Disposable {
  readonly #link: RootLink
  readonly #queue: RootQueue
  readonly #source: () => SnapshotSource
  readonly #onFailed: (error: unknown) => void
  readonly #drain: () => void

  /** @param source of the chain's tables @param onFailed called when they cannot be read: then the thread takes no more work */
  constructor(link: RootLink, source: () => SnapshotSource, onFailed: (error: unknown) => void) {
    this.#link = link
    this.#queue = new RootQueue(link.queue)
    this.#source = source
    this.#onFailed = onFailed
    this.#drain = drainOf<RootMessage>(link.port, (message) => this.#take(message))
    link.port.on('message', (message: RootMessage) => this.#take(message))
    this.#queue.isOpen = true
  }

  /** Does the work that waits, between two steps of other work. */
  serve(): void {
    if (this.#queue.isWaiting) this.#drain()
  }

  [Symbol.dispose](): void {
    this.#queue.isOpen = false
    this.#link.port.close()
  }

  #take(message: RootMessage): void {
    this.#queue.taken()
    try {
      this.#compute(message, new RootClaims(message.claims))
    } catch (error) {
      this.#queue.isOpen = false
      this.#onFailed(error)
    }
    // V8 does not count shared memory: references to that of the work would keep it until this thread has other garbage
    gc?.({ type: 'minor', execution: 'sync' })
  }

  #compute({ number, parentRoot, diff: bytes, parts, layers }: RootMessage, claims: RootClaims): void {
    if (claims.isClosed) return
    using snapshot = this.#source().snapshot()
    const nodes = nodesAbove(rowState(latestRows(snapshot), snapshot, () => undefined).nodes, layers)
    const diff = new StateDiffTable(bytes)
    for (const [part, { rows }] of parts.entries()) {
      if (claims.isClosed) return
      if (!claims.claim(part)) continue
      try {
        const { root, nodes: changed, storageRoots } = plainTries().updateRows(nodes, parentRoot, diff, rows, 'nodes')
        this.#link.port.postMessage({ number, part, root, nodes: changed.buffer, storageRoots })
        this.#queue.computed()
        claims.end(part, 'done')
      } catch {
        // a node is missing or damaged, or the committed state is another one: execution computes the part
        claims.end(part, 'failed')
      }
    }
  }
}
