import type { Hash } from '#types/ids'
import { refTo } from '../reference/schemas.ts'
import type { ParamCodec } from '../registry.ts'
import { member, objectOf } from './members.ts'
import { noticedAt, ParamError } from './paramError.ts'
import { hash } from './values.ts'

/** The transactions whose receipts a subscription wants. An empty list means all transactions. */
export type ReceiptFilter = { readonly transactionHashes: readonly Hash[] }

/** The limit of go-ethereum (`maxTxHashes`) and of Base's client. */
const maxHashes = 200

const hashes: ParamCodec<readonly Hash[]> = {
  doc: `at most ${maxHashes} transaction hashes`,
  schema: { type: 'array', items: refTo('Hash'), maxItems: maxHashes },
  parse(value): readonly Hash[] {
    if (!Array.isArray(value)) throw new ParamError('expected a sequence')
    if (value.length > maxHashes) throw new ParamError(`at most ${maxHashes} transaction hashes allowed`, 'senseless')
    return value.map((each: unknown) => hash.parse(each))
  },
}

export const receiptFilter: ParamCodec<ReceiptFilter> = {
  doc: '{transactionHashes}',
  schema: { type: 'object', properties: { transactionHashes: hashes.schema ?? {} } },
  parse(value): ReceiptFilter {
    const filter = objectOf(value, 'a filter object')
    return noticedAt('parameter', () => ({ transactionHashes: member(filter, 'transactionHashes', hashes) ?? [] }))
  },
}
