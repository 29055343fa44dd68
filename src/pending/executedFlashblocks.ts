import { lazyHeader, type PendingHeader } from '#block/execution/pendingHeader'
import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { ExecutedTransaction } from '#types/executedTransaction'
import type { Header } from '#types/header'
import { type Hash, hashFromBytes } from '#types/ids'
import type { FlashblockLocation, PendingBlock } from '#types/pendingBlock'
import type { StateDiff } from '#types/stateDiff'

/** The transactions of one flashblock and their results. Shared by the pending blocks after it and after each later flashblock of its build. */
export type ExecutedFlashblock = {
  readonly transactions: readonly Uint8Array[]
  readonly executed: readonly ExecutedTransaction[]
}

/** Returns an id that differs from every block hash and from the ids of other flashblocks. */
function pendingId({ parentHash }: PendingHeader, { number, payloadId, index }: FlashblockLocation): Hash {
  const location = [bytesFromBigint(BigInt(number), 8), fromHex(payloadId), bytesFromBigint(BigInt(index), 4)]
  return hashFromBytes(keccak256(concatBytes(fromHex(parentHash), ...location)))
}

/** A pending block made of its executed flashblocks, in the thread that executed them and in every thread that reads them. */
export class ExecutedFlashblocks implements PendingBlock {
  readonly number: number
  readonly payloadId: string
  readonly index: number
  readonly id: Hash
  readonly header: Header
  /** the header without the computed transactions root */
  readonly fields: PendingHeader
  readonly diff: StateDiff
  /** in the order of their indexes */
  readonly flashblocks: readonly ExecutedFlashblock[]
  #transactions: readonly Uint8Array[] | undefined
  #executed: readonly ExecutedTransaction[] | undefined

  constructor(location: FlashblockLocation, fields: PendingHeader, flashblocks: readonly ExecutedFlashblock[], diff: StateDiff) {
    this.number = location.number
    this.payloadId = location.payloadId
    this.index = location.index
    this.id = pendingId(fields, location)
    this.header = Object.freeze(lazyHeader(fields, () => this.transactions))
    this.fields = fields
    this.diff = diff
    this.flashblocks = flashblocks
    Object.freeze(this)
  }

  get transactions(): readonly Uint8Array[] {
    this.#transactions ??= this.flashblocks.flatMap(({ transactions }) => transactions)
    return this.#transactions
  }

  get executed(): readonly ExecutedTransaction[] {
    this.#executed ??= this.flashblocks.flatMap(({ executed }) => executed)
    return this.#executed
  }
}
