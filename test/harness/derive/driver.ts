import { systemConfigOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Answer, DerivedAttributes, L1Block, Pipeline, SafeBlock, SafeHead, StartPoint, Want } from '#derive/ports'
import type { L1Ref, L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'

/** Executes attributes. Returns the new safe head, or `invalid` for attributes that execution rejects. */
export type Build = (derived: DerivedAttributes, safe: SafeHead) => SafeHead | 'invalid'

export type DriverWorld = {
  readonly l1: (number: number) => L1Block | undefined
  readonly blobs: (hashes: readonly Hash[]) => readonly Uint8Array[] | 'missing'
  readonly l2: (number: number) => SafeBlock | undefined
  readonly build: Build
}

export type Halt =
  /** The pipeline needs an L1 block that does not exist yet. */
  | { readonly kind: 'l1'; readonly number: number }
  | { readonly kind: 'reset'; readonly reason: string }
  | { readonly kind: 'invalid'; readonly derived: DerivedAttributes }

/**
 * Drives a pipeline whose inputs are all in memory. Before Holocene, attributes of a span batch move the safe head only with the span's last block, as
 * the specification requires. An invalid block ends the run.
 */
export class DeriveDriver {
  readonly #pipeline: Pipeline
  readonly #world: DriverWorld
  /** Safe head after each L1 block that the pipeline has read completely. */
  readonly history: { readonly l1: L1Ref; readonly safe: SafeHead }[] = []
  readonly derived: DerivedAttributes[] = []
  safe: SafeHead
  #tip: SafeHead

  constructor(pipeline: Pipeline, start: StartPoint, world: DriverWorld) {
    this.#pipeline = pipeline
    this.#world = world
    this.safe = start.safe
    this.#tip = start.safe
  }

  run(): Halt {
    for (;;) {
      const step = this.#pipeline.step(this.#tip)
      if (step.kind === 'reset') return step
      if (step.kind === 'wait') throw new Error('unexpected wait of the pipeline')
      if (step.kind === 'item') {
        const invalid = this.#take(step.item)
        if (invalid) return invalid
        continue
      }
      const answer = this.#answer(step.want)
      if (answer === undefined) return { kind: 'l1', number: this.#pipeline.origin.number + 1 }
      this.#pipeline.provide(answer)
    }
  }

  /** Drops the pending blocks of a span: before Holocene an invalid block voids its span. */
  dropPending(): void {
    this.#tip = this.safe
  }

  /** Parent of the next block. It is ahead of `safe` in the middle of a span. */
  get tip(): SafeHead {
    return this.#tip
  }

  /** Moves the safe head to another block, built in place of the derived one. */
  moveTo(head: SafeHead): void {
    this.safe = head
    this.#tip = head
  }

  #take(derived: DerivedAttributes): Halt | undefined {
    this.derived.push(derived)
    const next = this.#world.build(derived, this.#tip)
    if (next === 'invalid') return { kind: 'invalid', derived }
    this.#tip = next
    if (derived.isLastInSpan) this.safe = next
    return undefined
  }

  /** Number of the safe head after an L1 block; undefined when the pipeline has not read that block. */
  safeAfter(l1Number: number): number | undefined {
    return this.history.findLast(({ l1 }) => l1.number === l1Number)?.safe.ref.number
  }

  #record(): void {
    const l1 = this.#pipeline.origin
    if (this.history.at(-1)?.l1.hash !== l1.hash) this.history.push({ l1, safe: this.safe })
  }

  #answer(want: Want): Answer | undefined {
    switch (want.kind) {
      case 'l1-block': {
        if (want.number > this.#pipeline.origin.number) this.#record()
        const block = this.#world.l1(want.number)
        return block && { kind: 'l1-block', block }
      }
      case 'blobs':
        return { kind: 'blobs', blobs: this.#world.blobs(want.hashes) }
      case 'l2-block':
        return { kind: 'l2-block', number: want.number, block: this.#world.l2(want.number) }
    }
  }
}

/** Returns the safe head at a recorded block. */
export function safeHeadAt(config: RollupConfig, ref: L2Ref, payload: Payload): SafeHead {
  return { ref, systemConfig: systemConfigOf(config, payload) }
}
