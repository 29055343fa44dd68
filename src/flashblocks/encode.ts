import { toHex, toQuantity } from '#lib/hex'
import type { BuiltFlashblock, FlashblockBase } from '#types/flashblock'
import type { Receipt } from '#types/receipt'

/** Maximum size in bytes of receipts and balances in one message. Followers refuse messages of more than 16 MB, and execute the transactions anyway. */
export const maxMetadataBytes: number = 4 * 2 ** 20

/**
 * Encodes a flashblock as one message, as Base's publishers send it: JSON with the builder's metadata. Receipts and balances are left out when they are
 * larger than `maxMetadataBytes`, as Base's public stream leaves them out since v0.8.0.
 * @see flashbots/rollup-boost, specs/flashblocks.md
 */
export function encodeMessage(flashblock: BuiltFlashblock): string {
  const { payloadId, blockNumber, index, base, transactions, outcome, blockHash } = flashblock
  return JSON.stringify({
    payload_id: payloadId,
    index,
    ...(base && { base: baseJson(base, blockNumber) }),
    diff: {
      state_root: outcome.stateRoot,
      receipts_root: outcome.receiptsRoot,
      logs_bloom: toHex(outcome.logsBloom),
      gas_used: toQuantity(outcome.gasUsed),
      block_hash: blockHash,
      transactions: transactions.map(toHex),
      withdrawals: [],
      withdrawals_root: outcome.withdrawalsRoot,
      ...(outcome.blobGasUsed !== undefined && { blob_gas_used: toQuantity(outcome.blobGasUsed) }),
    },
    metadata: {
      access_list: null,
      block_number: blockNumber,
      ...(metadataBytes(flashblock) <= maxMetadataBytes && metadataJson(flashblock)),
    },
  })
}

/** Bytes of a balance, of a receipt without logs, of a log without topics and data, and of a topic in a message. Numbers count as 16 digits. */
const [balanceBytes, receiptBytes, logBytes, topicBytes] = [64, 140, 80, 69]

/** Returns the approximate size of receipts and balances in a message, in bytes. */
function metadataBytes({ receipts, balances }: BuiltFlashblock): number {
  let bytes = balances.length * balanceBytes
  for (const { receipt } of receipts) {
    bytes += receiptBytes
    for (const { topics, data } of receipt.logs) bytes += logBytes + topics.length * topicBytes + 2 * data.length
  }
  return bytes
}

const metadataJson = ({ receipts, balances }: BuiltFlashblock): object => ({
  new_account_balances: Object.fromEntries(balances.map(({ address, balanceWei }) => [address, toQuantity(balanceWei)])),
  receipts: Object.fromEntries(receipts.map(({ hash, receipt }) => [hash, receiptJson(receipt)])),
})

const baseJson = (base: FlashblockBase, blockNumber: number): object => ({
  parent_beacon_block_root: base.parentBeaconBlockRoot,
  parent_hash: base.parentHash,
  fee_recipient: base.feeRecipient,
  prev_randao: base.prevRandao,
  block_number: toQuantity(blockNumber),
  gas_limit: toQuantity(base.gasLimit),
  timestamp: toQuantity(base.timestamp),
  extra_data: toHex(base.extraData),
  base_fee_per_gas: toQuantity(base.baseFee),
})

const receiptJson = ({ type, succeeded, cumulativeGasUsed, logs, depositNonce, depositReceiptVersion }: Receipt): object => ({
  cumulativeGasUsed: toQuantity(cumulativeGasUsed),
  ...(depositNonce !== undefined && { depositNonce: toQuantity(depositNonce) }),
  ...(depositReceiptVersion !== undefined && { depositReceiptVersion: toQuantity(depositReceiptVersion) }),
  logs: logs.map(({ address, topics, data }) => ({ address, data: toHex(data), topics })),
  status: succeeded ? '0x1' : '0x0',
  type: toQuantity(type),
})
