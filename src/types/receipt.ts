import { concatBytes } from '#lib/bytes'
import { decodeRlp, encodeRlp, RlpError, type RlpItem, rlpBigint, rlpBytes, rlpList, rlpScalar } from '#lib/rlp'
import { bloomOf, type Log, logFromRlp, logToRlp } from './log.ts'
import { depositType } from './transaction.ts'

/** The consensus part of a receipt. */
export type Receipt = {
  /** EIP-2718 type; 0 is legacy, 0x7e a deposit. */
  readonly type: number
  readonly succeeded: boolean
  /** Before Byzantium: the state root after the transaction instead of a status (32 bytes). */
  readonly postState?: Uint8Array
  /** Gas of this and all earlier transactions of the block. */
  readonly cumulativeGasUsed: bigint
  readonly logsBloom: Uint8Array
  readonly logs: readonly Log[]
  /** Deposits from Regolith: the sender's nonce before execution; u64. */
  readonly depositNonce?: bigint
  /** Deposits from Canyon: 1. */
  readonly depositReceiptVersion?: bigint
}

export function createReceipt(fields: Omit<Receipt, 'logsBloom'>): Receipt {
  return { ...fields, logsBloom: bloomOf(fields.logs) }
}

/**
 * Encodes a receipt per EIP-2718. Deposit fields follow the logs when present. The caller removes fields that the receipts root does not cover
 * (the deposit nonce between Regolith and Canyon).
 */
export function encodeReceipt(receipt: Receipt): Uint8Array {
  const fields: RlpItem[] = [
    receipt.postState ?? rlpScalar(receipt.succeeded ? 1 : 0),
    rlpScalar(receipt.cumulativeGasUsed),
    receipt.logsBloom,
    receipt.logs.map(logToRlp),
  ]
  if (receipt.depositNonce !== undefined) fields.push(rlpScalar(receipt.depositNonce))
  if (receipt.depositReceiptVersion !== undefined) fields.push(rlpScalar(receipt.depositReceiptVersion))
  const body = encodeRlp(fields)
  return receipt.type === 0 ? body : concatBytes(Uint8Array.of(receipt.type), body)
}

/** Decodes the status: at most one byte for success or failure, or the 32-byte state root of a receipt before Byzantium. */
function statusFromRlp(item: RlpItem | undefined): Pick<Receipt, 'succeeded' | 'postState'> {
  const bytes = rlpBytes(item, 'status')
  if (bytes.length === 32) return { succeeded: false, postState: bytes }
  if (bytes.length > 1 || (bytes.length === 1 && bytes[0] !== 1)) throw new RlpError('status: neither 0, 1 nor a state root')
  return { succeeded: bytes.length === 1 }
}

/** Decodes a receipt. Throws RlpError on other bytes. */
export function decodeReceipt(bytes: Uint8Array): Receipt {
  const first = bytes[0] ?? 0
  const type = first < 0x80 ? first : 0
  const fields = rlpList(decodeRlp(type === 0 ? bytes : bytes.subarray(1)), 'receipt')
  const isDeposit = type === depositType
  if (fields.length > (isDeposit ? 6 : 4)) throw new RlpError(`receipt of ${fields.length} fields`)
  return {
    type,
    ...statusFromRlp(fields[0]),
    cumulativeGasUsed: rlpBigint(fields[1], 'cumulative gas used', 8),
    logsBloom: rlpBytes(fields[2], 'logs bloom', 256),
    logs: rlpList(fields[3], 'logs').map(logFromRlp),
    ...(isDeposit && fields.length > 4 && { depositNonce: rlpBigint(fields[4], 'deposit nonce', 8) }),
    ...(isDeposit && fields.length > 5 && { depositReceiptVersion: rlpBigint(fields[5], 'deposit receipt version', 8) }),
  }
}
