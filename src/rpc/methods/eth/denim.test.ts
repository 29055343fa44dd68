import { expect, it } from 'vitest'
import { baseTimeAddress } from '#chainspec/addresses'
import { encodeBaseTimeDeposit } from '#chainspec/baseTime'
import { toHex } from '#lib/hex'
import { accountOf, signedBy } from '#test/harness/chain/blocks'
import { headerOf } from '#test/harness/chain/headers'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { type DenimChain, openDenimChain } from '#test/harness/rpc/denimChain'
import { fakePool } from '#test/harness/rpc/fakes'
import { readResult } from '#test/harness/rpc/result'
import { zeroHash } from '#types/ids'
import type { Payload } from '#types/payload'
import { hashTransaction } from '#types/transaction'
import { ethRegistry } from '../../methods.ts'
import { headResult } from '../../results/block.ts'

type Result = Record<string, unknown>

async function ask<T = Result>({ eth }: DenimChain, method: string, ...params: readonly unknown[]): Promise<T> {
  const found = ethRegistry.get(method) ?? expect.fail(method)
  return readResult<T>(await found.call({ ...eth, cancellation: { isCancelled: false } }, params))
}

/** Calls `timestampMs()` of BaseTime with the memory from 0x80 on, and writes the answer to 0x60. */
const askBaseTime = `635745a67760e01b608052602060606004608073${baseTimeAddress.slice(2)}5afa50`
/** Returns NUMBER, TIMESTAMP, BASEFEE and BaseTime's `timestampMs()`, one word each. */
const clock = testAccount(testAddress(0xc1), { nonce: 1n, code: `0x436000524260205248604052${askBaseTime}60806000f3` })
/** Emits an empty log. */
const emitter = testAccount(testAddress(0xc2), { nonce: 1n, code: '0x60006000a0' })
const aliceAddress = accountOf('alice')
const wordsOf = (output: string): number[] => [0, 1, 2, 3].map((at) => Number(`0x${output.slice(2 + 64 * at, 66 + 64 * at)}`))

const emit = (nonce: bigint): Uint8Array => signedBy('alice', { nonce, to: emitter.address, value: 0n, gasLimit: 50_000n })

/** Chain of five blocks, each with one log: two blocks before Denim, and three of Denim. */
async function loggedChain(): Promise<{ chain: DenimChain; payloads: readonly Payload[] }> {
  const chain = openDenimChain([clock, emitter])
  const payloads: Payload[] = []
  for (let nonce = 0n; nonce < 5n; nonce++) payloads.push(await chain.grow([emit(nonce)]))
  return { chain, payloads }
}

/** Times of blocks 1 to 5 in milliseconds, as results have them: none before Denim, which begins at 1000006 s. */
const timesMs = [undefined, undefined, '0x3b9ae170', '0x3b9ae238', '0x3b9ae300']
const numbers = [1, 2, 3, 4, 5].map((number) => `0x${number}`)

it('rpc/results: 200 ms after second 0x2a is 0xa4d8', () => {
  const transactions = [new Uint8Array([0x7e]), encodeBaseTimeDeposit(1, 200)]
  const block = { header: headerOf({ number: 1, timestamp: 0x2a }), transactions }
  expect(headResult.encode({ hash: testAddress(1).padEnd(66, '0') as typeof zeroHash, block })).toMatchObject({
    timestamp: '0x2a',
    timestampMs: '0xa4d8',
  })
  expect(headResult.encode({ hash: zeroHash, block })).not.toHaveProperty('timestampMs')
})

it('rpc/methods/eth: blocks and headers of Denim have their time in milliseconds', async () => {
  const { chain, payloads } = await loggedChain()
  const hashes = payloads.map(({ blockHash }) => blockHash)
  const times = async (method: string, of: readonly string[], ...more: unknown[]): Promise<unknown[]> =>
    await Promise.all(of.map(async (at) => (await ask(chain, method, at, ...more))['timestampMs']))
  expect(await times('eth_getBlockByNumber', numbers, false)).toEqual(timesMs)
  expect(await times('eth_getBlockByNumber', numbers, true)).toEqual(timesMs)
  expect(await times('eth_getBlockByHash', hashes, true)).toEqual(timesMs)
  expect(await times('eth_getHeaderByNumber', numbers)).toEqual(timesMs)
  expect(await times('eth_getHeaderByHash', hashes)).toEqual(timesMs)
  expect(await ask(chain, 'eth_getBlockByNumber', '0x4', false)).toMatchObject({ timestamp: '0xf4246' })
  expect(await ask(chain, 'eth_getBlockByNumber', 'pending', false)).toEqual(await ask(chain, 'eth_getBlockByNumber', 'latest', false))
})

