import { Buffer } from 'node:buffer'
import type { Hash } from '#types/ids'
import { ByteList } from '../results/byteList.ts'
import type { LocatedLog } from '../results/log.ts'
import { type MinedReceipt, receiptText } from '../results/receipt.ts'
import { hexListText } from '../results/text.ts'
import { type MinedTransaction, transactionText } from '../results/transaction.ts'
import { type JsonArrayBuffer, keptList } from './jsonArrayBuffer.ts'
import { KeptLogs } from './keptLogs.ts'

/** A block with access to its parts by index. */
type Parts = {
  /** number of transactions, and of receipts */
  readonly count: number
  /** JSON up to the transactions */
  headText(): string
  hashes(): readonly Hash[]
  /** @param from index of the first transaction */
  transactions(from: number): readonly MinedTransaction[]
  minedReceipts(): readonly MinedReceipt[]
  logs(): readonly LocatedLog[]
  transaction(index: number): MinedTransaction | undefined
  receipt(index: number): MinedReceipt | undefined
}

/** Share of a block's transactions or receipts that have to be read singly before all are kept. */
const singlesUntilAll = 1 / 8

const closing = Buffer.from('}')

/** The JSON of a block in parts. Each part is made on first use and kept; answers are assembled from the parts. */
export class BlockText {
  readonly #of: Parts
  readonly #onGrown: () => void
  #head: Buffer | undefined
  #hashes: Buffer | undefined
  #transactions: JsonArrayBuffer | undefined
  /** JSON of the first transactions, made for an earlier state of the block */
  #begun: JsonArrayBuffer | undefined
  #receipts: JsonArrayBuffer | undefined
  #logs: KeptLogs | undefined
  #singles = 0
  #sizeBytes = 0

  /**
   * @param onGrown called when the memory of the text grows
   * @param before text of the same block with fewer transactions, whose transactions are reused
   */
  constructor(of: Parts, onGrown: () => void, before?: BlockText) {
    this.#of = of
    this.#onGrown = onGrown
    this.#begun = before && (before.#transactions ?? before.#begun)
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** JSON of the block with its transactions. */
  block(transactions: 'hashes' | 'full'): ByteList {
    this.#head ??= this.#kept(Buffer.from(this.#of.headText(), 'latin1'))
    return new ByteList([this.#head, transactions === 'full' ? this.#allTransactions().bytes : this.#allHashes(), closing])
  }

  receipts(): ByteList {
    return new ByteList([this.#allReceipts().bytes])
  }

  /** Whether the logs were made already. */
  get hasLogs(): boolean {
    return this.#logs !== undefined
  }

  logs(): KeptLogs {
    if (this.#logs === undefined) {
      this.#logs = new KeptLogs(this.#of.logs())
      this.#grow(this.#logs.sizeBytes)
    }
    return this.#logs
  }

  /** JSON of one transaction; undefined beyond the end. */
  transaction(index: number): string | undefined {
    if (this.#isWorthAll(this.#transactions)) return index < this.#of.count ? this.#allTransactions().text(index) : undefined
    const mined = this.#of.transaction(index)
    return mined && transactionText(mined)
  }

  /** JSON of one receipt; undefined beyond the end. */
  receipt(index: number): string | undefined {
    if (this.#isWorthAll(this.#receipts)) return index < this.#of.count ? this.#allReceipts().text(index) : undefined
    const entry = this.#of.receipt(index)
    return entry && receiptText(entry)
  }

  #isWorthAll(made: object | undefined): boolean {
    return made !== undefined || ++this.#singles > this.#of.count * singlesUntilAll
  }

  #allHashes(): Buffer {
    this.#hashes ??= this.#kept(Buffer.from(hexListText(this.#of.hashes()), 'latin1'))
    return this.#hashes
  }

  #allTransactions(): JsonArrayBuffer {
    if (this.#transactions === undefined) {
      const begun = this.#begun
      const texts = Array.from({ length: begun?.count ?? 0 }, (_, index) => begun?.text(index) ?? '')
      for (const mined of this.#of.transactions(texts.length)) texts.push(transactionText(mined))
      this.#transactions = keptList(texts)
      this.#begun = undefined
      this.#grow(this.#transactions.sizeBytes)
    }
    return this.#transactions
  }

  #allReceipts(): JsonArrayBuffer {
    if (this.#receipts === undefined) {
      this.#receipts = keptList(this.#of.minedReceipts().map(receiptText))
      this.#grow(this.#receipts.sizeBytes)
    }
    return this.#receipts
  }

  #kept(bytes: Buffer): Buffer {
    this.#grow(bytes.length)
    return bytes
  }

  #grow(bytes: number): void {
    this.#sizeBytes += bytes
    this.#onGrown()
  }
}
