import { encodeRlp, RlpError, rlpHead } from '#lib/rlp'

/**
 * Transactions of one block in a batch: EIP-2718 bytes, without deposits. The list keeps them encoded and creates no object for each, because a
 * channel of 100 KB may decompress to 100 million transactions.
 */
export class TransactionList {
  static readonly empty: TransactionList = new TransactionList(new Uint8Array(0))

  readonly length: number
  /** the first bytes of the transactions, each once, in the order of the list; undefined stands for an empty transaction */
  readonly firstBytes: ReadonlySet<number | undefined>
  /** consecutive RLP strings */
  readonly encoded: Uint8Array

  /** Cost: O(transactions). @param encoded consecutive RLP strings @throws RlpError when they are malformed */
  constructor(encoded: Uint8Array) {
    const firstBytes = new Set<number | undefined>()
    let length = 0
    let before: number | undefined
    for (let at = 0; at < encoded.length; length++) {
      const { isList, from, to } = rlpHead(encoded, at)
      if (isList) throw new RlpError('transaction: bytes expected')
      const firstByte = from === to ? undefined : encoded[from]
      if (length === 0 || firstByte !== before) firstBytes.add(firstByte)
      before = firstByte
      at = to
    }
    this.length = length
    this.firstBytes = firstBytes
    this.encoded = encoded
  }

  static of(transactions: readonly Uint8Array[]): TransactionList {
    const list = encodeRlp(transactions)
    return new TransactionList(list.subarray(rlpHead(list, 0).from))
  }

  /** Returns copies of the transactions, at most `max`. */
  first(max: number): readonly Uint8Array[] {
    const transactions: Uint8Array[] = []
    for (let at = 0; at < this.encoded.length && transactions.length < max; ) {
      const { from, to } = rlpHead(this.encoded, at)
      transactions.push(this.encoded.slice(from, to))
      at = to
    }
    return transactions
  }
}
