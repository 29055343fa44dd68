import { rmSync } from 'node:fs'
import { readCanonicalHash, readHeader } from '#blockchain/chainStore'
import type { Digests } from '#state/digests/digests'
import { readMark, writeMark } from '#state/rows'
import { openOverlayKv } from '#store/overlayKv'
import type { Kv, KvReader, SnapshotSource } from '#store/ports'
import { tables } from '#store/tables'
import type { Hash } from '#types/ids'
import { FormatError } from '../format/byteReader.ts'
import { BlockUndoer, type UndoneBlock } from './undoBlock.ts'

/** Receiver of the changes of older blocks. */
export interface OlderChanges {
  /** digests of the rows of trie nodes that it wants too; absent: it wants none */
  readonly digests?: Digests
  /** Oldest block whose state can be read with the changes that are written. */
  oldest(): number
  /** Writes blocks, newest first, in one transaction. Those that are written already are left, or written again. */
  write(blocks: readonly UndoneBlock[]): void
}

const specs = [tables.meta, tables.accounts, tables.storage, tables.accountNodes, tables.storageNodes]
/** Changed rows of a transaction. */
const rowsAtOnce = 12_000

export type WalkDeps = {
  readonly chain: SnapshotSource
  /** directory of the rows that differ from those of the chain; it may be removed once the walk is over */
  readonly dir: string
  readonly into: OlderChanges
}

/**
 * The state of a chain, undone block by block with values of another node. Each block is verified against the header of its parent before a receiver gets its
 * changes. Effects of a step, in order: 1 the receiver writes, 2 the rows of the older state are written. After a kill between them the step is repeated.
 */
export class ValueWalk implements AsyncDisposable {
  readonly #deps: WalkDeps
  readonly #kv: Kv
  readonly #undoer: BlockUndoer
  #number: number

  private constructor(deps: WalkDeps, kv: Kv) {
    this.#deps = deps
    this.#undoer = new BlockUndoer(deps.into.digests)
    this.#kv = kv
    this.#number = numberOf(kv)
  }

  /** Opens a walk that was interrupted, or a new one. */
  static async open(deps: WalkDeps): Promise<ValueWalk> {
    const opened = (): Kv => openOverlayKv(deps.dir, specs, deps.chain)
    const kv = opened()
    // a power loss took changes that the receiver had
    if (numberOf(kv) >= deps.into.oldest()) return new ValueWalk(deps, kv)
    await kv[Symbol.asyncDispose]()
    rmSync(deps.dir, { recursive: true })
    return new ValueWalk(deps, opened())
  }

  /** Block whose state the rows have. */
  get number(): number {
    return this.#number
  }

  /**
   * Undoes blocks of a chunk that are not undone yet, in one transaction.
   * @param first block of the chunk
   * @param rows of values of its blocks, ascending
   * @returns whether all of its blocks are undone
   * @throws FormatError when a block is refused: none of the transaction is written
   */
  step(first: number, rows: readonly Uint8Array[]): boolean {
    const [next, last] = [this.#number, first + rows.length - 1]
    if (first > next || last < next) throw new FormatError(`it has blocks ${first} to ${last}, and block ${next} is expected`)
    this.#number = this.#kv.write((tx) => {
      using chain = this.#deps.chain.snapshot()
      const undone: UndoneBlock[] = []
      let number = next
      for (let count = 0; number >= first && count < rowsAtOnce; number--) {
        const block = this.#undoer.undo(tx, number, rows[number - first] as Uint8Array, stateRootOf(chain, number - 1))
        undone.push(block)
        count += 1 + block.values.length
      }
      writeMark(tx, 'head', number)
      this.#deps.into.write(undone)
      return number
    })
    return this.#number < first
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kv[Symbol.asyncDispose]()
  }
}

function numberOf(kv: Kv): number {
  using reader = kv.snapshot()
  return readMark(reader, 'head') ?? 0
}

function stateRootOf(chain: KvReader, number: number): Hash {
  const hash = readCanonicalHash(chain, number)
  const header = hash && readHeader(chain, { number, hash })
  if (header === undefined) throw new FormatError(`it has values of block ${number + 1}, and the chain has no block ${number}`)
  return header.stateRoot
}
