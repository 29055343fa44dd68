import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import { networkOf } from '#chainspec/networks'
import type { Engine } from '#engine/port'
import { silentLog } from '#lib/log'
import type { PendingPort } from '#pending/pendingPort'
import { createManualClock, settle } from '#test/harness/clock'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import type { TraceOptions } from '../nodeOptions.ts'
import { createTracing } from './tracing.ts'

type Sent = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
  readonly status?: { readonly message: string }
}

const { config } = networkOf('base')
const startMs = 1_700_000_000_000
const hashOf = (number: number): Hash => `0x${number.toString(16).padStart(32, '0')}${'b'.repeat(24)}00000000` as Hash
const payloadOf = (number: number): Payload =>
  ({ blockNumber: number, blockHash: hashOf(number), gasUsed: 21_000n, transactions: [new Uint8Array(1)] }) as unknown as Payload
const refOf = (number: number) => ({ number, hash: hashOf(number), timestamp: 0 })

function tracingOf(changes: Partial<TraceOptions> = {}) {
  const clock = createManualClock(startMs)
  const spans: Sent[] = []
  const fetch = (async (_url: string, { body }: { body: string }) => {
    const json = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Sent[] }[] }[] }
    spans.push(...json.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
    return new Response('{}')
  }) as unknown as typeof globalThis.fetch
  const trace = { url: 'http://collector:4318', service: 'basalt', sample: 1, ...changes }
  const tracing =
    createTracing(
      { clock, log: silentLog, fetch, registry: new Registry(), random: Math.random },
      { trace, config, mode: 'all', version: '1' },
    ) ?? expect.fail()
  const engine: Engine = {
    insert: async ({ blockNumber }) => {
      await clock.advanceMs(30)
      if (blockNumber === 13) throw new Error('unknown parent')
      tracing.executed({ hash: hashOf(blockNumber), endMs: clock.nowMs() - 5, ms: 20, stages: { transactions: 12, seal: 8 } })
      return { kind: 'valid' }
    },
    build: async () => ({ kind: 'built', payload: payloadOf(20) }),
    setHeads: async () => clock.advanceMs(3),
    heads: () => expect.fail(),
    payload: () => expect.fail(),
    storageRoot: () => expect.fail(),
  }
  const publish = (unsafe: number, committed: number): void =>
    tracing.publish({ heads: { unsafe: refOf(unsafe) }, committed: refOf(committed) } as unknown as HeadRecord)
  async function exported(): Promise<readonly Sent[]> {
    await tracing[Symbol.asyncDispose]()
    await settle()
    return spans
  }
  return { clock, tracing, engine, publish, exported }
}

const attributesOf = ({ attributes }: Sent): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

/** Returns the spans as lines: name, name of the parent, begin and length in ms. */
function linesOf(spans: readonly Sent[]): readonly string[] {
  const nameOf = new Map(spans.map(({ spanId, name }) => [spanId, name]))
  return spans.map(({ name, parentSpanId, startTimeUnixNano, endTimeUnixNano }) => {
    const [begin, end] = [startTimeUnixNano, endTimeUnixNano].map((time) => Number(time) / 1e6 - startMs) as [number, number]
    return `${name} < ${nameOf.get(parentSpanId ?? '') ?? '-'} ${Math.round(begin)}+${Math.round(end - begin)}`
  })
}

it('node/tracing: a gossiped block has a span for each step, down to its commit and the notified threads', async () => {
  const { clock, tracing, engine, publish, exported } = tracingOf()
  let ready = 0
  const traced = tracing.engine(engine, 'followed-node', () => ({ ready: ready++, own: 5 }))
  const number = 10
  await clock.advanceMs(100)
  // it was due long before; it arrived 40 ms ago
  tracing.gossiped(payloadOf(number), clock.nowMs() - 40 - (1_686_789_347_000 + 2_000 * number))
  await traced.insert(payloadOf(number))
  await traced.setHeads({ unsafe: refOf(number) } as never)
  publish(number, 9)
  tracing.announced(refOf(number), 'rpc-0', clock.nowMs() + 2)
  await clock.advanceMs(2_000)
  tracing.commit('begin')
  await clock.advanceMs(50)
  publish(number, number)
  publish(number, number)
  const spans = await exported()
  expect(linesOf(spans)).toEqual([
    'block < - 60+2123',
    'receive < block 60+40',
    'insert < block 100+30',
    'execution < insert 105+20',
    'transactions < execution 105+12',
    'root < execution 117+8',
    'head < block 130+3',
    'announce < block 133+0',
    'announce < block 133+2',
    'commit < block 2133+50',
  ])
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([hashOf(number).slice(2, 34)]))
  const [block = expect.fail(), , insert = expect.fail()] = spans
  expect(attributesOf(block)).toEqual({
    ...{ 'block.number': '10', 'block.hash': hashOf(number), 'block.source': 'gossip' },
    ...{ 'block.gas_used': '21000', 'block.transactions': '1' },
  })
  expect(attributesOf(insert)).toEqual({ 'block.outcome': 'valid', 'senders.by_threads': '1', 'senders.by_execution': '0' })
})