it('rpc/methods/eth: mined transactions of Denim blocks have the time of their block in milliseconds', async () => {
  const { chain, payloads } = await loggedChain()
  const hashes = payloads.map(({ transactions }) => hashTransaction(transactions.at(-1) ?? expect.fail()))
  const times = async (method: string, params: readonly (readonly unknown[])[]): Promise<unknown[]> =>
    await Promise.all(params.map(async (each) => (await ask(chain, method, ...each))['blockTimestampMs']))
  const indexes = payloads.map(({ transactions }) => `0x${transactions.length - 1}`)
  expect(
    await times(
      'eth_getTransactionByHash',
      hashes.map((hash) => [hash]),
    ),
  ).toEqual(timesMs)
  expect(
    await times(
      'eth_getTransactionByBlockNumberAndIndex',
      numbers.map((number, at) => [number, indexes[at]]),
    ),
  ).toEqual(timesMs)
  expect(
    await times(
      'eth_getTransactionByBlockHashAndIndex',
      payloads.map(({ blockHash }, at) => [blockHash, indexes[at]]),
    ),
  ).toEqual(timesMs)
  for (const [at, number] of numbers.entries()) {
    const { transactions } = await ask<{ transactions: Result[] }>(chain, 'eth_getBlockByNumber', number, true)
    expect(transactions.map((each) => each['blockTimestampMs'])).toEqual(transactions.map(() => timesMs[at]))
  }
})

it('rpc/methods/eth: a transaction of the pool has no time in milliseconds', async () => {
  const { chain } = await loggedChain()
  const raw = emit(5n)
  const pooled = { hash: hashTransaction(raw), raw, sender: testAddress(1), isPending: true }
  const found = await ask({ ...chain, eth: { ...chain.eth, pool: fakePool([pooled as never]) } }, 'eth_getTransactionByHash', pooled.hash)
  expect(found).toMatchObject({ blockHash: null })
  expect(found).not.toHaveProperty('blockTimestampMs')
})

it.each(['in memory', 'on disk'])(
  'rpc/methods/eth: logs of Denim blocks %s have the time of their block in milliseconds',
  async (where) => {
    const { chain, payloads } = await loggedChain()
    if (where === 'on disk') await chain.execution.commit()
    const range = { fromBlock: '0x1', toBlock: 'latest' }
    const emitted = { ...range, address: emitter.address }
    const timesIn = (logs: readonly Result[]): unknown[] =>
      logs.filter(({ address }) => address === emitter.address).map((log) => log['blockTimestampMs'])
    expect(timesIn(await ask<Result[]>(chain, 'eth_getLogs', emitted))).toEqual(timesMs)
    expect(timesIn(await ask<Result[]>(chain, 'eth_getLogs', range))).toEqual(timesMs)
    expect(timesIn(await ask<Result[]>(chain, 'eth_getFilterLogs', await ask<string>(chain, 'eth_newFilter', emitted)))).toEqual(timesMs)
    for (const [at, { blockHash, transactions }] of payloads.entries()) {
      const time = [timesMs[at]]
      expect(timesIn(await ask<Result[]>(chain, 'eth_getLogs', { blockHash }))).toEqual(time)
      const hash = hashTransaction(transactions.at(-1) ?? expect.fail())
      const receipt = await ask<{ logs: Result[] }>(chain, 'eth_getTransactionReceipt', hash)
      expect(timesIn(receipt.logs)).toEqual(time)
      expect(receipt).not.toHaveProperty('blockTimestampMs')
      const receipts = await ask<{ logs: Result[] }[]>(chain, 'eth_getBlockReceipts', blockHash)
      expect(timesIn(receipts.flatMap(({ logs }) => logs))).toEqual(time)
    }
  },
)

it('rpc/methods/eth: a filter returns new logs with the time in milliseconds, and the same time when they are removed', async () => {
  const { chain, payloads } = await loggedChain()
  const filter = await ask<string>(chain, 'eth_newFilter', { address: emitter.address })
  const changes = async (): Promise<unknown[]> =>
    (await ask<Result[]>(chain, 'eth_getFilterChanges', filter)).map((log) => [log['blockTimestampMs'], log['removed']])
  await chain.grow([emit(5n)])
  await chain.grow([emit(6n)])
  expect(await changes()).toEqual([600, 800].map((ms) => [`0x${(1_000_006_000 + ms).toString(16)}`, false]))
  await chain.grow([signedBy('alice', { nonce: 5n })], payloads.at(-1))
  expect(await changes()).toEqual([800, 600].map((ms) => [`0x${(1_000_006_000 + ms).toString(16)}`, true]))
})

