import type { Log } from '#lib/log'
import type { Journal } from '#store/ports'
import type { Block } from '#types/block'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { BlockTree } from './blockTree.ts'
import {
  decodeBlockRecord,
  decodeHeadsRecord,
  encodeBlockRecord,
  encodeHeadsRecord,
  type JournalledBlock,
  type JournalledHeads,
} from './journalRecords.ts'

/** What a decision about a block needs of it. */
type Linked = BlockId & { readonly parentHash: Hash }

/**
 * Which blocks and heads the journal holds. Blocks from before the start *sleep*: they were found valid once, and are executed again when
 * somebody asks for them.
 */
export class BlockJournal {
  readonly #journal: Journal
  readonly #log: Log
  /** all that are there, with their blocks */
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
      this.#blocksIn(segment)
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
    this.#blocksIn(this.#journal.segment)
  }

  /** What is appended from now on stays when the segments so far are removed. @throws as `Journal.append` */
  beginSegment(): void {
    this.#journal.rotate()
  }

  /**
   * Removes the segments before the present one in which there is no block that only the journal would bring back after a kill. The caller has their
   * heads elsewhere: in the store, or in the present segment.
   * @param committed the head in the store
   */
  prune(tree: BlockTree, committed: BlockId, isCommitted: (hash: Hash) => boolean): void {
    const linkOf = (hash: Hash): Linked | undefined => {
      const header = tree.get(hash)?.header
      return header && { number: header.number, hash, parentHash: header.parentHash }
    }
    const awake = [...tree.blocks()].flatMap(({ hash }) => linkOf(hash) ?? [])
    const of = (hash: Hash): Linked | undefined => linkOf(hash) ?? this.#sleeping.get(hash)
    const needed = neededBlocks([...awake, ...this.#sleeping.values()], of, committed, isCommitted)
    for (const [segment, hashes] of this.#segments) {
      if (segment === this.#journal.segment || hashes.some((hash) => needed.has(hash))) continue
      this.#journal.drop(segment)
      this.#segments.delete(segment)
      for (const hash of hashes) {
        this.#held.delete(hash)
        this.#sleeping.delete(hash)
      }
    }
  }

  #note(segment: number, hash: Hash): void {
    this.#blocksIn(segment).push(hash)
    this.#held.add(hash)
  }

  #blocksIn(segment: number): Hash[] {
    const hashes = this.#segments.get(segment) ?? []
    this.#segments.set(segment, hashes)
    return hashes
  }
}

/**
 * The blocks whose loss would lose something that was acknowledged: those above the committed head, and what lies between them and the committed
 * chain.
 */
function neededBlocks(
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
