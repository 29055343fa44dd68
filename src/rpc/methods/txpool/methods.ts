import { toQuantity } from '#lib/hex'
import type { Address } from '#types/ids'
import type { PooledTransaction } from '#types/pooledTransaction'
import { decodeTransaction, depositType, type SignedTransaction } from '#types/transaction'
import { address, anyJson } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import type { Json } from '../../json.ts'
import { type JsonSchema, object, refTo } from '../../reference/schemas.ts'
import { type Method, param, type ResultCodec } from '../../registry.ts'
import { pendingTransaction, transactionResult } from '../../results/transaction.ts'
import { ethMethod } from '../define.ts'
import { yieldTurn } from '../turns.ts'
import { poolOf } from './poolOf.ts'

/** Transactions to decode per turn of the event loop. */
const slice = 256

type ByNonce = Record<string, Json>
type BySender = Record<string, ByNonce>
type Content = { readonly pending: BySender; readonly queued: BySender }

/** Pending and queued transactions by sender and nonce, each in the given form. */
async function contentOf(
  context: EthContext,
  of: Address | undefined,
  form: (tx: SignedTransaction, pooled: PooledTransaction) => Json,
): Promise<Content> {
  const content: Content = { pending: {}, queued: {} }
  for (const [index, pooled] of (await poolOf(context).content(of)).entries()) {
    if (index % slice === slice - 1) await yieldTurn(context.cancellation)
    const transaction = decodeTransaction(pooled.raw)
    if (transaction.type === depositType) continue // never in the pool
    const list = pooled.isPending ? content.pending : content.queued
    const own = list[pooled.sender] ?? {}
    own[transaction.nonce.toString()] = form(transaction, pooled)
    list[pooled.sender] = own
  }
  return content
}

/** A pool transaction: its block fields are null, its price is the maximum it would pay. */
const whole = (transaction: SignedTransaction, { hash, sender }: PooledTransaction): Json =>
  transactionResult.encode(pendingTransaction(transaction, hash, sender))

function summary(transaction: SignedTransaction): string {
  const { to, value, gasLimit } = transaction
  const price = transaction.type === 0 || transaction.type === 1 ? transaction.gasPrice : transaction.maxFeePerGas
  return `${to ?? 'contract creation'}: ${value} wei + ${gasLimit} gas × ${price} wei`
}

const byKey = (schema: JsonSchema): JsonSchema => ({ type: 'object', additionalProperties: schema })
const twoOf = (schema: JsonSchema): JsonSchema => object('pool content', { pending: schema, queued: schema })

const contentResult = (what: string, schema: JsonSchema): ResultCodec<Json> =>
  anyJson(`{pending, queued}: ${what} by sender and nonce`, twoOf(byKey(byKey(schema))))

const status = ethMethod({
  name: 'txpool_status',
  doc: 'Number of pool transactions. Pending transactions can be in the next block; queued ones wait for an earlier transaction of their sender.',
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

const content = ethMethod({
  name: 'txpool_content',
  doc: 'All pool transactions.',
  params: [],
  result: contentResult('transactions', refTo('Transaction')),
  cost: 'range-read',
  example: { params: [], result: { pending: {}, queued: {} } },
  run: (context) => contentOf(context, undefined, whole),
})

const inspect = ethMethod({
  name: 'txpool_inspect',
  doc: 'All pool transactions, each as a line of text.',
  params: [],
  result: contentResult('lines of text', { type: 'string' }),
  cost: 'range-read',
  example: { params: [], result: { pending: {}, queued: {} } },
  run: (context) => contentOf(context, undefined, summary),
})

const contentFrom = ethMethod({
  name: 'txpool_contentFrom',
  doc: 'Pool transactions of one sender.',
  params: [param('sender', address)],
  result: anyJson('{pending, queued}: transactions by nonce', twoOf(byKey(refTo('Transaction')))),
  cost: 'block-read',
  example: { params: ['0x70997970c51812dc3a010c7d01b50e0d17dc79c8'], result: { pending: {}, queued: {} } },
  async run(context, of): Promise<Json> {
    const { pending, queued } = await contentOf(context, of, whole)
    return { pending: pending[of] ?? {}, queued: queued[of] ?? {} }
  },
})

/** `txpool_*`: the transactions in the pool. */
export const txpoolMethods: readonly Method<EthContext>[] = [status, content, contentFrom, inspect]