it('rpc/methods/eth: calls at pending run in the next slot from Denim on, with its milliseconds', async () => {
  const chain = openDenimChain([clock, emitter])
  // with a price: without one, BASEFEE is zero
  const call = { from: aliceAddress, to: clock.address, gas: '0x100000', gasPrice: '0x10000' }
  const at = async (tag: string): Promise<number[]> => wordsOf(await ask<string>(chain, 'eth_call', call, tag))
  await chain.grow()
  await chain.grow()
  expect(await at('pending')).toEqual(await at('latest')) // before Denim
  await chain.grow()
  for (let number = 4; number < 10; number++) {
    const timeMs = 1_000_006_000 + 200 * (number - 3)
    const [seconds, previous] = [Math.floor(timeMs / 1000), Math.floor((timeMs - 200) / 1000)]
    expect(await at('latest')).toMatchObject([number - 1, previous, expect.any(Number), timeMs - 200])
    const forecast = await at('pending')
    expect(forecast).toMatchObject([number, seconds, expect.any(Number), timeMs])
    const many = [[{ transactions: [call] }], { blockNumber: 'pending' }]
    const [[run = expect.fail()] = []] = await ask<{ value: string }[][]>(chain, 'eth_callMany', ...many)
    expect(wordsOf(run.value)).toEqual(forecast)
    const traced = await ask<{ output: string }>(chain, 'debug_traceCall', call, 'pending', { tracer: 'callTracer' })
    expect(wordsOf(traced.output)).toEqual(forecast)
    const sealed = await chain.grow()
    expect([sealed.timestamp, Number(sealed.baseFeePerGas)]).toEqual([seconds, forecast[2]])
    expect(await at('latest')).toEqual(forecast)
  }
})

/** Context of a node that follows flashblocks, with the other fallback of pending. */
const withFlashblocks = (chain: DenimChain): DenimChain => ({
  ...chain,
  eth: { ...chain.eth, pendingFallback: 'finalized', preconfirmed: { subscribe: () => ({ [Symbol.dispose]: () => {} }) } },
})

/** Reads with a block parameter, `pending`. */
const reads: readonly (readonly [string, ...unknown[]])[] = [
  ['eth_getBlockByNumber', 'pending', true],
  ['eth_getHeaderByNumber', 'pending'],
  ['eth_getBlockReceipts', 'pending'],
  ['eth_getBlockTransactionCountByNumber', 'pending'],
  ['eth_getUncleCountByBlockNumber', 'pending'],
  ['eth_getTransactionByBlockNumberAndIndex', 'pending', '0x2'],
  ['eth_getRawTransactionByBlockNumberAndIndex', 'pending', '0x2'],
  ['eth_getBalance', aliceAddress, 'pending'],
  ['eth_getTransactionCount', aliceAddress, 'pending'],
  ['eth_getCode', emitter.address, 'pending'],
  ['eth_getStorageAt', baseTimeAddress, '0x0', 'pending'],
  ['eth_getStorageValues', { [baseTimeAddress]: ['0x0'] }, 'pending'],
  ['eth_getProof', baseTimeAddress, ['0x0'], 'pending'],
  ['eth_getAccount', aliceAddress, 'pending'],
  ['eth_getAccountInfo', aliceAddress, 'pending'],
  ['eth_getLogs', { fromBlock: 'pending', toBlock: 'pending' }],
  ['eth_getLogs', { fromBlock: 'pending' }],
  ['eth_feeHistory', '0x2', 'pending', []],
  ['trace_block', 'pending'],
  ['trace_replayBlockTransactions', 'pending', ['trace']],
  ['debug_traceBlockByNumber', 'pending', { tracer: 'callTracer' }],
  ['debug_getRawBlock', 'pending'],
  ['debug_getRawReceipts', 'pending'],
  ['debug_executionWitness', 'pending'],
]
const asLatest = (params: readonly unknown[]): unknown[] =>
  JSON.parse(JSON.stringify(params).replaceAll('"pending"', '"latest"')) as unknown[]

