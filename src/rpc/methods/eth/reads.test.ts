import { expect, it } from 'vitest'
import { account, fakeChain, fakeContext, fakeSender, topic } from '#test/harness/rpc/fakes'
import { readResult } from '#test/harness/rpc/result'
import { ethRegistry } from '../../methods.ts'

const rich = { nonce: 3n, balance: 255n, code: Uint8Array.of(0x60, 1), slots: { [topic(0)]: 42n } }
const chain = fakeChain([[], [[{ address: account(9), topics: [topic(1)], data: new Uint8Array(0) }], []], []], { [account(1)]: rich }, 1)
const context = fakeContext(chain)
const ask = async (method: string, ...params: readonly unknown[]) => readResult(await ethRegistry.get(method)?.call(context, params))

it.each([
  ['eth_chainId', [], '0x2105'],
  ['net_version', [], '8453'],
  ['eth_blockNumber', [], '0x2'],
  ['eth_syncing', [], false],
  ['web3_clientVersion', [], 'basalt/v0.1.0/linux-x64/node-v24'],
  ['eth_getBalance', [account(1), 'latest'], '0xff'],
  ['eth_getBalance', [account(2)], '0x0'],
  ['eth_getTransactionCount', [account(1), '0x1'], '0x3'],
  ['eth_getCode', [account(1), { blockNumber: '0x2' }], '0x6001'],
  ['eth_getCode', [account(2), 'safe'], '0x'],
  ['eth_getStorageAt', [account(1), '0x0', 'pending'], `0x${'2a'.padStart(64, '0')}`],
  ['eth_getStorageAt', [account(1), topic(1)], `0x${'0'.repeat(64)}`],
])('rpc/methods/eth/state: %s %j returns %j', async (method, params, expected) => {
  expect(await ask(method, ...params)).toEqual(expected)
  expect(chain.views.open).toBe(0)
})

it('rpc/methods/eth/state: a block by hash equals the block by number', async () => {
  expect(await ask('eth_getBalance', account(1), chain.blocks[1]?.hash)).toBe('0xff')
  expect(await ask('eth_getBalance', account(1), { blockHash: chain.blocks[1]?.hash, requireCanonical: true })).toBe('0xff')
})

it('rpc/methods/eth/state: answers a read of pruned state with an error (4444)', async () => {
  await expect(ask('eth_getBalance', account(1), 'earliest')).rejects.toMatchObject({ code: 4444 })
  expect(chain.views.open).toBe(0)
})

it('rpc/methods/eth/state: refuses a storage key of more than 32 bytes (-32602)', async () => {
  const key = `0x${'0'.repeat(65)}`
  const message = `storage key too long (want at most 32 bytes): "${key}"`
  await expect(ask('eth_getStorageAt', account(1), key)).rejects.toMatchObject({ code: -32602, message })
})

it('rpc/methods/eth/state: eth_getProof repeats slots as written, and has one empty node without storage', async () => {
  expect(await ask('eth_getProof', account(1), ['0x0', topic(1)])).toMatchObject({
    ...{ nonce: '0x3', balance: '0xff', accountProof: ['0x80'] },
    storageProof: [
      { key: '0x0', value: '0x2a', proof: ['0x80'] },
      { key: topic(1), value: '0x0', proof: ['0x80'] },
    ],
  })
})

it('rpc/methods/eth/blocks: resolves latest, pending, safe, finalized and earliest', async () => {
  const numbers = ['latest', 'pending', 'safe', 'finalized', 'earliest'].map(
    async (tag) => ((await ask('eth_getBlockByNumber', tag)) as { number: string }).number,
  )
  expect(await Promise.all(numbers)).toEqual(['0x2', '0x2', '0x1', '0x0', '0x0'])
})

