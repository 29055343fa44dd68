import { rowState } from '#state/rowState'
import { latestRows } from '#state/rows'
import { nodesAbove } from '#state/stateStack'
import { openChainReader } from '#store/chainTables'
import type { SnapshotSource } from '#store/ports'
import { plainTries } from '#trie/tries'
import { StateDiffTable } from '#types/stateDiffTable'
import { drainOf } from '../drainOf.ts'
import { RootClaims } from './rootClaims.ts'
import { type RootLink, type RootMessage, RootQueue } from './rootLink.ts'

/** Computes parts of state roots in this thread, on the last committed state and the layers that come with the work. */
export class RootServer implements AsyncDisposable {
  readonly #link: RootLink
  readonly #queue: RootQueue
  readonly #open: () => SnapshotSource
  readonly #drain: () => void
  #source: SnapshotSource | undefined

  /** @param dir of the chain's tables, which are opened with the first work */
  constructor(link: RootLink, dir: string, open: (dir: string) => SnapshotSource = openChainReader) {
    this.#link = link
    this.#queue = new RootQueue(link.queue)
    this.#open = (): SnapshotSource => open(dir)
    this.#drain = drainOf<RootMessage>(link.port, (message) => this.#take(message))
    link.port.on('message', (message: RootMessage) => this.#take(message))
    this.#queue.isOpen = true
  }

  /** Does the work that waits, between two steps of other work. */
  serve(): void {
    if (this.#queue.isWaiting) this.#drain()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#queue.isOpen = false
    this.#link.port.close()
    await this.#source?.[Symbol.asyncDispose]()
  }

  #take(message: RootMessage): void {
    this.#queue.taken()
    try {
      this.#compute(message, new RootClaims(message.claims))
    } catch {
      // execution reads the same tables, and finds the fault where it matters
      this.#queue.isOpen = false
    }
  }

  #compute({ number, parentRoot, diff: bytes, parts, layers, check }: RootMessage, claims: RootClaims): void {
    if (claims.isClosed) return
    this.#source ??= this.#open()
    using snapshot = this.#source.snapshot()
    const nodes = nodesAbove(rowState(latestRows(snapshot), snapshot, () => undefined).nodes, layers)
    const diff = new StateDiffTable(bytes)
    for (const [part, { rows }] of parts.entries()) {
      if (claims.isClosed) return
      if (!claims.claim(part)) continue
      try {
        const { root, nodes: changed, storageRoots } = plainTries().updateRows(nodes, parentRoot, diff, rows, check)
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
