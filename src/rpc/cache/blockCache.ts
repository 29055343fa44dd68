import { timeMsOfBlock } from '#chainspec/baseTime'
import { equalBytes } from '#lib/bytes'
import type { CacheSource } from '#lib/caches'
import { Lru } from '#lib/lru'
import { encodedBlockSize } from '#types/block'
import type { ChainBlock, ChainReceipt, ChainView } from '#types/chainView'
import { type Hash, zeroHash } from '#types/ids'
import type { LogMatcher } from '#types/logMatcher'
import { decodeTransaction, depositType, hashTransaction } from '#types/transaction'
import { prunedHistory } from '../errors.ts'
import { blockHeadText } from '../results/block.ts'
import type { LocatedLog } from '../results/log.ts'
import type { MinedReceipt } from '../results/receipt.ts'
import type { MinedTransaction } from '../results/transaction.ts'
import { BlockText } from './blockText.ts'

/** Memory of a decoded transaction in addition to its bytes: sender, hash, objects. */
const transactionBytes = 300
const blockBytes = 4_000

/** Whether a block is sealed. An unsealed block has an id in views, and no hash. */
export type Seal = 'sealed' | 'unsealed'

export type DecodedOptions = {
  readonly seal?: Seal
  /** called when the block takes more memory than before */
  readonly onGrown?: (block: DecodedBlock) => void
  /** possibly the same block with fewer transactions */
  readonly before?: DecodedBlock | undefined
}

/** Whether `now` is `before` with the same or more transactions, so that the common transactions have the same JSON. */
function isGrown(before: DecodedBlock, now: DecodedBlock): boolean {
  const [a, b] = [before.of.block, now.of.block]
  const fields = ['parentHash', 'number', 'timestamp', 'baseFeePerGas'] as const
  if (fields.some((field) => a.header[field] !== b.header[field]) || before.seal !== now.seal || before.count > now.count) return false
  return a.transactions.every((raw, index) => equalBytes(raw, b.transactions[index] as Uint8Array))
}

/** A block with its receipts. Decodes its parts on demand and keeps their JSON. */
export class DecodedBlock {
  readonly of: ChainBlock
  readonly receipts: readonly ChainReceipt[]
  readonly seal: Seal
  /** the block fields of its logs */
  readonly place: LocatedLog['block']
  readonly text: BlockText
  readonly #place: MinedTransaction['block']
  readonly #hashes: Hash[] = []
  readonly #ownBytes: number

  constructor(of: ChainBlock, receipts: readonly ChainReceipt[], { seal = 'sealed', onGrown, before }: DecodedOptions = {}) {
    this.of = of
    this.receipts = receipts
    this.seal = seal
    const { header, ommers } = of.block
    const timeMs = seal === 'sealed' ? timeMsOfBlock(of.block) : undefined
    this.place = { hash: seal === 'sealed' ? of.hash : zeroHash, number: header.number, timestamp: header.timestamp, timeMs }
    const timestamp = ommers && { timestamp: header.timestamp }
    const baseFee = header.baseFeePerGas ?? 0n
    this.#place = { hash: seal === 'sealed' ? of.hash : null, number: header.number, baseFee, ...timestamp, timeMs }
    const raws = of.block.transactions.reduce((sum, { length }) => sum + length + transactionBytes, blockBytes)
    this.#ownBytes = receipts.reduce((sum, { sizeBytes }) => sum + sizeBytes, raws)
    this.text = new BlockText(this, () => onGrown?.(this), before && isGrown(before, this) ? before.text : undefined)
  }

  get count(): number {
    return this.of.block.transactions.length
  }

  get sizeBytes(): number {
    return this.#ownBytes + this.text.sizeBytes
  }

  /** JSON of the block up to its transactions. An unsealed block has neither hash nor size. */
  headText(): string {
    const { block } = this.of
    return blockHeadText({ hash: this.place.hash, block, ...(this.seal === 'sealed' && { sizeBytes: encodedBlockSize(block) }) })
  }

  /** @throws RangeError beyond the end */
  hashAt(index: number): Hash {
    const known = this.#hashes[index]
    if (known !== undefined) return known
    const raw = this.of.block.transactions[index]
    if (raw === undefined) throw new RangeError(`transaction ${index} of ${this.count}`)
    const made = hashTransaction(raw)
    this.#hashes[index] = made
    return made
  }

