import { fromHex } from '#lib/hex'
import { encodeRlp, rlpScalar } from '#lib/rlp'
import type { Address } from './ids.ts'

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