it('rpc/methods/eth/blocks: returns transactions as hashes or in full', async () => {
  const hashes = (await ask('eth_getBlockByNumber', '0x1', false)) as { transactions: string[]; hash: string }
  const full = (await ask('eth_getBlockByHash', hashes.hash, true)) as { transactions: { hash: string; from: string; gasPrice: string }[] }
  expect(hashes.transactions).toEqual([chain.transactionHash(1, 0), chain.transactionHash(1, 1)])
  expect(full.transactions.map(({ hash }) => hash)).toEqual(hashes.transactions)
  expect(full.transactions[0]).toMatchObject({ from: fakeSender, gasPrice: '0x3ed', transactionIndex: '0x0', blockNumber: '0x1' })
})

it('rpc/methods/eth/blocks: finds a transaction by index and by hash, and counts transactions', async () => {
  const { hash } = chain.blocks[1] ?? expect.fail()
  const found = await ask('eth_getTransactionByHash', chain.transactionHash(1, 1))
  expect(await ask('eth_getTransactionByBlockNumberAndIndex', '0x1', '0x1')).toEqual(found)
  expect(await ask('eth_getTransactionByBlockHashAndIndex', hash, '0x1')).toEqual(found)
  expect([await ask('eth_getBlockTransactionCountByNumber', '0x1'), await ask('eth_getBlockTransactionCountByHash', hash)]).toEqual([
    '0x2',
    '0x2',
  ])
})

it.each([
  ['eth_accounts', [], []],
  ['net_listening', [], true],
  ['net_peerCount', [], '0x0'],
  ['eth_blobBaseFee', [], '0x0'],
  // recorded from another client
  ['web3_sha3', ['0x68656c6c6f'], '0x1c8aff950685c2ed4bc3174f3472287b56d9517b9c948127319a09a7a36deac8'],
])('rpc/methods: %s returns the value that wallets expect', async (method, params, expected) => {
  expect(await ask(method, ...params)).toEqual(expected)
})

it.each([
  ['web3_sha3', ['hello']],
  ['web3_sha3', []],
  ['eth_getTransactionByBlockNumberAndIndex', ['0x1']],
  ['eth_getTransactionByBlockNumberAndIndex', ['0x1', 'last']],
  ['eth_getBlockTransactionCountByHash', ['0x1']],
])('rpc/methods: %s refuses %j (-32602)', async (method, params) => {
  await expect(ask(method, ...params)).rejects.toMatchObject({ code: -32602 })
})

it('rpc/methods/eth/blocks: block receipts equal the receipts of its transactions', async () => {
  const receipts = (await ask('eth_getBlockReceipts', '0x1')) as object[]
  const one = await ask('eth_getTransactionReceipt', chain.transactionHash(1, 1))
  expect(receipts).toHaveLength(2)
  expect(receipts[1]).toEqual(one)
  expect(one).toMatchObject({
    gasUsed: '0x5208',
    cumulativeGasUsed: '0xa410',
    effectiveGasPrice: '0x3ed',
    status: '0x1',
    contractAddress: null,
    l1Fee: '0x10',
  })
})

it.each([
  ['eth_getBlockByNumber', ['0xffffff', false]],
  ['eth_getBlockByNumber', ['0xffffffffffffffff', false]],
  ['eth_getBlockByHash', [topic(1), false]],
  ['eth_getBlockReceipts', ['0xffffff']],
  ['eth_getTransactionByHash', [topic(1)]],
  ['eth_getTransactionReceipt', [topic(1)]],
  ['eth_getTransactionByBlockNumberAndIndex', ['0x1', '0x2']],
  ['eth_getTransactionByBlockNumberAndIndex', ['0x1', '0xffffffffffffffff']],
  ['eth_getTransactionByBlockNumberAndIndex', ['0xff', '0x0']],
  ['eth_getTransactionByBlockHashAndIndex', [topic(1), '0x0']],
  ['eth_getBlockTransactionCountByNumber', ['0xff']],
  ['eth_getBlockTransactionCountByHash', [topic(1)]],
])('rpc/methods/eth/blocks: %s returns null for unknown blocks and transactions', async (method, params) => {
  expect(await ask(method, ...params)).toBeNull()
})
