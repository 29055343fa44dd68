import type { L1Block } from '#derive/ports'
import type { RecordedBlock } from '#devnet/recordedL1'
import { toHex, toQuantity } from '#lib/hex'
import type { Header } from '#types/header'
import { decodeTransaction, depositType, hashTransaction, legacyV, type SignedTransaction } from '#types/transaction'

type Json = Record<string, unknown>

function headerJson(header: Header, hash: string): Json {
  const optional = (value: bigint | undefined): unknown => (value === undefined ? undefined : toQuantity(value))
  return {
    hash,
    parentHash: header.parentHash,
    sha3Uncles: header.ommersHash,
    miner: header.beneficiary,
    stateRoot: header.stateRoot,
    transactionsRoot: header.transactionsRoot,
    receiptsRoot: header.receiptsRoot,
    logsBloom: toHex(header.logsBloom),
    difficulty: toQuantity(header.difficulty),
    number: toQuantity(header.number),
    gasLimit: toQuantity(header.gasLimit),
    gasUsed: toQuantity(header.gasUsed),
    timestamp: toQuantity(header.timestamp),
    extraData: toHex(header.extraData),
    mixHash: header.mixHash,
    nonce: toHex(header.nonce),
    baseFeePerGas: optional(header.baseFeePerGas),
    withdrawalsRoot: header.withdrawalsRoot,
    blobGasUsed: optional(header.blobGasUsed),
    excessBlobGas: optional(header.excessBlobGas),
    parentBeaconBlockRoot: header.parentBeaconBlockRoot,
    requestsHash: header.requestsHash,
  }
}

function feesJson(tx: SignedTransaction): Json {
  if (tx.type === 0) return { gasPrice: toQuantity(tx.gasPrice), v: toQuantity(legacyV(tx)) }
  const accessList = tx.accessList.map(({ address, slots }) => ({ address, storageKeys: slots }))
  const common = { chainId: toQuantity(tx.chainId), accessList, v: toQuantity(tx.yParity), yParity: toQuantity(tx.yParity) }
  if (tx.type === 1) return { ...common, gasPrice: toQuantity(tx.gasPrice) }
  return {
    ...common,
    maxFeePerGas: toQuantity(tx.maxFeePerGas),
    maxPriorityFeePerGas: toQuantity(tx.maxPriorityFeePerGas),
    ...(tx.type === 3 && { maxFeePerBlobGas: toQuantity(tx.maxFeePerBlobGas), blobVersionedHashes: tx.blobVersionedHashes }),
    ...(tx.type === 4 && {
      authorizationList: tx.authorizationList.map((one) => ({
        chainId: toQuantity(one.chainId),
        address: one.address,
        nonce: toQuantity(one.nonce),
        yParity: toQuantity(one.yParity),
        r: toQuantity(one.r),
        s: toQuantity(one.s),
      })),
    }),
  }
}

function transactionJson(raw: Uint8Array): Json {
  const tx = decodeTransaction(raw)
  if (tx.type === depositType) throw new RangeError('deposit in an L1 block')
  return {
    type: toQuantity(tx.type),
    hash: hashTransaction(raw),
    nonce: toQuantity(tx.nonce),
    gas: toQuantity(tx.gasLimit),
    to: tx.to,
    value: toQuantity(tx.value),
    input: toHex(tx.data),
    r: toQuantity(tx.r),
    s: toQuantity(tx.s),
    ...feesJson(tx),
  }
}

/** Returns a block and its receipts as JSON-RPC results. */
export function recordedBlockOf({ ref, header, transactions, receipts }: L1Block): RecordedBlock {
  const block = { ...headerJson(header, ref.hash), transactions: transactions.map(transactionJson), uncles: [] }
  return {
    // clients omit undefined fields
    block: JSON.parse(JSON.stringify(block)) as Json,
    receipts: receipts.map((receipt) => ({
      type: toQuantity(receipt.type),
      status: receipt.succeeded ? '0x1' : '0x0',
      cumulativeGasUsed: toQuantity(receipt.cumulativeGasUsed),
      logsBloom: toHex(receipt.logsBloom),
      logs: receipt.logs.map(({ address, topics, data }) => ({ address, topics, data: toHex(data) })),
    })),
  }
}