it.each([
  ['without', (chain: DenimChain) => chain],
  ['with', withFlashblocks],
])('rpc/methods/eth: reads at pending are those at latest from Denim on, %s flashblocks', async (_how, over) => {
  const chain = over((await loggedChain()).chain)
  for (const [method, ...params] of reads) {
    const found = await ask(chain, method, ...params)
    expect(found, method).not.toBeNull()
    expect([method, found]).toEqual([method, await ask(chain, method, ...asLatest(params))])
  }
})

it.each([
  ['without', (chain: DenimChain) => chain],
  ['with', withFlashblocks],
])(
  'rpc/methods/eth: every method that runs messages at pending runs them in the next slot from Denim on, %s flashblocks',
  async (_how, over) => {
    const chain = over((await loggedChain()).chain)
    const call = { to: clock.address, gas: '0x100000' }
    const tracer = { tracer: 'callTracer' }
    const outputs = async (at: string): Promise<unknown[]> => [
      wordsOf(await ask<string>(chain, 'eth_call', call, at)),
      wordsOf(
        (await ask<{ value: string }[][]>(chain, 'eth_callMany', [{ transactions: [call] }], { blockNumber: at }))[0]?.[0]?.value ?? '',
      ),
      wordsOf((await ask<{ output: string }>(chain, 'debug_traceCall', call, at, tracer)).output),
      wordsOf(
        (await ask<{ output: string }[][]>(chain, 'debug_traceCallMany', [{ transactions: [call] }], { blockNumber: at }, tracer))[0]?.[0]
          ?.output ?? '',
      ),
      wordsOf((await ask<{ output: string }>(chain, 'trace_call', call, ['trace'], at)).output),
      wordsOf((await ask<{ output: string }[]>(chain, 'trace_callMany', [[call, ['trace']]], at))[0]?.output ?? ''),
    ]
    const forecast = await outputs('pending')
    expect(forecast).toEqual(forecast.map(() => [6, 1_000_006, expect.any(Number), 1_000_006_600]))
    await chain.grow()
    expect(await outputs('latest')).toEqual(forecast)
  },
)

it('rpc/methods/eth: from Denim on the pool answers for its transactions by hash, by nonce, and in nonces at pending', async () => {
  const { chain } = await loggedChain()
  const raw = emit(5n)
  const hash = hashTransaction(raw)
  const pool = { ...fakePool([{ hash, raw, sender: aliceAddress, isPending: true } as never]), nextNonce: async () => 6n }
  const pooled = withFlashblocks({ ...chain, eth: { ...chain.eth, pool } })
  const place = { hash, blockHash: null, blockNumber: null, transactionIndex: null }
  for (const found of [
    await ask(pooled, 'eth_getTransactionByHash', hash),
    await ask(pooled, 'eth_getTransactionBySenderAndNonce', aliceAddress, '0x5'),
  ]) {
    expect(found).toMatchObject(place)
    expect(JSON.stringify(found)).not.toMatch(/timestamp/i)
  }
  expect(await ask(pooled, 'eth_getRawTransactionByHash', hash)).toBe(toHex(raw))
  expect(await ask(pooled, 'eth_getTransactionReceipt', hash)).toBeNull()
  expect(await ask(pooled, 'eth_getTransactionCount', aliceAddress, 'pending')).toBe('0x6')
  expect(await ask(pooled, 'eth_getTransactionCount', aliceAddress, 'latest')).toBe('0x5')
  expect((await ask<{ transactions: string[] }>(pooled, 'eth_getBlockByNumber', 'pending', false)).transactions).not.toContain(hash)
  await chain.grow([raw])
  expect(await ask(pooled, 'eth_getTransactionByHash', hash)).toMatchObject({ blockNumber: '0x6', blockTimestampMs: '0x3b9ae3c8' })
})

/** Reverts unless BaseTime's `timestampMs()` is that of block 6. */
const gate = testAccount(testAddress(0xc3), { nonce: 1n, code: `0x${askBaseTime}606051633b9ae3c814603c5760006000fd5b00` })

it('rpc/methods/eth: eth_estimateGas and eth_createAccessList at pending run in the next slot from Denim on', async () => {
  const chain = openDenimChain([gate])
  for (let i = 0; i < 5; i++) await chain.grow()
  const call = { to: gate.address }
  await expect(ask(chain, 'eth_estimateGas', call, 'latest')).rejects.toMatchObject({ code: 3 })
  expect(Number(await ask<string>(chain, 'eth_estimateGas', call, 'pending'))).toBeGreaterThan(21_000)
  expect(await ask(chain, 'eth_createAccessList', call, 'latest')).toHaveProperty('error')
  expect(await ask(chain, 'eth_createAccessList', call, 'pending')).not.toHaveProperty('error')
})

