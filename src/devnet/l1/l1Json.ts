import { tipPerGas } from '#block/validation/transactionValidity'
import { toHex, toQuantity } from '#lib/hex'
import { encodedBlockSize } from '#types/block'
import { headerToJson } from '#types/headerJson'
import type { Log } from '#types/log'
import { type Authorization, legacyV, type SignedTransaction } from '#types/transaction'
import { envOf, type MemoryBlock, type Mined } from './memoryBlock.ts'
import type { Waiting } from './memoryPool.ts'

export type Json = Readonly<Record<string, unknown>>

const authorizationJson = (it: Authorization): Json => ({
  chainId: toQuantity(it.chainId),
  address: it.address,
  nonce: toQuantity(it.nonce),
  yParity: toQuantity(it.yParity),
  r: toQuantity(it.r),
  s: toQuantity(it.s),
})

function typeFields(tx: SignedTransaction): Json {
  if (tx.type === 0) {
    return { v: toQuantity(legacyV(tx)), ...(tx.chainId !== undefined && { chainId: toQuantity(tx.chainId) }) }
  }
  return {
    v: toQuantity(tx.yParity),
    yParity: toQuantity(tx.yParity),
    chainId: toQuantity(tx.chainId),
    accessList: tx.accessList.map(({ address, slots }) => ({ address, storageKeys: slots })),
    ...('maxFeePerGas' in tx && {
      maxFeePerGas: toQuantity(tx.maxFeePerGas),
      maxPriorityFeePerGas: toQuantity(tx.maxPriorityFeePerGas),
    }),
    ...(tx.type === 3 && { maxFeePerBlobGas: toQuantity(tx.maxFeePerBlobGas), blobVersionedHashes: tx.blobVersionedHashes }),
    ...(tx.type === 4 && { authorizationList: tx.authorizationList.map(authorizationJson) }),
  }
}

/** Returns the price per gas that a transaction pays in a block, in wei. */
const priceIn = (tx: SignedTransaction, { header }: MemoryBlock): bigint => {
  const baseFee = header.baseFeePerGas ?? 0n
  return baseFee + tipPerGas(tx, baseFee)
}

/** Returns a transaction in the format of `eth_getTransactionByHash`. @param place undefined: it is pending */
export function transactionJson(
  { hash, tx, sender }: Pick<Waiting, 'hash' | 'tx' | 'sender'>,
  place?: { readonly block: MemoryBlock; readonly index: number },
): Json {
  const price = 'maxFeePerGas' in tx ? (place ? priceIn(tx, place.block) : tx.maxFeePerGas) : tx.gasPrice
  return {
    type: toQuantity(tx.type),
    hash,
    from: sender,
    to: tx.to,
    nonce: toQuantity(tx.nonce),
    gas: toQuantity(tx.gasLimit),
    gasPrice: toQuantity(price),
    value: toQuantity(tx.value),
    input: toHex(tx.data),
    ...typeFields(tx),
    r: toQuantity(tx.r),
    s: toQuantity(tx.s),
    blockHash: place?.block.hash ?? null,
    blockNumber: place ? toQuantity(place.block.header.number) : null,
    transactionIndex: place ? toQuantity(place.index) : null,
  }
}

export function blockJson(block: MemoryBlock, transactions: 'full' | 'hashes'): Json {
  const { hash, header, mined } = block
  return {
    ...headerToJson(hash, header),
    size: toQuantity(encodedBlockSize({ header, transactions: mined.map(({ raw }) => raw) })),
    uncles: [],
    withdrawals: [],
    transactions:
      transactions === 'full' ? mined.map((each, index) => transactionJson(each, { block, index })) : mined.map((each) => each.hash),
  }
}

export function logsJson(block: MemoryBlock): readonly { readonly log: Log; readonly mined: Mined; readonly json: Json }[] {
  let logIndex = 0
  return block.mined.flatMap((mined, index) =>
    mined.receipt.logs.map((log) => ({
      log,
      mined,
      json: {
        address: log.address,
        topics: log.topics,
        data: toHex(log.data),
        blockHash: block.hash,
        blockNumber: toQuantity(block.header.number),
        blockTimestamp: toQuantity(block.header.timestamp),
        transactionHash: mined.hash,
        transactionIndex: toQuantity(index),
        logIndex: toQuantity(logIndex++),
        removed: false,
      },
    })),
  )
}

/** Returns the receipts of a block, in the order of its transactions. */
export function receiptsJson(chainId: number, block: MemoryBlock): readonly Json[] {
  const logs = logsJson(block)
  return block.mined.map((mined, index) => {
    const { hash, tx, sender, receipt, gasUsed, created } = mined
    return {
      type: toQuantity(tx.type),
      status: receipt.succeeded ? '0x1' : '0x0',
      transactionHash: hash,
      transactionIndex: toQuantity(index),
      blockHash: block.hash,
      blockNumber: toQuantity(block.header.number),
      from: sender,
      to: tx.to,
      contractAddress: created ?? null,
      cumulativeGasUsed: toQuantity(receipt.cumulativeGasUsed),
      gasUsed: toQuantity(gasUsed),
      effectiveGasPrice: toQuantity(priceIn(tx, block)),
      logsBloom: toHex(receipt.logsBloom),
      logs: logs.filter((each) => each.mined === mined).map(({ json }) => json),
      ...(tx.type === 3 && {
        blobGasUsed: toQuantity(131_072 * tx.blobVersionedHashes.length),
        blobGasPrice: toQuantity(envOf(chainId, block.header).blobBaseFee),
      }),
    }
  })
}
