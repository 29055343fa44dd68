import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { MemoryGuard, MemoryLevel } from '#lib/memoryGuard'
import type { Hash } from '#types/ids'

/** Share of its bytes that the tree has at a level of memory. */
export const treeShareAt: Readonly<Record<MemoryLevel, number>> = { normal: 1, high: 0.25, full: 0.1 }

/** Estimated bytes of the small parts of an executed transaction: header, hashes, objects. */
const transactionOverheadBytes = 1_500
const blockOverheadBytes = 4_000

/** Returns an estimate of the memory of a block in bytes. */
export function sizeOfBlock(block: ExecutedBlock): number {
  let bytes = blockOverheadBytes + block.diff.bytes.byteLength + block.trie.nodes.buffer.byteLength
  for (const raw of block.transactions) bytes += raw.length + transactionOverheadBytes
  for (const { receipt } of block.executed) for (const log of receipt.logs) bytes += log.data.length + 400
  return bytes
}

/** Costs of a block: time to execute it again at a start, its bytes in the journal and in memory. */
export type BlockLoad = { readonly ms: number; readonly journalBytes: number; readonly sizeBytes: number }

export const noLoad: BlockLoad = { ms: 0, journalBytes: 0, sizeBytes: 0 }

type Entry = BlockLoad & { readonly block: ExecutedBlock }

const headerBytes = 700
/** Time that a start needs for any block, besides its execution. */
export const startBlockMs = 2

function loadOf(block: ExecutedBlock, ms: number): BlockLoad {
  let journalBytes = headerBytes
  for (const raw of block.transactions) journalBytes += raw.length
  return { ms: ms + startBlockMs, journalBytes, sizeBytes: sizeOfBlock(block) }
}

export type TreeDeps = {
  /** Whether a block stays: it is published and not stored. The caller commits such blocks before they fill the tree. */
  readonly isKept: (block: ExecutedBlock) => boolean
  /** Whether a block is in the store as a canonical one. */
  readonly isStored: (block: ExecutedBlock) => boolean
  /** Shrinks the tree while memory is short; absent: the bound is fixed. */
  readonly memory?: Pick<MemoryGuard, 'onChange'> | undefined
}

const nothingStays: TreeDeps = { isKept: () => false, isStored: () => false }

/**
 * Executed blocks by hash, of any branch: those not committed yet, and recently committed ones, so that a reorg back to them needs no execution.
 * Bounded in bytes; drops the blocks added longest ago, which are unknown from then on.
 */
export class BlockTree implements Disposable {
  readonly #entries = new Map<Hash, Entry>()
  readonly #givenBytes: number
  readonly #deps: TreeDeps
  readonly #levels: Disposable | undefined
  #newest: ExecutedBlock | undefined
  #maxBytes: number
  #sizeBytes = 0
  #removed = 0

  constructor(maxBytes: number, deps = nothingStays) {
    this.#givenBytes = maxBytes
    this.#maxBytes = maxBytes
    this.#deps = deps
    this.#levels = deps.memory?.onChange((level) => this.#limitTo(treeShareAt[level]))
  }

  /** Ends the reaction to memory that is short. */
  [Symbol.dispose](): void {
    this.#levels?.[Symbol.dispose]()
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Number of blocks that were removed or replaced so far. */
  get removed(): number {
    return this.#removed
  }

  get(hash: Hash): ExecutedBlock | undefined {
    return this.#entries.get(hash)?.block
  }

  /** Returns undefined when the block is not in the tree. */
  loadOf(hash: Hash): BlockLoad | undefined {
    return this.#entries.get(hash)
  }

  /** Returns the load of a chain of blocks; for an extension of the chain before, adds the new blocks only. @param load of the chain before */
  loadOfChain(blocks: readonly ExecutedBlock[], before: readonly ExecutedBlock[], load: BlockLoad): BlockLoad {
    const isLonger = before.length > 0 && blocks[before.length - 1] === before.at(-1)
    return isLonger ? this.#sum(load, blocks.slice(before.length), 1) : this.#sum(noLoad, blocks, 1)
  }

  /** Returns a load minus that of the given blocks of the tree. */
  loadWithout(load: BlockLoad, blocks: readonly ExecutedBlock[]): BlockLoad {
    return this.#sum(load, blocks, -1)
  }

  #sum(load: BlockLoad, blocks: readonly ExecutedBlock[], sign: 1 | -1): BlockLoad {
    let { ms, journalBytes, sizeBytes } = load
    for (const { hash } of blocks) {
      const entry = this.#entries.get(hash) ?? noLoad
      ms += sign * entry.ms
      journalBytes += sign * entry.journalBytes
      sizeBytes += sign * entry.sizeBytes
    }
    return { ms, journalBytes, sizeBytes }
  }

  *blocks(): Iterable<ExecutedBlock> {
    for (const { block } of this.#entries.values()) yield block
  }

  /**
   * Adds a block, or makes it the newest. It stays at least until the next block is added.
   * @param ms execution time of the block
   */
  add(block: ExecutedBlock, ms = 0): void {
    this.#delete(block.hash)
    const load = loadOf(block, ms)
    this.#entries.set(block.hash, { block, ...load })
    this.#sizeBytes += load.sizeBytes
    this.#newest = block
    this.#evict()
  }

  #limitTo(share: number): void {
    this.#maxBytes = this.#givenBytes * share
    this.#evict()
  }

  #evict(): void {
    if (this.#sizeBytes <= this.#maxBytes) return
    const line = this.#newestLine()
    for (const { block } of this.#entries.values()) {
      if (this.#sizeBytes <= this.#maxBytes) return
      if (!line.has(block.hash) && !this.#deps.isKept(block)) this.#delete(block.hash)
    }
  }

  /**
   * Returns the newest block and its ancestors that are neither published nor stored: the caller needs all of them to make them canonical. Above the configured
   * bytes, returns the newest block only.
   */
  #newestLine(): ReadonlySet<Hash> {
    const { isKept, isStored } = this.#deps
    const line = new Set<Hash>()
    for (let block = this.#newest; block !== undefined; block = this.get(block.header.parentHash)) {
      if (line.size > 0 && (this.#sizeBytes > this.#givenBytes || isKept(block) || isStored(block))) break
      line.add(block.hash)
    }
    return line
  }

  /** Drops the blocks at and below a number, where no new branch can begin. */
  dropUpTo(number: number): void {
    for (const [hash, { block }] of this.#entries) if (block.header.number <= number) this.#delete(hash)
  }

  #delete(hash: Hash): void {
    const entry = this.#entries.get(hash)
    if (entry === undefined) return
    this.#entries.delete(hash)
    if (entry.block === this.#newest) this.#newest = undefined
    this.#sizeBytes -= entry.sizeBytes
    this.#removed++
  }
}
