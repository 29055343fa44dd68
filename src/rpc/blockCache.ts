import { Lru } from '#lib/lru'
import { encodedBlockSize } from '#types/block'
import { type Hash, zeroHash } from '#types/ids'
import { decodeTransaction, hashTransaction } from '#types/transaction'
import { prunedHistory } from './errors.ts'
import type { ChainBlock, ChainReceipt, ChainView } from './ports.ts'
import type { MinedBlock } from './results/block.ts'
import type { PlacedLog } from './results/log.ts'
import type { MinedReceipt } from './results/receipt.ts'
import type { MinedTransaction } from './results/transaction.ts'

/** Of a decoded transaction, beside its bytes. */
const transactionBytes = 1_000
const blockBytes = 4_000

/** Whether a block is finished: one that is not has an id in views, and no hash. */
export type Seal = 'sealed' | 'unsealed'

/** A block with its receipts, whose parts are decoded when they are asked for, each once. */
export class DecodedBlock {
  readonly of: ChainBlock
  readonly receipts: readonly ChainReceipt[]
  readonly seal: Seal
  /** as its logs name it */
  readonly place: PlacedLog['block']
  readonly #place: MinedTransaction['block']
  readonly #hashes: Hash[] = []
  readonly #transactions: MinedTransaction[] = []
  #encodedBytes: number | undefined

  constructor(of: ChainBlock, receipts: readonly ChainReceipt[], seal: Seal = 'sealed') {
    this.of = of
    this.receipts = receipts
    this.seal = seal
    const { header, ommers } = of.block
    this.place = { hash: seal === 'sealed' ? of.hash : zeroHash, number: header.number, timestamp: header.timestamp }
    const timestamp = ommers && { timestamp: header.timestamp }
    this.#place = { hash: seal === 'sealed' ? of.hash : null, number: header.number, baseFee: header.baseFeePerGas ?? 0n, ...timestamp }
  }

  /** Transactions in it. */
  get count(): number {
    return this.of.block.transactions.length
  }

  /** Memory it takes when all of it is decoded, roughly. */
  get sizeBytes(): number {
    const raws = this.of.block.transactions.reduce((sum, { length }) => sum + length + transactionBytes, blockBytes)
    return this.receipts.reduce((sum, { sizeBytes }) => sum + sizeBytes, raws)
  }

  /** Bytes of the block's encoding. */
  get encodedBytes(): number {
    this.#encodedBytes ??= encodedBlockSize(this.of.block)
    return this.#encodedBytes
  }

  /** RangeError beyond the end. */
  hashAt(index: number): Hash {
    const known = this.#hashes[index]
    if (known !== undefined) return known
    const raw = this.of.block.transactions[index]
    if (raw === undefined) throw new RangeError(`transaction ${index} of ${this.count}`)
    const made = hashTransaction(raw)
    this.#hashes[index] = made
    return made
  }

  /** Undefined beyond the end. */
  transaction(index: number): MinedTransaction | undefined {
    const known = this.#transactions[index]
    if (known) return known
    const raw = this.of.block.transactions[index]
    const from = this.of.senders[index]
    if (raw === undefined || from === undefined) return undefined
    const receipt = this.receipts[index]?.receipt
    const made = { transaction: decodeTransaction(raw), hash: this.hashAt(index), from, block: this.#place, index, receipt }
    this.#transactions[index] = made
    return made
  }

  /** Undefined beyond the end. */
  receipt(index: number): MinedReceipt | undefined {
    const mined = this.transaction(index)
    const placed = this.receipts[index]
    return mined && placed && { mined, placed, timestamp: this.of.block.header.timestamp }
  }

  /** What is shown of it: of one that is not sealed neither hash nor size. */
  shown(transactions: MinedBlock['transactions']['kind']): MinedBlock {
    return {
      hash: this.place.hash,
      block: this.of.block,
      ...(this.seal === 'sealed' && { sizeBytes: this.encodedBytes }),
      transactions: transactions === 'full' ? { kind: 'full', full: this.transactions() } : { kind: 'hashes', hashes: this.hashes() },
    }
  }

  minedReceipts(): MinedReceipt[] {
    return this.receipts.flatMap((_receipt, index) => this.receipt(index) ?? [])
  }

  hashes(): Hash[] {
    return this.of.block.transactions.map((_raw, index) => this.hashAt(index))
  }

  transactions(): MinedTransaction[] {
    return this.of.senders.flatMap((_sender, index) => this.transaction(index) ?? [])
  }
}

/** A block with its receipts; undefined when the block is unknown, RpcError 4444 when only the receipts are gone. */
export function readBlock(view: ChainView, hash: Hash): DecodedBlock | undefined {
  const of = view.block(hash)
  if (of === undefined) return undefined
  const receipts = view.receipts(hash)
  if (receipts === undefined || receipts.length !== of.block.transactions.length) throw prunedHistory()
  return new DecodedBlock(of, receipts, view.heads.unsealed?.some((block) => block.hash === hash) ? 'unsealed' : 'sealed')
}

/** Increments of unsealed blocks that are kept: each is asked for while it is the newest, and then no more. */
const maxUnsealed = 4

/** Blocks that were asked for lately. A block never changes, so one of any branch may be kept; whether it is canonical a view tells. */
export interface BlockCache {
  /** As `readBlock`; kept for the next who asks. */
  read(view: ChainView, hash: Hash): DecodedBlock | undefined
  /** A block that is kept already; nothing is read. */
  kept(hash: Hash): DecodedBlock | undefined
  /** As `readBlock`, for who reads many blocks: what is kept is used, nothing more is kept. */
  pass(view: ChainView, hash: Hash): DecodedBlock | undefined
}

/** @param maxBytes of all blocks that are kept, roughly */
export function createBlockCache(maxBytes: number): BlockCache {
  const kept = new Lru<Hash, DecodedBlock>(maxBytes)
  const unsealed = new Lru<Hash, DecodedBlock>(maxUnsealed)
  const find = (hash: Hash): DecodedBlock | undefined => kept.get(hash) ?? unsealed.get(hash)
  return {
    read(view, hash): DecodedBlock | undefined {
      const known = find(hash)
      if (known) return known
      const block = readBlock(view, hash)
      if (block?.seal === 'unsealed') unsealed.set(hash, block, 1)
      else if (block) kept.set(hash, block, block.sizeBytes)
      return block
    },
    kept: (hash) => kept.get(hash),
    pass: (view, hash) => find(hash) ?? readBlock(view, hash),
  }
}
