import type { Log } from '#lib/log'
import type { Journal, JournalPlace } from '#store/ports'
import type { Block } from '#types/block'
import type { Hash } from '#types/ids'
import type { BlockTree } from '../blockTree.ts'
import type { StageTimes } from '../stageTimes.ts'
import {
  type BlockLink,
  decodeBlockLink,
  decodeBlockRecord,
  decodeHeadsRecord,
  encodeBlockRecord,
  encodeHeadsRecord,
  type JournalledHeads,
} from './journalRecords.ts'

/**
 * Index of the blocks and heads in the journal. Blocks of an earlier run and unwound ones *sleep* while they are neither in the tree nor in the store: they
 * were valid when they were journalled, and are executed again when a caller needs them. Their bodies stay in the journal.
 */
export class BlockJournal {
  readonly #journal: Journal
  readonly #log: Log
  readonly #stages: StageTimes | undefined
  /** blocks of each segment */
  readonly #segments = new Map<number, Hash[]>()
  readonly #places = new Map<Hash, JournalPlace>()
  /** blocks that sleep, or did: the tree may drop an executed one again */
  readonly #sleeping = new Map<Hash, BlockLink>()
  /** current segment at the last `prune` */
  #prunedIn: number

  /** @param stages measures the appending of blocks */
  constructor(journal: Journal, log: Log, stages?: StageTimes) {
    this.#journal = journal
    this.#stages = stages
    this.#log = log
    this.#prunedIn = journal.segment
  }

  get sizeBytes(): number {
    return this.#journal.sizeBytes
  }

  /** Whether a segment was filled since the last `prune`. */
  get isLong(): boolean {
    return this.#journal.segment > this.#prunedIn
  }

  /**
   * Reads the journal. Ignores and logs a record that does not decode.
   * @returns heads in the order in which they were set
   */
  load(isCommitted: (hash: Hash) => boolean): JournalledHeads[] {
    const heads: JournalledHeads[] = []
    for (const { kind, bytes, segment, offset } of this.#journal.records()) {
      this.#blocksIn(segment)
      try {
        if (kind === 'heads') heads.push(decodeHeadsRecord(bytes))
        else {
          const block = decodeBlockLink(bytes)
          this.#note(block.hash, { segment, offset })
          if (!isCommitted(block.hash)) this.#sleeping.set(block.hash, block)
        }
      } catch (error) {
        this.#log.warn('journal record skipped', { kind, sizeBytes: bytes.length, error })
      }
    }
    return heads
  }

  /** Whether a block may be executed again from the journal. */
  holds(hash: Hash): boolean {
    return this.#sleeping.has(hash)
  }

  get hasSleeping(): boolean {
    return this.#sleeping.size > 0
  }

  /**
   * Returns the sleeping blocks of a branch, oldest first.
   * @param parentOf parent of a block in the tree; undefined for any other
   * @param isStored whether the store has a block
   */
  sleepingTo(tip: Hash, parentOf: (hash: Hash) => Hash | undefined, isStored: (hash: Hash) => boolean): BlockLink[] {
    const branch: BlockLink[] = []
    for (let hash: Hash | undefined = tip; hash !== undefined; ) {
      const parent: Hash | undefined = parentOf(hash)
      const block: BlockLink | undefined = parent === undefined ? this.#sleeping.get(hash) : undefined
      if (block && isStored(hash)) break
      if (block) branch.push(block)
      hash = parent ?? block?.parentHash
    }
    return branch.reverse()
  }

  /** Reads a sleeping block. @throws RangeError, RlpError when the record is malformed; as `Journal.read` */
  read(hash: Hash): Block {
    const place = this.#places.get(hash)
    if (place === undefined) throw new RangeError(`journal: no block ${hash}`)
    return decodeBlockRecord(this.#journal.read(place))
  }

  /** Forgets a sleeping block: it is invalid, or an ancestor is not known. */
  forget(hash: Hash): void {
    this.#sleeping.delete(hash)
  }

  /** Appends the block unless the journal has it. @throws as `Journal.append` */
  appendBlock(block: Block & { readonly hash: Hash }): void {
    if (this.#places.has(block.hash)) return
    this.#stages?.begin()
    this.#note(block.hash, this.#journal.append({ kind: 'block', bytes: encodeBlockRecord(block) }))
    this.#stages?.ended('journal')
  }

  /** Appends a block that leaves the store: it sleeps as soon as it is not in the tree. @throws as `Journal.append` */
  appendSleeping(block: Block & { readonly hash: Hash }): void {
    this.appendBlock(block)
    const { number, parentHash } = block.header
    this.#sleeping.set(block.hash, { number, hash: block.hash, parentHash })
  }

  /** @throws as `Journal.append` */
  appendHeads(heads: JournalledHeads): void {
    this.#journal.append({ kind: 'heads', bytes: encodeHeadsRecord(heads) })
    this.#blocksIn(this.#journal.segment)
  }

  /** Begins a segment: later records stay when earlier segments are removed. @throws as `Journal.append` */
  beginSegment(): void {
    this.#journal.rotate()
  }

  /**
   * Removes earlier segments without a block that only the journal would restore after a kill. The caller has their heads elsewhere: in the store, or in
   * the current segment.
   * @param above blocks at and below this number are not needed, unless they are ancestors of a block above
   * @param isCommitted whether the store has the block
   */
  prune(tree: BlockTree, above: number, isCommitted: (block: BlockLink) => boolean): void {
    const linkOf = (hash: Hash): BlockLink | undefined => {
      const header = tree.get(hash)?.header
      return header && { number: header.number, hash, parentHash: header.parentHash }
    }
    const awake = [...tree.blocks()].flatMap(({ hash }) => linkOf(hash) ?? [])
    const of = (hash: Hash): BlockLink | undefined => linkOf(hash) ?? this.#sleeping.get(hash)
    const needed = neededBlocks([...awake, ...this.#sleeping.values()], of, above, isCommitted)
    this.#prunedIn = this.#journal.segment
    for (const [segment, hashes] of this.#segments) {
      if (segment === this.#journal.segment || hashes.some((hash) => needed.has(hash))) continue
      this.#journal.drop(segment)
      this.#segments.delete(segment)
      for (const hash of hashes) {
        this.#places.delete(hash)
        this.#sleeping.delete(hash)
      }
    }
  }

  #note(hash: Hash, place: JournalPlace): void {
    this.#blocksIn(place.segment).push(hash)
    this.#places.set(hash, place)
  }

  #blocksIn(segment: number): Hash[] {
    const hashes = this.#segments.get(segment) ?? []
    this.#segments.set(segment, hashes)
    return hashes
  }
}

/** Returns the uncommitted blocks above a number, which must survive a kill, and their uncommitted ancestors. */
function neededBlocks(
  blocks: Iterable<BlockLink>,
  of: (hash: Hash) => BlockLink | undefined,
  above: number,
  isCommitted: (block: BlockLink) => boolean,
): Set<Hash> {
  const needed = new Set<Hash>()
  for (const block of blocks) {
    if (block.number <= above) continue
    for (let next: BlockLink | undefined = block; next && !needed.has(next.hash); next = of(next.parentHash)) {
      if (isCommitted(next)) break
      needed.add(next.hash)
    }
  }
  return needed
}
