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
  logs(): readonly LocatedLog[]
  transaction(index: number): MinedTransaction | undefined
  receipt(index: number): MinedReceipt | undefined
}

/** Estimated memory of the text of one item in addition to its characters. */
const singleBytes = 100

const closing = Buffer.from('}')

/** Returns an ASCII text in memory of its own: a kept part of the pool of `Buffer.from` would keep the whole pool, 64 kB. */
function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(text.length)
  bytes.write(text, 'latin1')
  return bytes
}

/** Returns an ASCII text as one string: a concatenated one would be copied again for each response. */
const flat = (text: string): string => Buffer.from(text, 'latin1').toString('latin1')

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
  /** JSON of items that were requested one by one, by index, until all are made */
  #singleTransactions = new Map<number, string>()
  #singleReceipts = new Map<number, string>()
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
    this.#head ??= this.#kept(ownBytes(this.#of.headText()))
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

  /** JSON of one transaction; undefined beyond the end. All at once would delay the requests that wait by milliseconds. */
  transaction(index: number): string | undefined {
    if (this.#transactions) return index < this.#of.count ? this.#transactions.text(index) : undefined
    return this.#singleTransactions.get(index) ?? this.#keptSingle(this.#singleTransactions, index, this.#transactionText(index))
  }

  /** JSON of one receipt; undefined beyond the end. */
  receipt(index: number): string | undefined {
    if (this.#receipts) return index < this.#of.count ? this.#receipts.text(index) : undefined
    return this.#singleReceipts.get(index) ?? this.#keptSingle(this.#singleReceipts, index, this.#receiptText(index))
  }

  #transactionText(index: number): string | undefined {
    const mined = this.#of.transaction(index)
    return mined && transactionText(mined)
  }

  #receiptText(index: number): string | undefined {
    const entry = this.#of.receipt(index)
    return entry && receiptText(entry)
  }

  #keptSingle(singles: Map<number, string>, index: number, made: string | undefined): string | undefined {
    if (made === undefined) return undefined
    const text = flat(made)
    singles.set(index, text)
    this.#grow(singleBytes + text.length)
    return text
  }

  /** Removes the items of a list that is made as a whole. */
  #takeSingles(singles: Map<number, string>): ReadonlyMap<number, string> {
    const taken = new Map(singles)
    singles.clear()
    for (const text of taken.values()) this.#sizeBytes -= singleBytes + text.length
    return taken
  }

  #allHashes(): Buffer {
    this.#hashes ??= this.#kept(ownBytes(hexListText(this.#of.hashes())))
    return this.#hashes
  }

  #allTransactions(): JsonArrayBuffer {
    if (this.#transactions === undefined) {
      const begun = this.#begun
      const singles = this.#takeSingles(this.#singleTransactions)
      const textAt = (index: number): string => {
        if (begun && index < begun.count) return begun.text(index)
        return singles.get(index) ?? this.#transactionText(index) ?? ''
      }
      this.#transactions = keptList(this.#of.count, textAt)
      this.#begun = undefined
      this.#grow(this.#transactions.sizeBytes)
    }
    return this.#transactions
  }

  #allReceipts(): JsonArrayBuffer {
    if (this.#receipts === undefined) {
      const singles = this.#takeSingles(this.#singleReceipts)
      this.#receipts = keptList(this.#of.count, (index) => singles.get(index) ?? this.#receiptText(index) ?? '')
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
