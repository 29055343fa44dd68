import { expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import { account, fakeChain, fakeContext, fakePool, fakeSender, signedTransaction, topic } from '#test/harness/rpc/fakes'
import { readResult } from '#test/harness/rpc/result'
import { hashTransaction } from '#types/transaction'
import { ethRegistry } from '../../methods.ts'

const rich = { nonce: 3n, balance: 255n, code: Uint8Array.of(0x60, 1), slots: { [topic(0)]: 42n } }
const chain = fakeChain([[], [[], []], []], { [account(1)]: rich, [fakeSender]: { nonce: 1_002n } })
const pooled = signedTransaction(9_000)
const pool = fakePool([{ raw: pooled, hash: hashTransaction(pooled), sender: fakeSender, isPending: true }])
const context = { ...fakeContext(chain), pool }
const ask = async (method: string, ...params: readonly unknown[]) => readResult(await ethRegistry.get(method)?.call(context, params))
const word = (value: number): string => `0x${value.toString(16).padStart(64, '0')}`
const raws = chain.blocks[1]?.block.transactions.map(toHex) ?? []

it.each([
  ['eth_getHeaderByNumber', ['0x9'], null],
  ['eth_getUncleCountByBlockNumber', ['latest'], '0x0'],
  ['eth_getUncleCountByBlockNumber', ['0x9'], null],
  ['eth_getUncleCountByBlockHash', [chain.blocks[1]?.hash], '0x0'],
  ['eth_getUncleByBlockNumberAndIndex', ['0x1', '0x0'], null],
  ['eth_getRawTransactionByHash', [chain.transactionHash(1, 1)], raws[1]],
  ['eth_getRawTransactionByHash', [hashTransaction(pooled)], toHex(pooled)],
  ['eth_getRawTransactionByHash', [topic(1)], null],
  ['eth_getRawTransactionByBlockNumberAndIndex', ['0x1', '0x0'], raws[0]],
  ['eth_getRawTransactionByBlockHashAndIndex', [chain.blocks[1]?.hash, '0x2'], null],
  ['eth_getAccount', [account(2)], null],
  ['eth_getAccountInfo', [account(1), 'latest'], { balance: '0xff', nonce: '0x3', code: '0x6001' }],
  ['eth_getAccountInfo', [account(2)], { balance: '0x0', nonce: '0x0', code: '0x' }],
  [
    'eth_getStorageValues',
    [{ [account(1)]: ['0x0', topic(1)], [account(2)]: ['0x0'] }],
    { [account(1)]: [word(42), word(0)], [account(2)]: [word(0)] },
  ],
  ['eth_baseFee', [], '0x3e9'],
  ['eth_protocolVersion', [], '0x5'],
])('rpc/methods/eth: %s %j returns %j', async (method, params, expected) => {
  expect(await ask(method, ...params)).toEqual(expected)
  expect(chain.views.open).toBe(0)
})

it('rpc/methods/eth/blocks/headers: a header equals its block without transactions and uncles', async () => {
  const { transactions, uncles, ...header } = (await ask('eth_getBlockByNumber', '0x1')) as Record<string, unknown>
  expect(await ask('eth_getHeaderByNumber', '0x1')).toEqual(header)
  expect(await ask('eth_getHeaderByHash', header['hash'])).toEqual(header)
  expect([transactions, uncles]).toHaveLength(2)
})

it('rpc/methods/eth/blocks/senderAndNonce: returns the transaction of the pool, else of the chain', async () => {
  expect(await ask('eth_getTransactionBySenderAndNonce', fakeSender, '0x2328')).toMatchObject({
    hash: hashTransaction(pooled),
    blockHash: null,
  })
  expect(await ask('eth_getTransactionBySenderAndNonce', fakeSender, '0x3ea')).toBeNull()
})

it('rpc/methods/eth/state/accounts: refuses too many slots or accounts (-32602)', async () => {
  const slots = (count: number) => Array.from({ length: count }, (_, i) => `0x${i.toString(16)}`)
  await expect(ask('eth_getStorageValues', { [account(1)]: slots(1_024), [account(2)]: ['0x0'] })).rejects.toMatchObject({ code: -32602 })
  const accounts = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [account(i), []]))
  expect(Object.keys((await ask('eth_getStorageValues', accounts(1_024))) as object)).toHaveLength(1_024)
  const tooMany = { code: -32602, message: 'at most 1024 accounts allowed' }
  await expect(ask('eth_getStorageValues', accounts(1_025))).rejects.toMatchObject(tooMany)
})

it('rpc/methods/eth/chain/capabilities: returns the oldest block of each kind of data', async () => {
  const all = { disabled: false, oldestBlock: '0x0' }
  expect(await ask('eth_capabilities')).toMatchObject({ head: { number: '0x2' }, state: all, logs: all, stateproofs: all })
})
