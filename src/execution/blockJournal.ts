import type { Log } from '#lib/log'
import type { Journal } from '#store/ports'
import type { Block } from '#types/block'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import {
  decodeBlockRecord,
  decodeHeadsRecord,
  encodeBlockRecord,
  encodeHeadsRecord,
  type JournalledBlock,
  type JournalledHeads,
} from './journalRecords.ts'

/** What a decision about a block needs of it. */
export type Linked = BlockId & { readonly parentHash: Hash }

/**
 * Which blocks and heads the journal holds. Blocks from before the start *sleep*: they were found valid once, and are executed again when
 * somebody asks for them.
 */
export class BlockJournal {
  readonly #journal: Journal
  readonly #log: Log
  readonly #segments = new Map<number, Hash[]>()
  readonly #held = new Set<Hash>()
  readonly #sleeping = new Map<Hash, JournalledBlock>()

  constructor(journal: Journal, log: Log) {
    this.#journal = journal
    this.#log = log
  }

  get sizeBytes(): number {
    return this.#journal.sizeBytes
  }

  /**
   * Reads what is there. A record that makes no sense is passed over, and the log says so.
   * @returns heads in the order in which they were set
   */
  load(isCommitted: (hash: Hash) => boolean): JournalledHeads[] {
    const heads: JournalledHeads[] = []
    for (const { kind, bytes, segment } of this.#journal.records()) {
      try {
        if (kind === 'heads') heads.push(decodeHeadsRecord(bytes))
        else {
          const block = decodeBlockRecord(bytes)
          this.#note(segment, block.hash)
          if (!isCommitted(block.hash)) this.#sleeping.set(block.hash, block)
        }
      } catch (error) {
        this.#log.warn('journal record passed over', { kind, sizeBytes: bytes.length, error })
      }
    }
    return heads
  }

  sleeps(hash: Hash): boolean {
    return this.#sleeping.has(hash)
  }

  sleepers(): Iterable<JournalledBlock> {
    return this.#sleeping.values()
  }

  /**
   * The sleeping blocks from one down, oldest first.
   * @param parentOf an awake block's parent; undefined for any other
   */
  sleepingTo(tip: Hash, parentOf: (hash: Hash) => Hash | undefined): JournalledBlock[] {
    if (this.#sleeping.size === 0) return []
    const branch: JournalledBlock[] = []
    for (let hash: Hash | undefined = tip; hash !== undefined; ) {
      const block = this.#sleeping.get(hash)
      if (block) branch.push(block)
      hash = block ? block.parentHash : parentOf(hash)
    }
    return branch.reverse()
  }

  /** The block is awake, or was found to be none. */
  rouse(hash: Hash): void {
    this.#sleeping.delete(hash)
  }

  /** Appends the block unless it is there already. @throws as `Journal.append` */
  appendBlock(block: Block & { readonly hash: Hash }): void {
    if (this.#held.has(block.hash)) return
    this.#journal.append({ kind: 'block', bytes: encodeBlockRecord(block) })
    this.#note(this.#journal.segment, block.hash)
  }

  /** Appends a block that is about to leave the store, and that nobody has in memory: it sleeps from now on. @throws as `Journal.append` */
  appendSleeping(block: Block & { readonly hash: Hash }): void {
    this.appendBlock(block)
    this.#sleeping.set(block.hash, decodeBlockRecord(encodeBlockRecord(block)))
  }

  /** @throws as `Journal.append` */
  appendHeads(heads: JournalledHeads): void {
    this.#journal.append({ kind: 'heads', bytes: encodeHeadsRecord(heads) })
  }

  /** After a commit, which has all heads so far: begins a segment, and removes those in which no block is needed any more. */
  prune(isNeeded: (hash: Hash) => boolean): void {
    this.#journal.rotate()
    for (const [segment, hashes] of this.#segments) {
      if (segment === this.#journal.segment || hashes.some(isNeeded)) continue
      this.#journal.drop(segment)
      this.#segments.delete(segment)
      for (const hash of hashes) {
        this.#held.delete(hash)
        this.#sleeping.delete(hash)
      }
    }
  }

  #note(segment: number, hash: Hash): void {
    const hashes = this.#segments.get(segment)
    if (hashes) hashes.push(hash)
    else this.#segments.set(segment, [hash])
    this.#held.add(hash)
  }
}

/**
 * The blocks whose loss would lose something that was acknowledged: those above the committed head, and what lies between them and the committed
 * chain.
 */
export function neededBlocks(
  blocks: Iterable<Linked>,
  of: (hash: Hash) => Linked | undefined,
  committed: BlockId,
  isCommitted: (hash: Hash) => boolean,
): Set<Hash> {
  const needed = new Set<Hash>()
  for (const block of blocks) {
    if (block.number <= committed.number) continue
    for (let next: Linked | undefined = block; next && !needed.has(next.hash); next = of(next.parentHash)) {
      if (next.number <= committed.number && isCommitted(next.hash)) break
      needed.add(next.hash)
    }
  }
  return needed
}
