import { type Hex, parseTransaction, recoverTransactionAddress } from 'viem'
import { expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import { type Hash, parseAddress, parseHash } from '#types/ids'
import { ShapeError } from '#types/jsonShape'
import { devnetAccounts, testMnemonic } from './accounts.ts'
import type { DevnetFacts } from './control.ts'
import { deposit } from './deposit.ts'
import { type Ask, connectDevnet, type RemoteDevnet } from './remoteDevnet.ts'
import { accountOf, sendFrom, sendOnL2 } from './wallet.ts'

const { accounts } = devnetAccounts(testMnemonic, 3)
const [first, second] = accounts
if (!first || !second) throw new Error('no accounts')
const portal = parseAddress(`0x${'de'.repeat(20)}`)
const to = parseAddress(`0x${'ab'.repeat(20)}`)
const url = 'http://a/'
const facts: DevnetFacts = {
  urls: { rpc: url, ws: url, rollup: url, l1: url, l1Beacon: url, verifier: url, verifierWs: url, control: url },
  chainId: 901,
  l1ChainId: 900,
  blockTimeSec: 0.2,
  l1BlockTimeSec: 2,
  accounts: accounts.map(({ address }) => address),
  owner: first.address,
  contracts: { portal, systemConfig: to },
}
const hashOf = (byte: string): Hash => parseHash(`0x${byte.repeat(32)}`)

/** Answers by method, and records the sent transactions. */
function scripted(answers: Readonly<Record<string, (params: readonly unknown[]) => unknown>>): { ask: Ask; sent: Hex[] } {
  const sent: Hex[] = []
  const common: typeof answers = {
    eth_getTransactionCount: () => '0x7',
    eth_estimateGas: () => '0x5208',
    eth_getBlockByNumber: () => ({ baseFeePerGas: '0x64' }),
    eth_getTransactionByHash: () => ({}),
    eth_sendRawTransaction: ([raw]) => {
      sent.push(raw as Hex)
      return hashOf('77')
    },
    ...answers,
  }
  return {
    sent,
    ask: async (method, params, parse) => parse((common[method] ?? (() => expect.fail(method)))(params)),
  }
}
const receipt = (block: string, more: Readonly<Record<string, unknown>> = {}) => ({
  transactionHash: hashOf('77'),
  status: '0x1',
  blockNumber: '0x9',
  blockHash: hashOf(block),
  gasUsed: '0x5208',
  contractAddress: null,
  logs: [],
  ...more,
})
/** Polls again at once, up to a maximum number of times. */
const until: RemoteDevnet['until'] = async (what, look) => {
  for (let tries = 0; tries < 10; tries++) {
    const found = await look()
    if (found !== undefined) return found
  }
  throw new Error(what)
}

it('devnet/wallet: signs a transaction with its account, with room for gas and rising base fees', async () => {
  const { ask, sent } = scripted({})
  expect(await sendFrom(ask, 901, second, { to, value: 5n, data: Uint8Array.of(1, 2) })).toBe(hashOf('77'))
  const [raw] = sent
  if (raw === undefined) throw new Error('nothing sent')
  const wish = { type: 'eip1559', chainId: 901, nonce: 7, to, value: 5n, data: '0x0102', gas: 25_200n, maxFeePerGas: 1_000_400n } as const
  expect(parseTransaction(raw)).toMatchObject(wish)
  expect((await recoverTransactionAddress({ serializedTransaction: raw as never })).toLowerCase()).toBe(second.address)
})

it('devnet/wallet: reports a transaction that fails in its block (TRANSACTION_FAILED)', async () => {
  const { ask } = scripted({ eth_getTransactionReceipt: () => receipt('01', { status: '0x0' }) })
  const devnet: RemoteDevnet = { facts, l1: ask, l2: ask, rollup: ask, control: ask, until }
  await expect(sendOnL2(devnet, first, { to, value: 0n, data: new Uint8Array() })).rejects.toMatchObject({ code: 'TRANSACTION_FAILED' })
})

it.each([
  ['its number', '1', second.address],
  ['its address', second.address, second.address],
  ['its address with capitals', second.address.toUpperCase().replace('X', 'x'), second.address],
])('devnet/wallet: selects an account by %s', (_what, from, address) => {
  expect(accountOf({ facts }, testMnemonic, from).address).toBe(address)
})

it.each([
  ['3', testMnemonic],
  ['-1', testMnemonic],
  [to, testMnemonic],
  ['0', 'legal winner thank year wave sausage worth useful legal winner thank yellow'],
])('devnet/wallet: account %s is unknown (UNKNOWN_ACCOUNT)', (from, mnemonic) => {
  expect(() => accountOf({ facts }, mnemonic, from)).toThrow(expect.objectContaining({ code: 'UNKNOWN_ACCOUNT' }))
})

it('devnet/deposit: follows a deposit whose L1 block is replaced', async () => {
  // TransactionDeposited(address,address,uint256,bytes)
  const topics = [parseHash('0xb3813568d9991fc951961fcb4c784893574240a28925604d09fc577c55bb7c32')]
  const log = { address: portal, topics, data: '0x', logIndex: '0x2' }
  const onL1 = [receipt('0a', { logs: [log] }), null, receipt('0b', { logs: [log] })]
  const asked: unknown[] = []
  const l1 = scripted({ eth_getTransactionReceipt: () => (onL1.length > 1 ? onL1.shift() : onL1[0]) })
  const l2 = scripted({
    eth_getTransactionReceipt: ([hash]) => {
      asked.push(hash)
      return asked.length > 1 ? receipt('0c') : null
    },
  })
  const devnet: RemoteDevnet = { facts, l1: l1.ask, l2: l2.ask, rollup: l2.ask, control: l2.ask, until }
  const deposited = await deposit(devnet, first, { to, value: 3n, data: new Uint8Array() })
  expect(deposited).toMatchObject({ l1: { block: { hash: hashOf('0b') } }, l2: { block: { hash: hashOf('0c') } } })
  expect(new Set(asked).size).toBe(2)
  expect(parseTransaction(l1.sent[0] ?? '0x')).toMatchObject({ chainId: 900, to: portal, value: 3n })
})

it('devnet/deposit: sends a deposit again that an L1 reorg has lost, but not a pending one', async () => {
  const topics = [parseHash('0xb3813568d9991fc951961fcb4c784893574240a28925604d09fc577c55bb7c32')]
  const log = { address: portal, topics, data: '0x', logIndex: '0x2' }
  const onL1 = [null, receipt('0a', { logs: [log] }), null, receipt('0b', { logs: [log] })]
  const known = [{}, null]
  const l1 = scripted({
    eth_getTransactionReceipt: () => onL1.shift() ?? null,
    eth_getTransactionByHash: () => known.shift() ?? null,
  })
  const onL2 = [null, receipt('0c')]
  const l2 = scripted({ eth_getTransactionReceipt: () => onL2.shift() ?? null })
  const devnet: RemoteDevnet = { facts, l1: l1.ask, l2: l2.ask, rollup: l2.ask, control: l2.ask, until }
  const deposited = await deposit(devnet, first, { to, value: 3n, data: new Uint8Array() })
  expect(deposited).toMatchObject({ l1: { block: { hash: hashOf('0b') } }, l2: { block: { hash: hashOf('0c') } } })
  expect(l1.sent).toHaveLength(2)
})

/** Network on which all responses are equal. */
const answering =
  (body: string, status = 200): typeof fetch =>
  async () =>
    new Response(body, { status })

it.each<[string, typeof fetch, string]>([
  [
    'the port is closed',
    async () => Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) })),
    'ECONNREFUSED',
  ],
  ['another program answers', answering('<html>'), ''],
  [
    'a node responds that is not a devnet',
    answering('{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}'),
    'Method not found',
  ],
  ['the response is null', answering('{"jsonrpc":"2.0","id":1,"result":null}'), 'no facts of a devnet'],
  ['the response has no URLs', answering('{"jsonrpc":"2.0","id":1,"result":{"chainId":901}}'), 'no facts of a devnet'],
])('devnet/remoteDevnet: reports that no devnet runs where %s (DEVNET_NOT_RUNNING)', async (_what, network, reason) => {
  const deps = { fetch: network, clock: createManualClock(), signal: new AbortController().signal }
  await expect(connectDevnet(deps, 'http://127.0.0.1:8549')).rejects.toMatchObject({
    code: 'DEVNET_NOT_RUNNING',
    message: expect.stringContaining(reason),
  })
})

it('devnet/remoteDevnet: names the method of an invalid response (DEVNET_RPC)', async () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: facts })
  const deps = { fetch: answering(body), clock: createManualClock(), signal: new AbortController().signal }
  const devnet = await connectDevnet(deps, 'http://127.0.0.1:8549')
  const unreadable = (): never => {
    throw new ShapeError('no block')
  }
  await expect(devnet.l2('eth_x', [], unreadable)).rejects.toMatchObject({ code: 'DEVNET_RPC', message: expect.stringContaining('eth_x') })
})
