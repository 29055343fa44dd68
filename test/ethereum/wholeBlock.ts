import { decodeRlpPrefix, encodeRlp, RlpError, type RlpItem, rlpBigint, rlpBytes, rlpList } from '#lib/rlp'
import type { Block } from '#types/block'
import { headerFromRlp } from '#types/header'
import { addressFromBytes } from '#types/ids'
import type { Withdrawal } from '#types/withdrawal'

function withdrawalOf(item: RlpItem): Withdrawal {
  const fields = rlpList(item, 'withdrawal')
  if (fields.length !== 4) throw new RlpError(`withdrawal of ${fields.length} fields`)
  return {
    index: rlpBigint(fields[0], 'withdrawal index', 8),
    validatorIndex: rlpBigint(fields[1], 'validator index', 8),
    address: addressFromBytes(rlpBytes(fields[2], 'withdrawal address', 20)),
    amountGwei: rlpBigint(fields[3], 'withdrawal amount', 8),
  }
}

/** Decodes a block of Ethereum with its ommers and withdrawals. @returns also the offset after the block, for a stream of blocks */
export function decodeWholeBlock(bytes: Uint8Array, at: number): { readonly block: Block; readonly next: number } {
  const { item, next } = decodeRlpPrefix(bytes, at)
  const [first, transactions, ommers, withdrawals, ...rest] = rlpList(item, 'block')
  if (first === undefined || rest.length > 0) throw new RlpError('block of too few or too many fields')
  const block = {
    header: headerFromRlp(first),
    transactions: rlpList(transactions, 'transactions').map((raw) => (raw instanceof Uint8Array ? raw : encodeRlp(raw))),
    ommers: rlpList(ommers, 'ommers').map(headerFromRlp),
    ...(withdrawals !== undefined && { withdrawals: rlpList(withdrawals, 'withdrawals').map(withdrawalOf) }),
  }
  return { block, next }
}
