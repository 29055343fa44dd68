import { setImmediate as nextTurn } from 'node:timers/promises'
import { toQuantity } from '#lib/hex'
import type { Address } from '#types/ids'
import type { PooledTransaction } from '#types/pooledTransaction'
import { decodeTransaction, depositType, type SignedTransaction } from '#types/transaction'
import { address } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { timedOut } from '../../errors.ts'
import type { Json } from '../../json.ts'
import { param, type ResultCodec } from '../../registry.ts'
import { pooledTransactionResult } from '../../results/pooledTransaction.ts'
import { type JsonSchema, object, refTo } from '../../schemas.ts'
import { ethMethod } from '../define.ts'
import { poolOf } from './poolOf.ts'

/** Transactions that are decoded between two turns of the event loop. */
const slice = 256

type ByNonce = Record<string, Json>
type BySender = Record<string, ByNonce>
type Content = { readonly pending: BySender; readonly queued: BySender }

/** Two lists by sender and nonce, the transactions in one of the forms below. */
async function contentOf(
  context: EthContext,
  of: Address | undefined,
  form: (tx: SignedTransaction, pooled: PooledTransaction) => Json,
): Promise<Content> {
  const content: Content = { pending: {}, queued: {} }
  for (const [index, pooled] of (await poolOf(context).content(of)).entries()) {
    if (index % slice === slice - 1) await nextTurn()
    if (context.cancellation.isCancelled) throw timedOut()
    const transaction = decodeTransaction(pooled.raw)
    if (transaction.type === depositType) continue // there are none
    const list = pooled.isPending ? content.pending : content.queued
    const own = list[pooled.sender] ?? {}
    own[transaction.nonce.toString()] = form(transaction, pooled)
    list[pooled.sender] = own
  }
  return content
}

const whole = (_transaction: SignedTransaction, pooled: PooledTransaction): Json => pooledTransactionResult.encode(pooled)

function summary(transaction: SignedTransaction): string {
  const { to, value, gasLimit } = transaction
  const price = transaction.type === 0 || transaction.type === 1 ? transaction.gasPrice : transaction.maxFeePerGas
  return `${to ?? 'contract creation'}: ${value} wei + ${gasLimit} gas × ${price} wei`
}

const byKey = (schema: JsonSchema): JsonSchema => ({ type: 'object', additionalProperties: schema })
const twoOf = (schema: JsonSchema): JsonSchema => object('what waits', { pending: schema, queued: schema })

const contentResult = (what: string, schema: JsonSchema): ResultCodec<Content> => ({
  doc: `{pending, queued}: by sender and nonce ${what}`,
  schema: twoOf(byKey(byKey(schema))),
  encode: (value) => value,
})

export const status = ethMethod({
  name: 'txpool_status',
  doc: 'How many transactions wait: pending ones could be in the next block, of queued ones something before them is missing.',
  params: [],
  result: {
    doc: '{pending, queued}: quantities',
    schema: twoOf(refTo('Quantity')),
    encode: (size: { readonly pending: number; readonly queued: number }): Json => ({
      pending: toQuantity(size.pending),
      queued: toQuantity(size.queued),
    }),
  },
  cost: 'point-read',
  example: { params: [], result: { pending: '0x0', queued: '0x0' } },
  run: (context) => poolOf(context).size(),
})

export const content = ethMethod({
  name: 'txpool_content',
  doc: 'All transactions that wait.',
  params: [],
  result: contentResult('the transaction', refTo('Transaction')),
  cost: 'range-read',
  example: { params: [], result: { pending: {}, queued: {} } },
  run: (context) => contentOf(context, undefined, whole),
})

export const inspect = ethMethod({
  name: 'txpool_inspect',
  doc: 'All transactions that wait, a line of text each.',
  params: [],
  result: contentResult('a line of text', { type: 'string' }),
  cost: 'range-read',
  example: { params: [], result: { pending: {}, queued: {} } },
  run: (context) => contentOf(context, undefined, summary),
})

export const contentFrom = ethMethod({
  name: 'txpool_contentFrom',
  doc: 'The transactions of one sender that wait.',
  params: [param('sender', address)],
  result: {
    doc: '{pending, queued}: by nonce the transaction',
    schema: twoOf(byKey(refTo('Transaction'))),
    encode: (value: { readonly pending: ByNonce; readonly queued: ByNonce }): Json => value,
  },
  cost: 'block-read',
  example: { params: ['0x70997970c51812dc3a010c7d01b50e0d17dc79c8'], result: { pending: {}, queued: {} } },
  async run(context, of): Promise<{ readonly pending: ByNonce; readonly queued: ByNonce }> {
    const { pending, queued } = await contentOf(context, of, whole)
    return { pending: pending[of] ?? {}, queued: queued[of] ?? {} }
  },
})
