import { fromHex } from '#lib/hex'
import { encodeRlp, RlpError, type RlpItem, rlpBigint, rlpBytes, rlpList, rlpScalar } from '#lib/rlp'
import { type Address, addressFromBytes } from './ids.ts'

/** A withdrawal from the beacon chain in an Ethereum block; its numbers are u64. @see EIP-4895 */
export type Withdrawal = {
  readonly index: bigint
  readonly validatorIndex: bigint
  readonly address: Address
  readonly amountGwei: bigint
}

/** Encodes a withdrawal as the withdrawals root covers it. */
export const encodeWithdrawal = ({ index, validatorIndex, address, amountGwei }: Withdrawal): Uint8Array =>
  encodeRlp([rlpScalar(index), rlpScalar(validatorIndex), fromHex(address), rlpScalar(amountGwei)])

/** Converts a decoded RLP item to a withdrawal. Throws RlpError on another shape. */
export function withdrawalFromRlp(item: RlpItem): Withdrawal {
  const fields = rlpList(item, 'withdrawal')
  if (fields.length !== 4) throw new RlpError(`withdrawal of ${fields.length} fields`)
  return {
    index: rlpBigint(fields[0], 'withdrawal index', 8),
    validatorIndex: rlpBigint(fields[1], 'validator index', 8),
    address: addressFromBytes(rlpBytes(fields[2], 'withdrawal address', 20)),
    amountGwei: rlpBigint(fields[3], 'withdrawal amount', 8),
  }
}