type Simulated = readonly {
  readonly number: string
  readonly timestamp: string
  readonly calls: readonly { readonly returnData: string }[]
}[]

/** Number, timestamp and BaseTime's answer of each simulated block. */
async function simulated(chain: DenimChain, at: string, blocks: readonly object[]): Promise<unknown[]> {
  const blockStateCalls = blocks.map((block) => ({ ...block, calls: [{ to: clock.address }] }))
  const found = await ask<Simulated>(chain, 'eth_simulateV1', { blockStateCalls }, at)
  return found.map(({ number, timestamp, calls: [call] }) => [Number(number), Number(timestamp), call && wordsOf(call.returnData)[3]])
}

it('rpc/methods/eth: eth_simulateV1 follows the schedule of Denim, with BaseTime', async () => {
  const { chain } = await loggedChain()
  const scheduled = [6, 7, 8, 9].map((number) => [number, Math.floor(1_000_005.4 + number / 5), 1_000_005_400 + 200 * number])
  expect(await simulated(chain, 'latest', [{}, {}, {}, {}])).toEqual(scheduled)
  expect(await simulated(chain, 'pending', [{}, {}])).toEqual(scheduled.slice(0, 2))
  // blocks 6 to 8 fill the gap
  const filled = scheduled.map(([number, seconds, timeMs]) => [number, seconds, number === 9 ? timeMs : undefined])
  expect(await simulated(chain, 'latest', [{ blockOverrides: { number: '0x9' } }])).toEqual(filled)
})

it('rpc/methods/eth: eth_simulateV1 accepts equal seconds from Denim on', async () => {
  const { chain } = await loggedChain()
  const time = (seconds: number): object => ({ blockOverrides: { time: `0x${seconds.toString(16)}` } })
  expect(await simulated(chain, 'latest', [time(1_000_006), time(1_000_100), time(1_000_100), {}])).toEqual([
    [6, 1_000_006, 1_000_006_600],
    [7, 1_000_100, 1_000_100_000],
    [8, 1_000_100, 1_000_100_200],
    [9, 1_000_100, 1_000_100_400],
  ])
  const refused = { code: -38021, message: 'block timestamps must be in order: 1000005 <= 1000006' }
  await expect(simulated(chain, 'latest', [time(1_000_005)])).rejects.toMatchObject(refused)
})

it('rpc/methods/eth: eth_simulateV1 before Denim has 12 s between blocks and refuses equal seconds', async () => {
  const { chain } = await loggedChain()
  const numbersAndTimes = async (blocks: readonly object[], at = '0x1'): Promise<unknown[]> => {
    const found = await ask<Simulated>(chain, 'eth_simulateV1', { blockStateCalls: blocks }, at)
    return found.map(({ number, timestamp }) => [Number(number), Number(timestamp)])
  }
  await expect(numbersAndTimes([{ blockOverrides: { time: '0xf4242' } }])).rejects.toMatchObject({ code: -38021 })
  expect(await numbersAndTimes([{}], '0x0')).toEqual([[1, 1_000_012]])
  expect(await numbersAndTimes([{}, {}], '0x2')).toEqual([
    [3, 1_000_006],
    [4, 1_000_006],
  ])
})

it('rpc/methods/eth: simulated blocks have no time in milliseconds', async () => {
  const { chain } = await loggedChain()
  const request = { blockStateCalls: [{ calls: [{ to: emitter.address }] }], returnFullTransactions: true }
  expect(JSON.stringify(await ask<Simulated>(chain, 'eth_simulateV1', request, 'latest'))).not.toMatch(/timestampMs/i)
})

it('rpc/methods/base: base_meterBundle runs in the next slot of Denim', async () => {
  const chain = openDenimChain([gate])
  for (let i = 0; i < 5; i++) await chain.grow()
  const raw = signedBy('alice', { to: gate.address, value: 0n, gasLimit: 100_000n })
  const bundle = { txs: [toHex(raw)], blockNumber: '0x6' }
  const { results } = await ask<{ results: { gasUsed: number }[] }>(chain, 'base_meterBundle', bundle)
  await chain.grow([raw])
  const receipt = await ask<{ status: string; gasUsed: string }>(chain, 'eth_getTransactionReceipt', hashTransaction(raw))
  expect(receipt.status).toBe('0x1')
  expect(results).toMatchObject([{ gasUsed: Number(receipt.gasUsed) }])
})
