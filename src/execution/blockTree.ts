import type { Hash } from '#types/ids'
import type { ExecutedBlock } from './executedBlock.ts'

/** Bytes of the small parts of an executed transaction: header, hashes, objects; an estimate. */
const transactionOverheadBytes = 1_500
const blockOverheadBytes = 4_000

/** What a block holds in memory, roughly. */
export function sizeOfBlock(block: ExecutedBlock): number {
  let bytes = blockOverheadBytes + block.diff.bytes.byteLength
  for (const { node, path } of block.trie.nodes) bytes += 150 + path.length + (node?.length ?? 0)
  for (const raw of block.transactions) bytes += raw.length + transactionOverheadBytes
  for (const { receipt } of block.executed) for (const log of receipt.logs) bytes += log.data.length + 400
  return bytes
}

/**
 * Executed blocks by hash, whatever their branch: those that no commit has reached, and those lately committed, so that a reorg back to
 * them needs no execution. Bounded in bytes; the blocks added longest ago go first. A block that was dropped is simply not known any more.
 */
export class BlockTree {
  readonly #blocks = new Map<Hash, { readonly block: ExecutedBlock; readonly sizeBytes: number }>()
  readonly #maxBytes: number
  #sizeBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  get(hash: Hash): ExecutedBlock | undefined {
    return this.#blocks.get(hash)?.block
  }

  /** Adds a block, or makes it the newest. It stays at least until the next one comes. */
  add(block: ExecutedBlock): void {
    this.#delete(block.hash)
    const sizeBytes = sizeOfBlock(block)
    this.#blocks.set(block.hash, { block, sizeBytes })
    this.#sizeBytes += sizeBytes
    for (const hash of this.#blocks.keys()) {
      if (this.#sizeBytes <= this.#maxBytes || hash === block.hash) return
      this.#delete(hash)
    }
  }

  /** Forgets the blocks at and below a number: nothing will be built beside them any more. */
  dropUpTo(number: number): void {
    for (const [hash, { block }] of this.#blocks) if (block.header.number <= number) this.#delete(hash)
  }

  #delete(hash: Hash): void {
    const entry = this.#blocks.get(hash)
    if (entry === undefined) return
    this.#blocks.delete(hash)
    this.#sizeBytes -= entry.sizeBytes
  }
}
