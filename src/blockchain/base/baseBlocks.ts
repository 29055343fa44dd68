import { executionFault } from '#block/faults'
import { RlpError } from '#lib/rlp'
import { orderedRoot } from '#trie/orderedRoot'
import type { BlockId } from '#types/blockRef'
import type { ExecutedTransaction } from '#types/executedTransaction'
import { type Header, hashHeader } from '#types/header'
import type { Address, Hash } from '#types/ids'
import { decodeReceipt } from '#types/receipt'
import { recoverSender } from '#types/recoverSender'
import { decodeTransaction, hashTransaction } from '#types/transaction'
import { storedReceipts } from '../chainStore.ts'
import { receiptsProblem } from '../check/contentCheck.ts'
import { encodeReceiptRow } from '../receiptRows.ts'

/** A block below or at the base, as another node gives it. */
export type GivenBlock = {
  readonly header: Header
  /** EIP-2718 bytes */
  readonly transactions?: readonly Uint8Array[] | undefined
  /** EIP-2718 bytes; only with transactions */
  readonly receipts?: readonly Uint8Array[] | undefined
}

/** A verified block. `executed` only with receipts. */
export type BaseBlock = BlockId & {
  readonly header: Header
  readonly body: { readonly transactions: readonly Uint8Array[]; readonly senders: readonly Address[] } | undefined
  readonly executed: readonly ExecutedTransaction[] | undefined
}

/** Blocks whose hashes BLOCKHASH returns in the block after the base, besides the base. */
export const ancestorsNeeded = 255

export const refused = (number: number, reason: string): Error => executionFault('BASE_BLOCK_REFUSED', { number, reason })

/**
 * Verifies the last block of a list against a hash, and all others by their links to it: hashes of headers, roots of transactions and of receipts. The list
 * ascends without gaps. The last block has its transactions. Earlier ones may lack receipts, or transactions too, if all before them do.
 * @param genesis first block of the chain
 * @throws Fault BASE_BLOCK_REFUSED (fatal)
 */
export function verifyBaseBlocks(given: readonly GivenBlock[], hash: Hash, genesis: BlockId): readonly BaseBlock[] {
  const last = given.at(-1)
  if (last === undefined) throw refused(0, 'no block is given')
  if (last.transactions === undefined) throw refused(last.header.number, 'its transactions are missing')
  const needed = Math.min(ancestorsNeeded, last.header.number - genesis.number)
  if (given.length - 1 < needed)
    throw refused(last.header.number, `${needed} headers below it are needed, and ${given.length - 1} are given`)
  return linkedBlocks(given, { number: last.header.number, hash }, genesis)
}

function linkedBlocks(given: readonly GivenBlock[], last: BlockId, genesis: BlockId): readonly BaseBlock[] {
  const verified: BaseBlock[] = []
  let expected = last
  for (const block of given.toReversed()) {
    const above = verified.at(-1)
    verified.push(verifiedBlock(block, expected, above))
    expected = { number: expected.number - 1, hash: block.header.parentHash }
  }
  const first = verified.at(-1)
  if (first && first.number <= genesis.number && first.hash !== genesis.hash) {
    throw refused(first.number, `its hash is ${first.hash}, and the chain begins with ${genesis.hash}`)
  }
  return verified.reverse()
}

function verifiedBlock({ header, transactions, receipts }: GivenBlock, id: BlockId, above: BaseBlock | undefined): BaseBlock {
  if (header.number !== id.number) throw refused(id.number, `its place holds block ${header.number}`)
  const hash = hashHeader(header)
  if (hash !== id.hash) throw refused(id.number, `its hash is ${hash}, expected ${id.hash}`)
  if (above && transactions && above.body === undefined) throw refused(id.number, 'it has transactions, and the block above it does not')
  if (receipts && (transactions === undefined || (above && above.executed === undefined))) {
    throw refused(id.number, 'it has receipts, and the block above it does not')
  }
  return refusing(id.number, () => {
    const body = transactions && verifiedBody(header, transactions)
    return { ...id, header, body, executed: body && receipts && verifiedReceipts(header, body, receipts) }
  })
}

/** Runs a function on given bytes of a block. @throws Fault BASE_BLOCK_REFUSED for bytes that cannot be decoded */
export function refusing<T>(number: number, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof RlpError || error instanceof RangeError)
      throw executionFault('BASE_BLOCK_REFUSED', { number, reason: error.message }, error)
    throw error
  }
}

function verifiedBody(header: Header, transactions: readonly Uint8Array[]): NonNullable<BaseBlock['body']> {
  const root = orderedRoot(transactions)
  if (root !== header.transactionsRoot)
    throw refused(header.number, `its transactions have root ${root}, expected ${header.transactionsRoot}`)
  return { transactions, senders: sendersOf(header.number, transactions) }
}

/** Returns the senders of the transactions of a block. @throws Fault BASE_BLOCK_REFUSED; RlpError */
export function sendersOf(number: number, transactions: readonly Uint8Array[]): readonly Address[] {
  return transactions.map((raw, index) => {
    const transaction = decodeTransaction(raw)
    const sender = 'sourceHash' in transaction ? transaction.from : recoverSender(transaction)
    if (sender === undefined) throw refused(number, `transaction ${index} has no valid signature`)
    return sender
  })
}

function verifiedReceipts(
  header: Header,
  { transactions, senders }: NonNullable<BaseBlock['body']>,
  receipts: readonly Uint8Array[],
): ExecutedTransaction[] {
  if (receipts.length !== transactions.length)
    throw refused(header.number, `it has ${transactions.length} transactions and ${receipts.length} receipts`)
  let gas = 0n
  const executed = receipts.map((bytes, index): ExecutedTransaction => {
    const receipt = decodeReceipt(bytes)
    const gasUsed = receipt.cumulativeGasUsed - gas
    gas = receipt.cumulativeGasUsed
    return { hash: hashTransaction(transactions[index] as Uint8Array), sender: senders[index] as Address, receipt, gasUsed }
  })
  const hashes = executed.map(({ hash }) => Buffer.from(hash.slice(2), 'hex'))
  const problem = receiptsProblem(encodeReceiptRow(header.timestamp, storedReceipts({ executed })), hashes, header)
  if (problem) throw refused(header.number, `expected ${problem.expected}, found ${problem.found}`)
  return executed
}
