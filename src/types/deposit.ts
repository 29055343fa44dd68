import { concatBytes, emptyBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { decodeRlp, encodeRlp, RlpError, type RlpItem, rlpBigint, rlpBytes, rlpList, rlpScalar } from '#lib/rlp'
import { type Address, addressFromBytes, type Hash, hashFromBytes } from './ids.ts'

/**
 * A deposit: a transaction that L1 or the protocol puts into a block, without signature. Amounts in wei, u64 gas; `to` null creates a contract.
 * @see specs protocol/deposits.md
 */
export type Deposit = {
  readonly type: 0x7e
  readonly sourceHash: Hash
  readonly from: Address
  readonly to: Address | null
  /** Wei minted on L2 for `from`; kept when the transaction fails. */
  readonly mint: bigint
  readonly value: bigint
  readonly gasLimit: bigint
  /** Before Regolith: excluded from the block's gas. */
  readonly isSystemTransaction: boolean
  readonly data: Uint8Array
}

export function encodeDeposit(deposit: Deposit): Uint8Array {
  const body = encodeRlp([
    fromHex(deposit.sourceHash),
    fromHex(deposit.from),
    deposit.to === null ? emptyBytes : fromHex(deposit.to),
    rlpScalar(deposit.mint),
    rlpScalar(deposit.value),
    rlpScalar(deposit.gasLimit),
    rlpScalar(deposit.isSystemTransaction ? 1 : 0),
    deposit.data,
  ])
  return concatBytes(Uint8Array.of(0x7e), body)
}

function flagFromRlp(item: RlpItem | undefined, what: string): boolean {
  const value = rlpBigint(item, what, 1)
  if (value > 1n) throw new RlpError(`${what}: ${value} is neither 0 nor 1`)
  return value === 1n
}

/** Decodes a deposit. Throws RlpError on other bytes. */
export function decodeDeposit(bytes: Uint8Array): Deposit {
  if (bytes[0] !== 0x7e) throw new RlpError('not a deposit')
  const fields = rlpList(decodeRlp(bytes.subarray(1)), 'deposit')
  if (fields.length !== 8) throw new RlpError(`deposit of ${fields.length} fields`)
  const to = rlpBytes(fields[2], 'to')
  return {
    type: 0x7e,
    sourceHash: hashFromBytes(rlpBytes(fields[0], 'source hash', 32)),
    from: addressFromBytes(rlpBytes(fields[1], 'from', 20)),
    to: to.length === 0 ? null : addressFromBytes(rlpBytes(fields[2], 'to', 20)),
    mint: rlpBigint(fields[3], 'mint'),
    value: rlpBigint(fields[4], 'value'),
    gasLimit: rlpBigint(fields[5], 'gas limit', 8),
    isSystemTransaction: flagFromRlp(fields[6], 'is system transaction'),
    data: rlpBytes(fields[7], 'data'),
  }
}
