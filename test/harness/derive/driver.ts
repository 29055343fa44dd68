import { systemConfigOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Answer, DerivedAttributes, L1Block, Pipeline, SafeBlock, SafeHead, StartPoint, Want } from '#derive/ports'
import type { L1Ref, L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'

/** What execution made of attributes: the new safe head, or nothing because they are invalid. */
export type Build = (derived: DerivedAttributes, safe: SafeHead) => SafeHead | 'invalid'

export type DriverWorld = {
  readonly l1: (number: number) => L1Block | undefined
  readonly blobs: (hashes: readonly Hash[]) => readonly Uint8Array[] | 'missing'
  readonly l2: (number: number) => SafeBlock | undefined
  readonly build: Build
}

export type Halt =
  /** L1 has no such block yet */
  | { readonly kind: 'l1'; readonly number: number }
  | { readonly kind: 'reset'; readonly reason: string }
  | { readonly kind: 'invalid'; readonly derived: DerivedAttributes }

/**
 * Drives a pipeline with everything at hand. Attributes of a span batch move the safe head only with its last block (before Holocene), as the
 * specification has it; an invalid block stops it unless `onInvalid` says to go on.
 */
export class DeriveDriver {
  readonly #pipeline: Pipeline
  readonly #world: DriverWorld
  /** safe head after each L1 block that was read to its end */
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
      if (step.kind === 'wait') throw new Error('the pipeline never waits')
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

  /** Before Holocene: an invalid block voids the span it stands in. */
  dropPending(): void {
    this.#tip = this.safe
  }

  /** What the next block is built on: ahead of `safe` in the middle of a span. */
  get tip(): SafeHead {
    return this.#tip
  }

  /** Another block was built in place of the derived one. */
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

  /** Safe head after an L1 block; undefined when that was not read. */
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

/** The safe head at a recorded block. */
export function safeHeadAt(config: RollupConfig, ref: L2Ref, payload: Payload): SafeHead {
  return { ref, systemConfig: systemConfigOf(config, payload) }
}
