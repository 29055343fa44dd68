import { Buffer } from 'node:buffer'
import { expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { createManualClock, settle } from '#test/harness/clock'
import { fakeChain, fakeContext, fakePool, fakeSequencer, signedTransaction } from '#test/harness/rpc/fakes'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import { hashTransaction } from '#types/transaction'
import type { EthContext } from '../../../context.ts'
import { ethRegistry } from '../../../methods.ts'
import { costClasses } from '../../../registry.ts'
import { emptyTally } from '../../../server/caller.ts'
import { createDispatcher } from '../../../server/dispatch.ts'
import { UnreadTotal } from '../../../server/unread.ts'

/** The first transaction of block 2 of a fake chain. */
const raw = signedTransaction(2_000)
const hash = hashTransaction(raw)

function setUp() {
  const chain = fakeChain([[], [[]]])
  const [heads, clock] = [scriptedFeed(), createManualClock()]
  const context = { ...fakeContext(chain), heads, clock, pool: fakePool() }
  const send = async (over: object, ...more: readonly unknown[]): Promise<unknown> =>
    ethRegistry.get('eth_sendRawTransactionSync')?.call({ ...context, ...over }, [toHex(raw), ...more])
  const include = (): void => {
    chain.reorganise(2, [[[]]])
    heads.tell(...chain.blocks.slice(2))
  }
  return { chain, heads, clock, context, send, include }
}

it('rpc/methods/eth/submit: eth_sendRawTransactionSync waits for the block, returns the receipt, and releases all resources', async () => {
  const { send, include, heads, clock, chain } = setUp()
  const sent = send({})
  await settle()
  heads.tell() // a head without the transaction
  await settle()
  include()
  expect(JSON.parse(((await sent) as { text: string }).text)).toMatchObject({ transactionHash: hash, blockNumber: '0x2', status: '0x1' })
  expect([heads.listeners, clock.waiting, chain.views.open]).toEqual([0, 0, 0])
})

it('rpc/methods/eth/submit: eth_sendRawTransactionSync finds a transaction that is in a block before the sequencer answers', async () => {
  const { send, include } = setUp()
  const sequencer = fakeSequencer({
    send: async () => {
      include()
      return { kind: 'result', result: hash }
    },
  })
  expect(await send({ sequencer })).toMatchObject({ text: expect.stringContaining(hash) })
})

it.each([
  [undefined, 6_000, '6s'],
  [null, 6_000, '6s'],
  [250, 250, '250ms'],
  ['0x5dc', 1_500, '1.5s'],
])(
  'rpc/methods/eth/submit: eth_sendRawTransactionSync with time-out %j ends after %i ms with error 4, hash and state',
  async (timeout, ms, written) => {
    const { send, clock, heads } = setUp()
    const sent = send({}, timeout)
    const outcome = expect(sent).rejects.toMatchObject({
      code: 4,
      message: `Transaction ${hash} was added to the mempool but wasn't confirmed within ${written}.`,
      data: { hash, status: { state: 'unknown' } },
    })
    await clock.advanceMs(ms - 1)
    expect(heads.listeners).toBe(1)
    await clock.advanceMs(1)
    await outcome
    expect(heads.listeners).toBe(0)
  },
)

it.each([
  [6_001, { code: -32602, message: 'time out too long, timeout: 6001 ms, max: 6000 ms' }],
  [-1, { code: -32602 }],
  ['soon', { code: -32602 }],
])('rpc/methods/eth/submit: eth_sendRawTransactionSync refuses time-out %j before submission', async (timeout, error) => {
  const { send, context } = setUp()
  await expect(send({}, timeout)).rejects.toMatchObject(error)
  expect(context.pool.added).toEqual([])
})

it('rpc/methods/eth/submit: eth_sendRawTransactionSync fails at once when the pool refuses', async () => {
  const { send, heads } = setUp()
  const pool = fakePool([], () => ({ kind: 'refused', refusal: { kind: 'underpriced' } }))
  await expect(send({ pool })).rejects.toMatchObject({ code: -32000, message: 'transaction underpriced' })
  expect(heads.listeners).toBe(0)
})

it('rpc/methods/eth/submit: a cancelled eth_sendRawTransactionSync ends with the next head', async () => {
  const { send, heads } = setUp()
  const cancellation = { isCancelled: false }
  const sent = send({ cancellation })
  const outcome = expect(sent).rejects.toMatchObject({ code: -32002 })
  await settle()
  cancellation.isCancelled = true
  heads.tell()
  await outcome
  expect(heads.listeners).toBe(0)
})

it('rpc/methods/eth/submit: waiting calls of eth_sendRawTransactionSync do not delay eth_sendRawTransaction, also within a batch', async () => {
  const { context, clock, heads } = setUp()
  const contextOf = (cancellation: EthContext['cancellation']): EthContext => ({ ...context, cancellation })
  const deps = { registry: ethRegistry, contextOf, log: silentLog, clock }
  const dispatcher = createDispatcher<EthContext>(deps, { maxBatch: 10_000, maxResponseBytes: 1_000_000 })
  const unread = new UnreadTotal({ log: silentLog }, 1_000_000)
  const answerTo = (body: unknown) =>
    dispatcher.answer(Buffer.from(JSON.stringify(body)), {
      isGone: false,
      share: unread.join('http', () => {}).share(),
      tally: emptyTally(),
    })
  const call = (method: string) => ({ jsonrpc: '2.0', id: 1, method, params: [toHex(raw)] })
  const { maxRunning, maxWaiting } = costClasses['submit-sync']

  const waiting = Array.from({ length: maxRunning + maxWaiting }, () => call('eth_sendRawTransactionSync'))
  void answerTo([...waiting, call('eth_sendRawTransaction')])
  await settle()
  expect([heads.listeners, context.pool.added.length]).toEqual([maxRunning, maxRunning + 1])
  expect(String(await answerTo(call('eth_sendRawTransaction')))).toContain(`"result":"${hash}"`)
  expect(String(await answerTo(call('eth_sendRawTransactionSync')))).toContain('"class":"submit-sync"')
})