it('node/tracing: blocks of the Engine API, of L1, of a sequencer and of flashblocks name their source', async () => {
  const { clock, tracing, engine, exported } = tracingOf()
  const [api, derived] = [tracing.engine(engine, 'engine-api'), tracing.engine(engine, 'followed-node')]
  const pending = tracing.pending({ take: async () => ({ kind: 'taken', gasUsed: 1n }), drop: async () => {} } satisfies PendingPort)
  await pending.take({ blockNumber: 11, index: 0 } as never, undefined, 0)
  tracing.engineCall()
  await clock.advanceMs(7)
  await api.insert(payloadOf(11))
  await derived.insert(payloadOf(12))
  await expect(derived.insert(payloadOf(13))).rejects.toThrow('unknown parent')
  await derived.build(refOf(19), { noTxPool: true } as never)
  const spans = await exported()
  const blocks = spans.filter(({ name }) => name === 'block').map(attributesOf)
  expect(blocks.map((one) => [one['block.number'], one['block.source']])).toEqual([
    ['11', 'engine-api'],
    ['12', 'followed-node'],
    ['13', 'followed-node'],
    ['20', 'l1'],
  ])
  expect(linesOf(spans).slice(0, 4)).toEqual(['block < - 0+37', 'flashblock < block 0+0', 'decode < block 0+7', 'insert < block 7+30'])
  expect(spans.find(({ status }) => status !== undefined)).toMatchObject({ name: 'insert', status: { message: 'unknown parent' } })
})

it('node/tracing: a sample is the same share of blocks in every process, by their hashes', async () => {
  const { tracing, engine, exported } = tracingOf({ sample: 0.25 })
  const traced = tracing.engine(engine, 'followed-node')
  for (const tail of ['00000000', '3fffffff', '40000000', 'ffffffff']) {
    const blockHash = `${hashOf(1).slice(0, -8)}${tail}` as Hash
    await traced.insert({ ...payloadOf(1), blockHash })
  }
  const hashes = (await exported()).filter(({ name }) => name === 'block').map((one) => String(attributesOf(one)['block.hash']).slice(-8))
  expect(hashes).toEqual(['00000000', '3fffffff'])
})

it('node/tracing: bounds open traces, and closes one five seconds after its last step', async () => {
  const { clock, tracing, engine, exported } = tracingOf()
  const traced = tracing.engine({ ...engine, insert: async () => ({ kind: 'valid' }) }, 'followed-node')
  for (let number = 0; number < 600; number++) await traced.insert(payloadOf(number))
  await clock.advanceMs(20_000)
  await settle()
  expect((await exported()).filter(({ name }) => name === 'block')).toHaveLength(600)
})

it('node/tracing: a slow call is a trace of its own, without parameters', async () => {
  const { tracing, exported } = tracingOf()
  tracing.slow({
    ...{ method: 'eth_getLogs', cost: 'range-read', ms: 1_500, queueMs: 400, answerBytes: 9, errorCode: -32000 },
    endMs: startMs,
  })
  const spans = await exported()
  expect(linesOf(spans)).toEqual(['slow request < - -1500+1500', 'queue < slow request -1500+400'])
  expect(spans[0]?.status?.message).toBe('-32000')
  expect(attributesOf(spans[0] ?? expect.fail())).toMatchObject({ 'rpc.method': 'eth_getLogs', 'rpc.class': 'range-read' })
})
