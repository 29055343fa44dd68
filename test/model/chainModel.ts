import type { L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import type { Action, Result, World } from './world.ts'

/** A block with its parent and the world after it. */
export type ModelBlock = {
  readonly ref: L2Ref
  readonly payload: Payload
  readonly parent: ModelBlock | undefined
  readonly actions: readonly Action[]
  readonly results: readonly Result[]
  readonly world: World
}
export type ModelHeads = { readonly unsafe: ModelBlock; readonly safe: ModelBlock; readonly finalized: ModelBlock }

/** Number of abandoned blocks that are remembered. */
const maxAbandoned = 40

/**
 * Which blocks exist, which are canonical, and which the product may have forgotten. Blocks that do not descend from the finalized head are abandoned,
 * all but a few are forgotten here too, so that the model's memory grows with the canonical chain only.
 */
export class ChainModel {
  /** canonical blocks by number */
  canonical: readonly ModelBlock[]
  /** Heads that the product has acknowledged. */
  heads: ModelHeads
  /** Heads of a call without an answer: a kill may come before or after their effect. */
  asked: ModelHeads | undefined
  /** Blocks that descend from the finalized head, and that head. */
  readonly #open = new Map<Hash, ModelBlock>()
  #abandoned: ModelBlock[] = []
  /** Blocks that the product may have forgotten. A block above one of them may be unknown too. */
  readonly #mayBeGone = new Set<Hash>()
  /** Blocks by the hash of a transaction. */
  readonly #places = new Map<Hash, ModelBlock[]>()
  /** The product keeps few side blocks. */
  readonly #forgetsSides: boolean

  constructor(genesis: ModelBlock, forgetsSides: boolean) {
    this.canonical = [genesis]
    this.heads = { unsafe: genesis, safe: genesis, finalized: genesis }
    this.#open.set(genesis.ref.hash, genesis)
    this.#forgetsSides = forgetsSides
  }

  get open(): readonly ModelBlock[] {
    return [...this.#open.values()]
  }

  get abandoned(): readonly ModelBlock[] {
    return this.#abandoned
  }

  find(hash: Hash): ModelBlock | undefined {
    return this.#open.get(hash)
  }

  isCanonical({ ref }: ModelBlock): boolean {
    return this.canonical[ref.number]?.ref.hash === ref.hash
  }

  /** Returns whether the product must know the block. */
  mustKnow(block: ModelBlock): boolean {
    for (let at: ModelBlock | undefined = block; at && !this.isCanonical(at); at = at.parent) {
      const { hash } = at.ref
      if (this.#forgetsSides || this.#mayBeGone.has(hash) || !this.#open.has(hash)) return false
    }
    return true
  }

  /** Adds a block that the product has acknowledged. */
  add(block: ModelBlock): void {
    this.#mayBeGone.delete(block.ref.hash)
    if (this.isCanonical(block) || this.find(block.ref.hash)) return
    this.#open.set(block.ref.hash, block)
    for (const { hash } of block.actions) this.#places.set(hash, [...(this.#places.get(hash) ?? []), block])
  }

  /** Notes that the product did not know the block. */
  forget(block: ModelBlock): void {
    this.#mayBeGone.add(block.ref.hash)
  }

  /** Returns the canonical place of a transaction. */
  placeOf(hash: Hash): { readonly block: ModelBlock; readonly index: number } | undefined {
    const block = this.#places.get(hash)?.find((each) => this.isCanonical(each))
    return block && { block, index: block.actions.findIndex((action) => action.hash === hash) }
  }

  /** Notes that a commit may take place: the product may drop side blocks at and below the head without a descendant above it. */
  noteCommit(): void {
    const head = this.heads.unsafe.ref.number
    const kept = new Set<Hash>()
    for (const block of this.#open.values()) {
      if (block.ref.number <= head) continue
      for (let at: ModelBlock | undefined = block; at && !kept.has(at.ref.hash) && !this.isCanonical(at); at = at.parent)
        kept.add(at.ref.hash)
    }
    for (const block of this.#open.values()) {
      if (!this.isCanonical(block) && !kept.has(block.ref.hash)) this.#mayBeGone.add(block.ref.hash)
    }
  }

  /** Makes heads the acknowledged ones. @returns the number of blocks that are no longer canonical */
  acknowledge(heads: ModelHeads): number {
    this.asked = undefined
    const branch: ModelBlock[] = []
    let at: ModelBlock | undefined = heads.unsafe
    for (; at && !this.isCanonical(at); at = at.parent) branch.unshift(at)
    const removed = this.canonical.length - 1 - (at?.ref.number ?? -1)
    this.canonical = [...this.canonical.slice(0, (at?.ref.number ?? -1) + 1), ...branch]
    if (heads.finalized.ref.hash !== this.heads.finalized.ref.hash) this.#finalize(heads.finalized)
    this.heads = heads
    return removed
  }

  #finalize(finalized: ModelBlock): void {
    const left = this.open.filter((block) => !isAncestor(finalized, block))
    for (const { ref } of left) this.#open.delete(ref.hash)
    const abandoned = left.filter((block) => !this.isCanonical(block))
    for (const block of abandoned) this.#drop(block)
    this.#abandoned = [...this.#abandoned, ...abandoned].slice(-maxAbandoned)
  }

  #drop(block: ModelBlock): void {
    this.#mayBeGone.delete(block.ref.hash)
    for (const { hash } of block.actions) {
      const left = this.#places.get(hash)?.filter((each) => each !== block) ?? []
      if (left.length > 0) this.#places.set(hash, left)
      else this.#places.delete(hash)
    }
  }
}

/** Returns whether a block is another one or below it on its branch. */
export function isAncestor(of: ModelBlock, block: ModelBlock): boolean {
  let at: ModelBlock | undefined = block
  while (at && at.ref.number > of.ref.number) at = at.parent
  return at === of
}
