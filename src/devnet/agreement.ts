import type { Clock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import type { Log } from '#lib/log'
import { type Block, encodeBlock } from '#types/block'
import type { Hash } from '#types/ids'
import type { DevnetMetrics } from './metrics.ts'

/** Snapshot of a node's stored chain. */
export type ComparedView = Disposable & {
  readonly heads: { readonly safe: { readonly number: number }; readonly finalized: { readonly number: number } }
  canonicalHash(number: number): Hash | undefined
  block(hash: Hash): { readonly block: Block } | undefined
}

export type ComparedNode = {
  view(): ComparedView
  /** the L1 head, if all of L1 is derived; undefined while there is more of L1 to read */
  derivedL1Head(): Hash | undefined
}

/** First block that differs between the nodes. */
export type Difference = { readonly number: number; readonly sequencer: string; readonly verifier: string }

/** Result of the comparison. `differs`: blocks differ now, possibly because of an L1 reorg; `disagrees`: they differ permanently. */
export type AgreementStatus =
  | { readonly kind: 'agrees'; readonly compared: number | undefined; readonly target: number }
  | {
      readonly kind: 'differs' | 'disagrees'
      readonly compared: number | undefined
      readonly target: number
      readonly difference: Difference
    }

export type AgreementDeps = {
  readonly sequencer: ComparedNode
  readonly verifier: ComparedNode
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<DevnetMetrics, 'compared' | 'disagreement'>
}

export type AgreementOptions = {
  /** maximum time of one comparison slice, before other tasks run */
  readonly sliceMs: number
  /** interval between comparisons when all blocks are compared */
  readonly pollMs: number
  /** time for which both nodes must have derived the same L1 and still differ, before it counts as a disagreement */
  readonly graceMs: number
}

export const defaultAgreementOptions: AgreementOptions = { sliceMs: 10, pollMs: 250, graceMs: 10_000 }

/** Block as its store returns it, or the reason why it does not. */
type Read = { readonly hash: Hash; readonly rlp: Uint8Array } | { readonly hash: undefined; readonly problem: string }

function readBlock(view: ComparedView, number: number): Read {
  const hash = view.canonicalHash(number)
  if (hash === undefined) return { hash, problem: 'missing' }
  try {
    const found = view.block(hash)
    return found ? { hash, rlp: encodeBlock(found.block) } : { hash: undefined, problem: `${hash}, body missing` }
  } catch (error) {
    return { hash: undefined, problem: `${hash}, unreadable: ${errorMessage(error)}` }
  }
}

const shown = (read: Read, other: Read): string => {
  if (read.hash === undefined) return read.problem
  return read.hash === other.hash ? `${read.hash}, with other bytes` : read.hash
}

/** Returns the hash of a block that both nodes have, or their difference. */
function compare(number: number, ours: Read, theirs: Read): Hash | Difference {
  if (ours.hash !== undefined && ours.hash === theirs.hash && Buffer.compare(ours.rlp, theirs.rlp) === 0) return ours.hash
  return { number, sequencer: shown(ours, theirs), verifier: shown(theirs, ours) }
}

/** maximum counted time between two observations of a difference, in polls */
const longestLook = 4

type Compared = { readonly number: number; readonly hash: Hash }
/** `countedMs`: time for which it was observed while both nodes had derived the same L1. */
type Suspicion = { readonly difference: Difference; countedMs: number; seenMs: number }

/**
 * Compares every safe block of the verifier with the sequencer's, encoded again from the stores, from genesis up to the lower of both safe heads. A
 * block that differs during an L1 reorg is not a disagreement. It is one when it still differs after both nodes have derived the same L1 for a while,
 * or when it is final on both.
 */
export class Agreement {
  readonly #deps: AgreementDeps
  readonly #options: AgreementOptions
  #last: Compared | undefined
  /** last compared block that is final on both nodes: no L1 reorg reaches it */
  #firm = -1
  #target = 0
  #suspicion: Suspicion | undefined
  #isSure = false

  constructor(deps: AgreementDeps, options: AgreementOptions = defaultAgreementOptions) {
    this.#deps = deps
    this.#options = options
    deps.metrics.disagreement.set({}, 0)
  }

  status(): AgreementStatus {
    const common = { compared: this.#last?.number, target: this.#target }
    if (!this.#suspicion) return { kind: 'agrees', ...common }
    return { kind: this.#isSure ? 'disagrees' : 'differs', ...common, difference: this.#suspicion.difference }
  }

  /**
   * Compares until aborted or until a disagreement is certain.
   * @returns the disagreement; undefined when aborted before
   */
  async run(signal: AbortSignal): Promise<Difference | undefined> {
    const { clock } = this.#deps
    while (!signal.aborted) {
      const hasMore = this.#slice()
      if (this.#isSure) return this.#suspicion?.difference
      await clock.delay(hasMore ? 0 : this.#options.pollMs, signal).catch(() => {})
    }
    return undefined
  }

  /**
   * Compares blocks for one slice.
   * @returns whether there are more blocks to compare now
   */
  #slice(): boolean {
    using sequencer = this.#deps.sequencer.view()
    using verifier = this.#deps.verifier.view()
    this.#target = Math.min(sequencer.heads.safe.number, verifier.heads.safe.number)
    this.#followReorg(sequencer, verifier)
    const { elapsedMs } = this.#deps.clock
    const beganMs = elapsedMs()
    for (let number = this.#next; number <= this.#target; number++) {
      const compared = compare(number, readBlock(sequencer, number), readBlock(verifier, number))
      if (typeof compared !== 'string') {
        const finalized = Math.min(sequencer.heads.finalized.number, verifier.heads.finalized.number)
        this.#suspect(compared, number <= finalized)
        return false
      }
      this.#suspicion = undefined
      this.#last = { number, hash: compared }
      if (elapsedMs() - beganMs >= this.#options.sliceMs) break
    }
    // the differing block is now above both safe heads, so it will be derived again
    if (this.#next > this.#target) this.#suspicion = undefined
    this.#firm = Math.min(this.#last?.number ?? -1, sequencer.heads.finalized.number, verifier.heads.finalized.number)
    this.#deps.metrics.compared.set({}, this.#last?.number ?? 0)
    return this.#next <= this.#target
  }

  get #next(): number {
    return (this.#last?.number ?? -1) + 1
  }

  /** Restarts the comparison after the final blocks when the last compared block is no longer canonical. */
  #followReorg(sequencer: ComparedView, verifier: ComparedView): void {
    const last = this.#last
    if (last === undefined) return
    const isKept = [sequencer, verifier].every((view) => view.canonicalHash(last.number) === last.hash)
    if (isKept) return
    const hash = this.#firm < 0 ? undefined : sequencer.canonicalHash(this.#firm)
    this.#last = hash && { number: this.#firm, hash }
  }

  /**
   * Records a difference.
   * @param isFinal on both nodes: counts even while a node is behind L1, because no reorg will resolve it
   */
  #suspect(difference: Difference, isFinal: boolean): void {
    const { clock, sequencer, verifier, log, metrics } = this.#deps
    const nowMs = clock.elapsedMs()
    const before = this.#suspicion?.difference.number === difference.number ? this.#suspicion : undefined
    const head = sequencer.derivedL1Head()
    const counts = isFinal || (head !== undefined && head === verifier.derivedL1Head())
    // limits the counted time, because a suspended process observes nothing
    const sinceMs = Math.min(nowMs - (before?.seenMs ?? nowMs), longestLook * this.#options.pollMs)
    const countedMs = (before?.countedMs ?? 0) + (before && counts ? sinceMs : 0)
    this.#suspicion = { difference, countedMs, seenMs: nowMs }
    if (before === undefined) log.debug('safe block differs', difference)
    if (countedMs < this.#options.graceMs) return
    this.#isSure = true
    metrics.disagreement.set({}, 1)
    log.error("safe block of the verifier differs from the sequencer's", difference)
  }
}
