import { type Hex, toRlp } from 'viem'
import { demand } from './cursor.ts'
import { integerOf, listOf, type Rlp, rlpOf, stringOf } from './rlp.ts'

/** Facts of an L2 block that a batch must contain, read from the block. */
export type SealedBlock = {
  readonly number: bigint
  readonly parentHash: Hex
  readonly timestamp: bigint
  readonly l1Origin: { readonly number: bigint; readonly hash: Hex }
  readonly sequenceNumber: bigint
  /** EIP-2718 bytes, without deposits. */
  readonly transactions: readonly Hex[]
}

const envelope = (item: Rlp): Hex => (typeof item === 'string' ? item : toRlp(item as unknown as Hex))

/** @param raw RLP of header, transactions, uncles (and withdrawals) */
export function sealedBlockOf(raw: Hex): SealedBlock {
  const [header, body] = listOf(rlpOf(Buffer.from(raw.slice(2), 'hex'), 'block'), 'any', 'block')
  const fields = listOf(header, 'any', 'header')
  const [attributes = '0x', ...others] = listOf(body, 'any', 'transactions').map(envelope)
  return {
    parentHash: stringOf(fields[0], 32, 'parentHash'),
    number: integerOf(fields[8], 64, 'number'),
    timestamp: integerOf(fields[11], 64, 'timestamp'),
    ...l1AttributesOf(attributes),
    transactions: others.filter((tx) => !tx.startsWith('0x7e')),
  }
}

/**
 * Returns L1 origin and sequence number from the first deposit.
 * @see specs protocol/deposits.md, "L1 Attributes Deposited Transaction Calldata"; ecotone/l1-attributes.md
 */
function l1AttributesOf(deposit: Hex): Pick<SealedBlock, 'l1Origin' | 'sequenceNumber'> {
  demand(deposit.startsWith('0x7e'), 'first transaction is not a deposit')
  const data = stringOf(listOf(rlpOf(Buffer.from(deposit.slice(4), 'hex'), 'deposit'), 8, 'deposit')[7], 'any', 'data').slice(2)
  const field = (from: number, length: number): Hex => `0x${data.slice(2 * from, 2 * (from + length))}`
  if (data.startsWith('015d8eb9')) {
    const word = (nth: number): Hex => field(4 + 32 * nth, 32)
    return { l1Origin: { number: BigInt(word(0)), hash: word(3) }, sequenceNumber: BigInt(word(4)) }
  }
  demand(['440a5e20', '098999be', '3db6be2b'].includes(data.slice(0, 8)), `L1 attributes ${data.slice(0, 8)}`)
  return { l1Origin: { number: BigInt(field(28, 8)), hash: field(100, 32) }, sequenceNumber: BigInt(field(12, 8)) }
}
