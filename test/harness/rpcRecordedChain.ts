import { fromHex, type Hex } from '#lib/hex'
import { recoverAddress } from '#lib/secp256k1'
import type { ChainBlock, ChainReader, ChainReceipt, ChainView, L1FeeFacts, TransactionPlace, WorldReads } from '#rpc/ports'
import { type Block, decodeBlock } from '#types/block'
import type { BlockId } from '#types/blockRef'
import { hashHeader } from '#types/header'
import { type Address, addressFromBytes, type Hash } from '#types/ids'
import { decodeReceipt } from '#types/receipt'
import { decodeTransaction, depositType, hashTransaction, signatureBytes, signingDigest } from '#types/transaction'

/** A recorded block: RLP, and the EIP-2718 encodings of its receipts. */
export type RecordedBlock = { readonly raw: Hex; readonly rawReceipts: readonly Hex[] }

function senderOf(raw: Uint8Array): Address {
  const transaction = decodeTransaction(raw)
  if (transaction.type === depositType) return transaction.from
  const signature = signatureBytes(transaction)
  const address = signature && recoverAddress(signingDigest(transaction), signature, transaction.yParity)
  if (address === undefined) throw new Error('a recorded transaction without a sender')
  return addressFromBytes(address)
}

/** What execution adds to recorded blocks. */
export type RecordedFacts = {
  /** what a transaction of the block cost on L1 */
  feesOf(block: Block, raw: Uint8Array): L1FeeFacts
  stateAfter(number: number): WorldReads | undefined
}

function placedReceipts(block: Block, rawReceipts: readonly Hex[], feesOf: RecordedFacts['feesOf']): readonly ChainReceipt[] {
  let gasBefore = 0n
  let logsBefore = 0
  return rawReceipts.map((rawReceipt, index) => {
    const receipt = decodeReceipt(fromHex(rawReceipt))
    const fees = feesOf(block, block.transactions[index] ?? new Uint8Array(0))
    const placed = { receipt, gasUsed: receipt.cumulativeGasUsed - gasBefore, firstLogIndex: logsBefore, fees }
    gasBefore = receipt.cumulativeGasUsed
    logsBefore += receipt.logs.length
    return placed
  })
}

/** A chain of blocks in memory, as the RPC methods read it. */
export function recordedChain(
  recorded: readonly RecordedBlock[],
  labels: { readonly safe: number; readonly finalized: number },
  facts: RecordedFacts,
): ChainReader & { readonly blocks: readonly ChainBlock[] } {
  const blocks: ChainBlock[] = recorded.map(({ raw }) => {
    const block = decodeBlock(fromHex(raw))
    return { hash: hashHeader(block.header), block, senders: block.transactions.map(senderOf) }
  })
  const receipts = blocks.map(({ block }, number) => placedReceipts(block, recorded[number]?.rawReceipts ?? [], facts.feesOf))
  const numbers = new Map<Hash, number>(blocks.map(({ hash }, number) => [hash, number]))
  const places = new Map<Hash, TransactionPlace>()
  const idOf = (number: number): BlockId => ({ hash: blocks[number]?.hash as Hash, number })
  for (const { block } of blocks) {
    const { number } = block.header
    for (const [index, raw] of block.transactions.entries()) places.set(hashTransaction(raw), { block: idOf(number), index })
  }
  const at = <T>(list: readonly T[], hash: Hash): T | undefined => list[numbers.get(hash) ?? -1]
  const view: ChainView = {
    heads: { latest: idOf(blocks.length - 1), safe: idOf(labels.safe), finalized: idOf(labels.finalized) },
    canonicalHash: (number) => blocks[number]?.hash,
    header: (hash) => at(blocks, hash)?.block.header,
    block: (hash) => at(blocks, hash),
    receipts: (hash) => at(receipts, hash),
    transaction: (hash) => places.get(hash),
    state: ({ number }) => facts.stateAfter(number),
    [Symbol.dispose]: () => {},
  }
  return { blocks, view: () => view, sync: () => undefined }
}
