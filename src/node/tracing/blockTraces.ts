import type { Clock } from '#lib/clock'
import type { Hash } from '#types/ids'
import { type AttributeValue, newSpanId, type Span, type SpanSink } from './span.ts'

/** How a block came to this node. */
export type BlockSource = 'gossip' | 'engine-api' | 'l1' | 'followed-node' | 'sequencer'

/** A step of a block's way, by the wall clock. */
export type Step = {
  readonly name: string
  readonly startMs: number
  readonly endMs: number
  readonly attributes?: Readonly<Record<string, AttributeValue>>
  readonly error?: string
  /** steps inside this one */
  readonly inside?: readonly Step[]
}

/** Blocks with open traces; the oldest is closed when there are more. */
const maxOpen = 256
/** Blocks that are executed as flashblocks and not yet known by their hash. */
const maxStreamed = 16
/** Steps of one block. */
const maxSteps = 64
/** A trace is closed this long after its last step: a commit follows a block by some two seconds. */
const quietMs = 5_000
const sweepMs = 1_000

type Open = {
  readonly hash: Hash
  readonly number: number
  attributes: Record<string, AttributeValue>
  readonly steps: Step[]
  lastMs: number
}

export type BlockTracesDeps = { readonly clock: Clock; readonly sink: SpanSink }

/**
 * Traces of blocks, one for each: the trace id is the first 16 bytes of the block's hash, so the spans of both halves, and of other nodes, are in one trace, and all
 * of them sample the same blocks. Disposing closes the open traces.
 */
export class BlockTraces implements Disposable {
  readonly #deps: BlockTracesDeps
  readonly #sample: number
  readonly #open = new Map<Hash, Open>()
  /** steps of blocks whose hash is not known yet, by number */
  readonly #streamed = new Map<number, Step[]>()
  #timer: Disposable | undefined

  /** @param sample share of the blocks that are traced, from 0 to 1 */
  constructor(deps: BlockTracesDeps, sample: number) {
    this.#deps = deps
    this.#sample = sample
  }

  /** Whether a block is traced. */
  isSampled(hash: Hash): boolean {
    return Number.parseInt(hash.slice(-8), 16) < this.#sample * 2 ** 32
  }

  /** Hashes and numbers of the open traces. */
  open(): readonly { readonly hash: Hash; readonly number: number }[] {
    return [...this.#open.values()]
  }

  isOpen(hash: Hash): boolean {
    return this.#open.has(hash)
  }

  /** Adds a step to a block's trace, which it opens. */
  add(
    { hash, number }: { readonly hash: Hash; readonly number: number },
    step: Step,
    attributes: Readonly<Record<string, AttributeValue>> = {},
  ): void {
    if (!this.isSampled(hash)) return
    const trace = this.#open.get(hash) ?? this.#begin(hash, number)
    trace.attributes = { ...trace.attributes, ...attributes }
    trace.lastMs = this.#deps.clock.elapsedMs()
    if (trace.steps.length < maxSteps) trace.steps.push(step)
  }

  /** Adds a step of a block whose hash is not known yet. */
  addStreamed(number: number, step: Step): void {
    const steps = this.#streamed.get(number) ?? []
    if (steps.length < maxSteps) steps.push(step)
    this.#streamed.set(number, steps)
    for (const [oldest] of this.#streamed) if (this.#streamed.size > maxStreamed) this.#streamed.delete(oldest)
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
    for (const trace of this.#open.values()) this.#close(trace)
  }

  #begin(hash: Hash, number: number): Open {
    const trace: Open = { hash, number, attributes: {}, steps: this.#streamed.get(number) ?? [], lastMs: 0 }
    this.#streamed.delete(number)
    this.#open.set(hash, trace)
    const [oldest] = this.#open.values()
    if (this.#open.size > maxOpen && oldest) this.#close(oldest)
    this.#timer ??= this.#deps.clock.after(sweepMs, () => this.#sweep())
    return trace
  }

  #sweep(): void {
    const nowMs = this.#deps.clock.elapsedMs()
    for (const trace of this.#open.values()) if (nowMs - trace.lastMs >= quietMs) this.#close(trace)
    this.#timer = this.#open.size === 0 ? undefined : this.#deps.clock.after(sweepMs, () => this.#sweep())
  }

  #close(trace: Open): void {
    this.#open.delete(trace.hash)
    this.#deps.sink.add(spansOf(trace))
  }
}

/** Returns the span of a block and those of its steps. */
function spansOf({ hash, number, attributes, steps }: Open): readonly Span[] {
  const traceId = hash.slice(2, 34)
  const block: Span = {
    ...{ traceId, spanId: newSpanId(), name: 'block' },
    startMs: Math.min(...steps.map(({ startMs }) => startMs)),
    endMs: Math.max(...steps.map(({ endMs }) => endMs)),
    attributes: { 'block.number': number, 'block.hash': hash, ...attributes },
  }
  const nested = (of: readonly Step[], parentSpanId: string): readonly Span[] =>
    of.flatMap(({ name, startMs, endMs, attributes: own = {}, error, inside = [] }) => {
      const spanId = newSpanId()
      const span = { traceId, spanId, parentSpanId, name, startMs, endMs, attributes: own, ...(error !== undefined && { error }) }
      return [span, ...nested(inside, spanId)]
    })
  return [block, ...nested(steps, block.spanId)]
}
