import { deserialize, serialize } from 'node:v8'
import type { ExecutedTransaction } from '#block/execution/executedBlock'
import { lazyHeader, type PendingBlock, type PendingBlocks, type PendingHeader } from '#block/execution/pendingBlock'
import type { Header } from '#types/header'
import type { Hash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import { StateDiffTable } from '#types/stateDiffTable'
import { aloneIn, type PackedBytes, shareBytes, shared, unpackBytes } from './packedBlocks.ts'

/** Consecutive transactions of a block. */
type PackedPart = { readonly transactions: PackedBytes<SharedArrayBuffer>; readonly executed: Uint8Array<SharedArrayBuffer> }

/** A pending block after a flashblock: the transactions of the flashblock, and the diff of the whole block. */
type PackedPendingBlock = Pick<PendingBlock, 'payloadId' | 'index' | 'id'> & {
  readonly fields: PendingHeader
  readonly diff: SharedArrayBuffer
  /** index in the previous list of the block that this one extends; absent: all transactions are in `added` */
  readonly continues?: number
  readonly added: PackedPart
}

/** Pending blocks as they cross threads. Packed once for all readers: bytes are shared, not copied. */
export type PackedPending = Pick<PendingBlocks, 'freshUntilMs'> & {
  /** oldest first; a number: the unchanged block with this index in the previous list */
  readonly blocks: readonly (number | PackedPendingBlock)[]
}

/** Returns whether a block extends another: both share the executed transactions at their start. */
function continues(block: PendingBlock, before: PendingBlock): boolean {
  const { length } = before.executed
  return block.payloadId === before.payloadId && length > 0 && block.executed[length - 1] === before.executed[length - 1]
}

function packBlock(block: PendingBlock, before: readonly PendingBlock[]): number | PackedPendingBlock {
  const same = before.indexOf(block)
  if (same >= 0) return same
  const { payloadId, index, id, fields, transactions, executed, diff } = block
  const of = before.findIndex((one) => continues(block, one))
  const from = before[of]?.executed.length ?? 0
  const added = { transactions: shareBytes(transactions.slice(from)), executed: shared(serialize(executed.slice(from))) }
  return { payloadId, index, id, fields: aloneIn(fields), diff: diff.bytes, ...(of >= 0 && { continues: of }), added }
}

/**
 * Packs pending blocks in O(bytes of added flashblocks).
 * @param before the pending blocks that the reader has
 */
export function packPending(before: PendingBlocks | undefined, now: PendingBlocks | undefined): PackedPending | undefined {
  if (now === undefined) return undefined
  return { freshUntilMs: now.freshUntilMs, blocks: now.blocks.map((block) => packBlock(block, before?.blocks ?? [])) }
}

/** Returns the bytes that stay in memory until a message with the blocks is taken. */
export function packedPendingBytes({ blocks }: PackedPending): number {
  return blocks.reduce<number>((sum, block) => {
    if (typeof block === 'number') return sum
    return sum + block.diff.byteLength + block.added.executed.length + block.added.transactions.bytes.length
  }, 0)
}

/** Part of a block, unpacked on first access, once for all blocks that begin with it. */
class MirroredPart {
  readonly #packed: PackedPart
  #transactions: readonly Uint8Array[] | undefined
  #executed: readonly ExecutedTransaction[] | undefined

  constructor(packed: PackedPart) {
    this.#packed = packed
  }

  get transactions(): readonly Uint8Array[] {
    this.#transactions ??= unpackBytes(this.#packed.transactions)
    return this.#transactions
  }

  get executed(): readonly ExecutedTransaction[] {
    this.#executed ??= deserialize(this.#packed.executed.slice()) as readonly ExecutedTransaction[]
    return this.#executed
  }
}

/** A pending block that another thread executes. */
class RemotePendingBlock implements PendingBlock {
  readonly payloadId: string
  readonly index: number
  readonly id: Hash
  readonly fields: PendingHeader
  readonly header: Header
  readonly diff: StateDiff
  readonly parts: readonly MirroredPart[]
  #transactions: readonly Uint8Array[] | undefined
  #executed: readonly ExecutedTransaction[] | undefined

  constructor({ payloadId, index, id, fields, diff }: PackedPendingBlock, parts: readonly MirroredPart[]) {
    this.payloadId = payloadId
    this.index = index
    this.id = id
    this.fields = fields
    this.header = lazyHeader(fields, () => this.transactions)
    this.diff = new StateDiffTable(diff)
    this.parts = parts
  }

  get transactions(): readonly Uint8Array[] {
    this.#transactions ??= this.parts.flatMap(({ transactions }) => transactions)
    return this.#transactions
  }

  get executed(): readonly ExecutedTransaction[] {
    this.#executed ??= this.parts.flatMap(({ executed }) => executed)
    return this.#executed
  }
}

/** @param before the pending blocks unpacked last */
export function unpackPending(before: PendingBlocks | undefined, { freshUntilMs, blocks }: PackedPending): PendingBlocks {
  const mirrored = (index: number): RemotePendingBlock => {
    const block = before?.blocks[index]
    if (!(block instanceof RemotePendingBlock)) throw new RangeError(`pending block ${index} is not known`)
    return block
  }
  const unpacked = blocks.map((block) => {
    if (typeof block === 'number') return mirrored(block)
    const earlier = block.continues === undefined ? [] : mirrored(block.continues).parts
    return new RemotePendingBlock(block, [...earlier, new MirroredPart(block.added)])
  })
  return Object.freeze({ blocks: Object.freeze(unpacked), freshUntilMs })
}