  /** Transaction at an index; undefined beyond the end. */
  transaction(index: number): MinedTransaction | undefined {
    const raw = this.of.block.transactions[index]
    const from = this.of.senders[index]
    if (raw === undefined || from === undefined) return undefined
    const transaction = decodeTransaction(raw)
    const receipt = transaction.type === depositType ? this.receipts[index]?.receipt : undefined
    return { transaction, hash: this.hashAt(index), from, block: this.#place, index, receipt }
  }

  /** Receipt at an index; undefined beyond the end. */
  receipt(index: number): MinedReceipt | undefined {
    const mined = this.transaction(index)
    const placed = this.receipts[index]
    return mined && placed && { mined, placed, timestamp: this.of.block.header.timestamp }
  }

  /** Matching logs, in order. @param only ascending indexes of the transactions to read; absent: all */
  logs(matcher?: Pick<LogMatcher, 'matches'>, only: Iterable<number> = this.receipts.keys()): LocatedLog[] {
    return Array.from(only, (index) => this.#logsOf(index, matcher)).flat()
  }

  /** Matching logs of one transaction; empty beyond the end. */
  #logsOf(transactionIndex: number, matcher: Pick<LogMatcher, 'matches'> | undefined): LocatedLog[] {
    const placed = this.receipts[transactionIndex]
    if (placed === undefined) return []
    const { receipt, firstLogIndex } = placed
    const found: LocatedLog[] = []
    for (const [at, log] of receipt.logs.entries()) {
      if (matcher && !matcher.matches(log)) continue
      const transactionHash = this.hashAt(transactionIndex)
      found.push({ log, block: this.place, transactionHash, transactionIndex, logIndex: firstLogIndex + at })
    }
    return found
  }

  hashes(): Hash[] {
    return this.of.block.transactions.map((_raw, index) => this.hashAt(index))
  }

  transactions(): MinedTransaction[] {
    return this.of.senders.flatMap((_sender, index) => this.transaction(index) ?? [])
  }
}

function readBlock(view: ChainView, hash: Hash, options?: Omit<DecodedOptions, 'seal'>): DecodedBlock | undefined {
  const of = view.block(hash)
  if (of === undefined) {
    if (view.header(hash)) throw prunedHistory()
    return undefined
  }
  const receipts = view.receipts(hash)
  if (receipts === undefined || receipts.length !== of.block.transactions.length) throw prunedHistory()
  return new DecodedBlock(of, receipts, { ...options, seal: of.isUnsealed ? 'unsealed' : 'sealed' })
}

/** Number of pending blocks to keep: clients read a pending block only while it is the newest. */
const maxUnsealed = 4

/** Cache of recently read blocks, of any branch: blocks never change. Views decide which of them are canonical. */
export interface BlockCache {
  /** Reads a block with its receipts and keeps it. Undefined: unknown block. @throws RpcError 4444 when its transactions or receipts are pruned */
  read(view: ChainView, hash: Hash): DecodedBlock | undefined
  /** Like `read`, without adding the block to the cache: for methods that read many blocks. */
  pass(view: ChainView, hash: Hash): DecodedBlock | undefined
}

/** @param caches `blocks`: approximate memory of all cached blocks, about two megabytes for 800 transactions */
export function createBlockCache(caches: CacheSource<'blocks'>): BlockCache {
  const kept = caches.lru<Hash, DecodedBlock>('blocks')
  const unsealed = new Lru<Hash, DecodedBlock>(maxUnsealed)
  let newest: DecodedBlock | undefined
  const grown = (block: DecodedBlock): void => {
    if (kept.peek(block.of.hash) === block) kept.set(block.of.hash, block, block.sizeBytes)
  }
  const find = (hash: Hash): DecodedBlock | undefined => kept.get(hash) ?? unsealed.get(hash)
  return {
    read(view, hash): DecodedBlock | undefined {
      const known = find(hash)
      if (known) return known
      const block = readBlock(view, hash, { onGrown: grown, before: newest })
      if (block?.seal === 'unsealed') {
        unsealed.set(block.of.hash, block, 1)
        newest = block
      } else if (block) kept.set(hash, block, block.sizeBytes)
      return block
    },
    pass: (view, hash) => find(hash) ?? readBlock(view, hash),
  }
}
