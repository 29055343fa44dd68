import type { Clock } from '#lib/clock'
import type { NodeAddress } from './nodeId.ts'

/** Most nodes that discovery may add. */
const maxFound = 1_000
/** Failed attempts after which a node that was a peer is not kept over restarts. */
const maxKnownFailures = 5
/** Pause after a failed attempt, doubled with each one; pause after a peer proved to be of no use. */
const [retryMs, maxRetryMs, uselessMs] = [15_000, 600_000, 3_600_000]
/** Pauses of nodes that an operator named: they are dialled again and again. */
const namedRetryMs = 10_000

type Candidate = { readonly node: NodeAddress; readonly kind: 'named' | 'found'; failures: number; notBeforeMs: number; hasWorked: boolean }

/** Nodes that may be dialled: named by an operator, or found by discovery. */
export class Candidates {
  readonly #clock: Pick<Clock, 'elapsedMs'>
  readonly #all = new Map<string, Candidate>()

  constructor(clock: Pick<Clock, 'elapsedMs'>) {
    this.#clock = clock
  }

  /** Adds a node to keep connected. */
  name(node: NodeAddress): void {
    this.#all.set(node.id, { node, kind: 'named', failures: 0, notBeforeMs: 0, hasWorked: false })
  }

  /** Removes a node; discovery may find it again. */
  forget(id: string): void {
    this.#all.delete(id)
  }

  isNamed(id: string): boolean {
    return this.#all.get(id)?.kind === 'named'
  }

  /**
   * Adds a node that discovery found, or its new address; a node that the operator named keeps its address. At the bound, the oldest node that failed makes
   * room, else the new one is dropped.
   */
  found(node: NodeAddress): void {
    const known = this.#all.get(node.id)
    if (known?.kind === 'found') this.#all.set(node.id, { ...known, node })
    if (known) return
    if (this.#all.size >= maxFound) {
      const oldest = [...this.#all.values()].find(({ kind, failures }) => kind === 'found' && failures > 0)
      if (oldest === undefined) return
      this.#all.delete(oldest.node.id)
    }
    this.#all.set(node.id, { node, kind: 'found', failures: 0, notBeforeMs: 0, hasWorked: false })
  }

  /** Notes the end of an attempt or of a connection. `useless`: the node is not on this chain, or has sent wrong data. */
  ended(id: string, how: 'failed' | 'useless' | 'worked'): void {
    const candidate = this.#all.get(id)
    if (candidate === undefined) return
    if (how !== 'failed') candidate.hasWorked = how === 'worked'
    candidate.failures = how === 'worked' ? 0 : candidate.failures + 1
    const pauseMs = Math.min(maxRetryMs, retryMs * 2 ** Math.min(candidate.failures, 10))
    const waitMs = candidate.kind === 'named' ? namedRetryMs : how === 'useless' ? uselessMs : pauseMs
    this.#all.delete(id)
    this.#all.set(id, { ...candidate, notBeforeMs: this.#clock.elapsedMs() + waitMs })
  }

  /** Returns the found nodes that were peers and can probably be dialled again, the newest first. */
  known(): readonly NodeAddress[] {
    const known = [...this.#all.values()].filter(
      ({ kind, hasWorked, failures }) => kind === 'found' && hasWorked && failures <= maxKnownFailures,
    )
    return known.map(({ node }) => node).reverse()
  }

  /** Returns the nodes that may be dialled now, named ones first. @param isSkipped nodes that are connected, or denied */
  due(isSkipped: (id: string) => boolean): readonly (NodeAddress & { readonly kind: 'named' | 'found' })[] {
    const nowMs = this.#clock.elapsedMs()
    const due = [...this.#all.values()].filter(({ node, notBeforeMs }) => notBeforeMs <= nowMs && !isSkipped(node.id))
    return due.sort((a, b) => Number(b.kind === 'named') - Number(a.kind === 'named')).map(({ node, kind }) => ({ ...node, kind }))
  }
}
