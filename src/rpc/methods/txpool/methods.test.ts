import { expect, it } from 'vitest'
import { account, fakeChain, fakeContext, fakePool, fakeSender, signedTransaction, topic } from '#test/harness/rpc/fakes'
import { readResult } from '#test/harness/rpc/result'
import { encodeTransaction, hashTransaction, type LegacyTransaction } from '#types/transaction'
import { ethRegistry } from '../../methods.ts'

const raws = [signedTransaction(3), signedTransaction(4), signedTransaction(9)]
const legacy: LegacyTransaction = {
  ...{ type: 0, nonce: 0n, gasPrice: 7n, gasLimit: 21_000n, to: null, value: 2n, data: new Uint8Array(0), yParity: 0, r: 1n, s: 1n },
}
const pooled = [
  ...raws.map((raw, index) => ({ hash: hashTransaction(raw), sender: fakeSender, raw, isPending: index < 2 })),
  { hash: topic(5), sender: account(5), raw: encodeTransaction(legacy), isPending: false },
]
const context = { ...fakeContext(fakeChain([[], [[]]])), pool: fakePool(pooled) }
const ask = async (method: string, ...params: readonly unknown[]) => readResult(await ethRegistry.get(method)?.call(context, params))

it('rpc/methods/txpool: txpool_status counts pending and queued transactions', async () => {
  expect(await ask('txpool_status')).toEqual({ pending: '0x2', queued: '0x2' })
})

const place = { blockHash: null, blockNumber: null, transactionIndex: null }

it('rpc/methods/txpool: txpool_content returns transactions by sender and nonce, without a block, at their maximum price', async () => {
  const content = (await ask('txpool_content')) as { pending: Record<string, object>; queued: Record<string, object> }
  expect(content.pending).toEqual({ [fakeSender]: { 3: expect.anything(), 4: expect.anything() } })
  expect(content.pending[fakeSender]).toMatchObject({
    3: { hash: pooled[0]?.hash, from: fakeSender, nonce: '0x3', gasPrice: '0x77359400', maxFeePerGas: '0x77359400', ...place },
  })
  expect(content.queued).toMatchObject({ [fakeSender]: { 9: {} }, [account(5)]: { 0: { gasPrice: '0x7', to: null, ...place } } })
})

it('rpc/methods/txpool: txpool_inspect returns a line per transaction', async () => {
  expect(await ask('txpool_inspect')).toMatchObject({
    pending: { [fakeSender]: { 3: `${account(0xcc)}: 1 wei + 100000 gas × 2000000000 wei` } },
    queued: { [account(5)]: { 0: 'contract creation: 2 wei + 21000 gas × 7 wei' } },
  })
})

it('rpc/methods/txpool: txpool_contentFrom returns the transactions of one sender by nonce', async () => {
  expect(await ask('txpool_contentFrom', fakeSender)).toMatchObject({ pending: { 3: {}, 4: {} }, queued: { 9: {} } })
  expect(await ask('txpool_contentFrom', account(8))).toEqual({ pending: {}, queued: {} })
})

it.each([[[]], [['0x12']], [[null]], [[5]]])('rpc/methods/txpool: txpool_contentFrom refuses %j (-32602)', async (params) => {
  await expect(ask('txpool_contentFrom', ...params)).rejects.toMatchObject({ code: -32602 })
})

it('rpc/methods/txpool: txpool_content stops decoding when cancelled', async () => {
  const many = Array.from({ length: 1_000 }, () => pooled[0]).flatMap((each) => each ?? [])
  const gone = { ...context, pool: fakePool(many), cancellation: { isCancelled: true } }
  await expect(async () => ethRegistry.get('txpool_content')?.call(gone, [])).rejects.toMatchObject({ code: -32002 })
})

it('rpc/methods/eth/blocks/transactions: a pool transaction has no block', async () => {
  expect(await ask('eth_getTransactionByHash', pooled[0]?.hash)).toMatchObject({ hash: pooled[0]?.hash, from: fakeSender, ...place })
  expect(await ask('eth_getTransactionByHash', topic(1))).toBeNull()
})

it('rpc/methods/eth/blocks/transactions: finds a transaction that enters a block while the pool is read', async () => {
  const chain = fakeChain([[]])
  const later = fakeChain([[], [[]]])
  const hash = later.transactionHash(1, 0)
  const pool = {
    ...fakePool(),
    get: async () => {
      chain.reorganise(1, [[[]]])
      return undefined
    },
  }
  const found = readResult(await ethRegistry.get('eth_getTransactionByHash')?.call({ ...fakeContext(chain), pool }, [hash]))
  expect(found).toMatchObject({ hash, blockNumber: '0x1' })
})
