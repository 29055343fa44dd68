import { readFileSync } from 'node:fs'
import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import type { ForkSchedule } from '#chainspec/forks'
import type { Clock } from '#lib/clock'
import { systemClock } from '#lib/clock'
import type { Fault } from '#lib/fault'
import type { Fetch } from '#lib/jsonHttp'
import { jwtRefusal } from '#lib/jwt'
import { type Log, silentLog } from '#lib/log'
import { openExecution } from '#test/contract/engine'
import { attributesAt, hashOf, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { createManualClock, settle } from '#test/harness/clock'
import { emptyRoot, zeroHash } from '#types/ids'
import type { Payload } from '#types/payload'
import { createEngineHttp } from './engineHttp.ts'
import { engineMetrics } from './metrics.ts'
import { encodePayload } from './payloadJson.ts'
import { usedMethods } from './versions.ts'

const schedule = scheduleTo('jovian')
const { config, genesis } = smallChain(schedule)
const chain = { config, genesis }
const secret = new Uint8Array(32).fill(3)
const { signal } = new AbortController()

type Call = { readonly id: number; readonly method: string; readonly params: readonly never[] }
type Answer = { readonly result: unknown } | { readonly error: { code: number; message: string; data?: unknown } } | Response

const json = (value: unknown, status = 200) => new Response(JSON.stringify(value), { status })

/** Client of a scripted execution half; requests are recorded. */
function clientOf(
  answer: (method: string, params: readonly never[], call: number) => Answer | Promise<Answer>,
  options: { clock?: Clock; log?: Log; url?: string; schedule?: ForkSchedule } = {},
) {
  const asked: Call[] = []
  const headers: string[] = []
  const fetch: Fetch = async (_url, init) => {
    const call = JSON.parse(String(init?.body)) as Call
    asked.push(call)
    headers.push(new Headers(init?.headers).get('authorization') ?? '')
    const given = await answer(call.method, call.params, asked.length)
    return given instanceof Response ? given : json({ jsonrpc: '2.0', id: call.id, ...given })
  }
  const registry = new Registry()
  const { clock = systemClock, log = silentLog, url = 'http://user-secret:pw@el.example:8551/path-secret' } = options
  const deps = { fetch, clock, log, metrics: engineMetrics.register(registry) }
  const own = { ...config, schedule: options.schedule ?? schedule }
  return { engine: createEngineHttp(deps, { url, jwtSecret: () => secret, config: own, timeoutMs: 5_000 }), asked, headers, registry }
}

async function firstPayload(): Promise<Payload> {
  const maker = openExecution(chain)
  const result = await maker.build((await maker.heads()).unsafe, attributesAt(schedule, 1))
  return result.kind === 'built' ? result.payload : expect.fail(result.reason)
}
const parent = config.genesis.l2
const fault = (code: string, text = /./) => expect.objectContaining({ code, message: expect.stringMatching(text) })
const valid = { status: 'VALID', latestValidHash: zeroHash, validationError: null }

describe('engine/engineHttp: failures of the execution half', () => {
  it.each<[string, () => Answer, string, RegExp]>([
    [
      'no listener',
      () => {
        throw new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) })
      },
      'ENGINE_UNREACHABLE',
      /ECONNREFUSED/,
    ],
    ['HTTP 502', () => new Response('bad gateway', { status: 502 }), 'ENGINE_UNREACHABLE', /HTTP 502/],
    ['HTTP 429', () => new Response('', { status: 429, headers: { 'retry-after': '7' } }), 'ENGINE_UNREACHABLE', /429/],
    [
      'HTTP 401',
      () => new Response('signature of remote-text invalid', { status: 401, headers: { 'content-length': '32' } }),
      'ENGINE_UNAUTHORIZED',
      /HTTP 401$/,
    ],
    ['HTTP 403', () => new Response('', { status: 403 }), 'ENGINE_UNAUTHORIZED', /403/],
    ['a page', () => new Response('<html>'), 'ENGINE_BAD_ANSWER', /not JSON/],
    ['neither result nor error', () => json({ jsonrpc: '2.0', id: 1 }), 'ENGINE_BAD_ANSWER', /without result or error/],
    ['a list', () => json([]), 'ENGINE_BAD_ANSWER', /without/],
    [
      'an internal error of its own',
      () => ({ error: { code: -32603, message: 'Internal error: remote-text', data: { err: 'remote-text' } } }),
      'ENGINE_ERROR',
      /error -32603$/,
    ],
    [
      'an ordinary JSON-RPC port',
      () => ({ error: { code: -32601, message: 'the method engine_newPayloadV2 does not exist: remote-text' } }),
      'ENGINE_METHOD_MISSING',
      /does not support engine_newPayloadV\d$/,
    ],
    ['a malformed status', () => ({ result: { status: 7 } }), 'ENGINE_BAD_ANSWER', /no payload status/],
    ['null for a status', () => ({ result: null }), 'ENGINE_BAD_ANSWER', /no payload status/],
  ])('%s is a fault to retry (%#)', async (_what, answer, code, text) => {
    const { engine, registry } = clientOf(answer)
    const payload = await firstPayload()
    const error = await engine.insert(payload).catch((caught: unknown) => caught)
    expect(error).toEqual(fault(code, text))
    expect(error).toMatchObject({ severity: 'retry', fix: expect.stringMatching(/./) })
    expect(JSON.stringify([String(error), (error as Fault).data])).not.toMatch(/user-secret|path-secret|Bearer|remote-text/)
    expect(await registry.metrics()).toMatch(/requests_total\{call="newPayload",outcome="(failed|error|ok)"\} 1/)
  })

  it('a port with some methods of JSON-RPC is not an Engine API (ENGINE_METHOD_MISSING)', async () => {
    const missing = { error: { code: -32601, message: 'Method not found' } }
    const { engine } = clientOf((method) => (method === 'eth_chainId' ? { result: `0x${config.l2ChainId.toString(16)}` } : missing))
    await expect(engine.check(signal)).rejects.toMatchObject({ code: 'ENGINE_METHOD_MISSING', fix: expect.stringContaining('8551') })
  })

  it('a call times out: a read after 5 s, a block after 30 s', async () => {
    const clock = createManualClock()
    const never = (init: { signal?: AbortSignal | null } | undefined) =>
      new Promise<never>((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(new DOMException('x', 'AbortError'))))
    const deps = { fetch: ((_url, init) => never(init)) as Fetch, clock, log: silentLog }
    const engine = createEngineHttp(deps, { url: 'http://el.example', jwtSecret: () => secret, config, timeoutMs: 5_000 })
    const payload = await firstPayload()
    const read = engine.payload(1).catch((caught: unknown) => caught)
    await clock.advanceMs(5_000)
    expect(await read).toEqual(fault('ENGINE_UNREACHABLE', /within 5 s/))
    const insert = engine.insert(payload).catch((caught: unknown) => caught)
    await clock.advanceMs(29_999)
    expect(clock.waiting).toBe(1)
    await clock.advanceMs(1)
    expect(await insert).toEqual(fault('ENGINE_UNREACHABLE', /within 30 s/))
  })

  it('each request has a token of its own that is valid for a minute', async () => {
    const clock = createManualClock()
    const { engine, headers } = clientOf(() => ({ result: null }), { clock })
    await engine.payload(1)
    await clock.advanceMs(100_000)
    await engine.payload(1)
    const refusals = headers.map((header) => jwtRefusal(secret, header.slice('Bearer '.length), clock.nowMs() / 1_000))
    expect(refusals).toEqual([expect.stringContaining('100 s ago'), undefined])
  })
})

describe('engine/engineHttp: insert', () => {
  it.each([
    ['SYNCING', 'UNKNOWN_PARENT'],
    ['ACCEPTED', 'UNKNOWN_PARENT'],
  ])('%s means an unknown parent (%s)', async (status, code) => {
    const { engine, asked } = clientOf(() => ({ result: { status, latestValidHash: null, validationError: null } }))
    await expect(engine.insert(await firstPayload())).rejects.toEqual(fault(code))
    expect(asked.map(({ method }) => method)).toEqual(['engine_newPayloadV4'])
  })

  it('reports an abandoned execution (BLOCK_NOT_EXECUTED)', async () => {
    const { engine } = clientOf(() => ({ error: { code: -32_050, message: 'Payload not executed: it takes long' } }))
    await expect(engine.insert(await firstPayload())).rejects.toEqual(fault('BLOCK_NOT_EXECUTED', /block 1 was abandoned: .*its log/))
  })

  it.each(['INVALID', 'INVALID_BLOCK_HASH'])('%s is invalid, and the text of the execution half is not in the reason', async (status) => {
    const payload = await firstPayload()
    for (const validationError of ['remote-text', null]) {
      const { engine } = clientOf(() => ({ result: { status, latestValidHash: null, validationError } }))
      expect(await engine.insert(payload)).toEqual({
        kind: 'invalid',
        reason: 'the execution half finds it invalid; its log has the reason',
      })
    }
  })

  it('a payload without the fields of its fork is invalid without a request', async () => {
    const { engine, asked } = clientOf(() => expect.fail('asked'))
    const { withdrawalsRoot: _root, ...without } = await firstPayload()
    expect(await engine.insert(without)).toEqual({ kind: 'invalid', reason: 'withdrawalsRoot is missing' })
    expect(asked).toEqual([])
  })
})

describe('engine/engineHttp: build', () => {
  const attributes = attributesAt(schedule, 1)
  const begun = { result: { payloadStatus: valid, payloadId: '0x0300000000000001' } }
  const answers =
    (payload: Payload, change: Readonly<Record<string, Answer>> = {}) =>
    (method: string) =>
      change[method] ??
      ({
        engine_forkchoiceUpdatedV3: begun,
        engine_getPayloadV4: { result: { executionPayload: encodePayload(payload), blockValue: '0x0' } },
        engine_newPayloadV4: { result: valid },
      }[method] as Answer)

  it('calls forkchoiceUpdated with attributes, getPayload, newPayload', async () => {
    const payload = await firstPayload()
    const { engine, asked } = clientOf(answers(payload))
    expect(await engine.build(parent, attributes)).toEqual({ kind: 'built', payload })
    expect(asked.map(({ method }) => method)).toEqual(['engine_forkchoiceUpdatedV3', 'engine_getPayloadV4', 'engine_newPayloadV4'])
    expect(asked[0]?.params[0]).toEqual({ headBlockHash: parent.hash, safeBlockHash: zeroHash, finalizedBlockHash: zeroHash })
  })

  it('requests the payload when the seal is aborted; without the pool when it was aborted from the start', async () => {
    const payload = await firstPayload()
    const { engine, asked } = clientOf(answers(payload))
    const seal = new AbortController()
    const sound = Promise.withResolvers<void>()
    const building = engine.build(parent, { ...attributes, noTxPool: false }, seal.signal, sound.resolve)
    await sound.promise
    await settle()
    expect(asked.map(({ method }) => method)).toEqual(['engine_forkchoiceUpdatedV3'])
    seal.abort()
    expect(await building).toEqual({ kind: 'built', payload })
    expect(await engine.build(parent, { ...attributes, noTxPool: false }, seal.signal)).toEqual({ kind: 'built', payload })
    const begins = asked.filter(({ method }) => method === 'engine_forkchoiceUpdatedV3')
    expect(begins.map(({ params }) => params.at(1))).toMatchObject([{ noTxPool: false }, { noTxPool: true }])
  })

  it.each<[string, Answer, string]>([
    [
      '-38003',
      { error: { code: -38003, message: 'Invalid payload attributes', data: { err: 'nonce too low' } } },
      'the execution half refuses the attributes with error -38003',
    ],
    [
      'INVALID',
      { result: { payloadStatus: { status: 'INVALID', latestValidHash: null, validationError: 'bad' }, payloadId: null } },
      'the execution half finds it invalid; its log has the reason',
    ],
  ])('%s is invalid with the reason', async (_what, answer, reason) => {
    const { engine } = clientOf(answers(await firstPayload(), { engine_forkchoiceUpdatedV3: answer }))
    expect(await engine.build(parent, attributes)).toEqual({ kind: 'invalid', reason })
  })

  it.each<[string, string, Answer, string]>([
    ['SYNCING', 'engine_forkchoiceUpdatedV3', { result: { payloadStatus: { status: 'SYNCING' }, payloadId: null } }, 'UNKNOWN_PARENT'],
    ['no payload id', 'engine_forkchoiceUpdatedV3', { result: { payloadStatus: valid, payloadId: null } }, 'ENGINE_BAD_ANSWER'],
    [
      '-38002 to zero hashes too',
      'engine_forkchoiceUpdatedV3',
      { error: { code: -38002, message: 'Invalid forkchoice state' } },
      'INVALID_FORKCHOICE',
    ],
    ['no payload', 'engine_getPayloadV4', { result: null }, 'ENGINE_BAD_ANSWER'],
    ['-38001 twice', 'engine_getPayloadV4', { error: { code: -38001, message: 'Unknown payload' } }, 'ENGINE_BAD_ANSWER'],
    ['-32603', 'engine_getPayloadV4', { error: { code: -32603, message: 'Internal error' } }, 'ENGINE_ERROR'],
  ])('%s (%s): %s', async (_what, method, answer, code) => {
    const { engine } = clientOf(answers(await firstPayload(), { [method]: answer }))
    await expect(engine.build(parent, attributes)).rejects.toEqual(fault(code))
  })

  it('begins again when the execution half restarted between the two calls', async () => {
    const payload = await firstPayload()
    const { engine, asked } = clientOf((method, _params, call) =>
      method === 'engine_getPayloadV4' && call === 2 ? { error: { code: -38001, message: 'Unknown payload' } } : answers(payload)(method),
    )
    expect(await engine.build(parent, attributes)).toEqual({ kind: 'built', payload })
    expect(asked.map(({ method }) => method.replace(/^engine_|V\d$/g, ''))).toEqual([
      ...['forkchoiceUpdated', 'getPayload', 'forkchoiceUpdated', 'getPayload', 'newPayload'],
    ])
  })

  it('refuses a payload with a wrong hash, or of another block (ENGINE_BAD_ANSWER)', async () => {
    const payload = await firstPayload()
    const { engine } = clientOf(answers({ ...payload, gasUsed: 1n }))
    await expect(engine.build(parent, attributes)).rejects.toEqual(fault('ENGINE_BAD_ANSWER', /does not hash to/))
    const other = clientOf(answers(payload)).engine
    await expect(other.build({ number: 0, hash: hashOf('other') }, attributes)).rejects.toEqual(
      fault('ENGINE_BAD_ANSWER', /not the requested one/),
    )
  })

  it('a payload without one of the transactions is invalid, as some clients omit failing ones', async () => {
    const { engine } = clientOf(answers(await firstPayload()))
    const more = { ...attributes, transactions: [...attributes.transactions, Uint8Array.of(2, 1)] }
    expect(await engine.build(parent, more)).toEqual({ kind: 'invalid', reason: expect.stringContaining('omitted') })
  })
})

describe('engine/engineHttp: heads', () => {
  it('INVALID is a refusal; SYNCING is a refusal when the head is unknown, else a fault to retry', async () => {
    const payload = await firstPayload()
    const ref = (await openExecution(chain).heads()).unsafe
    const heads = { unsafe: { ...ref, hash: payload.blockHash }, safe: ref, finalized: ref }
    const answered = (status: string, block: unknown) =>
      clientOf((method) => ({ result: method.startsWith('engine_') ? { payloadStatus: { status }, payloadId: null } : block })).engine
    await expect(answered('INVALID', null).setHeads(heads)).rejects.toEqual(fault('INVALID_FORKCHOICE'))
    await expect(answered('SYNCING', null).setHeads(heads)).rejects.toEqual(fault('INVALID_FORKCHOICE', /is unknown/))
    const [{ block } = expect.fail()] = JSON.parse(readFileSync('test/fixtures/l2-blocks.json', 'utf8')) as { block: { hash: never } }[]
    const known = { ...heads, unsafe: { ...ref, hash: block.hash } }
    await expect(answered('SYNCING', block).setHeads(known)).rejects.toEqual(fault('ENGINE_SYNCING'))
  })

  it("a label without a block (null, or op-geth's error) is the genesis block", async () => {
    const genesisPayload = await openExecution(chain).payload(0)
    const served = await blockJsonOf(genesisPayload ?? expect.fail())
    const { engine } = clientOf((_method, [at]) => {
      if (at === 'safe') return { error: { code: -32000, message: 'safe block not found' } }
      return { result: at === 'finalized' ? null : served }
    })
    expect(await engine.heads()).toEqual(await openExecution(chain).heads())
  })

  it('refuses a storage root that its proof does not show (ENGINE_BAD_ANSWER); a pruned one is undefined', async () => {
    const served = await blockJsonOf((await openExecution(chain).payload(0)) ?? expect.fail())
    const proofs: readonly [Answer, unknown][] = [
      [{ result: { storageHash: hashOf('lie'), accountProof: [] } }, fault('ENGINE_BAD_ANSWER', /ends early/)],
      [{ result: { storageHash: emptyRoot, accountProof: ['0xc0'] } }, fault('ENGINE_BAD_ANSWER', /another hash/)],
      [{ result: null }, fault('ENGINE_BAD_ANSWER')],
      [{ error: { code: -32603, message: 'Internal error' } }, fault('ENGINE_ERROR')],
    ]
    for (const [answer, expected] of proofs) {
      const { engine } = clientOf((method) => (method === 'eth_getProof' ? answer : { result: served }))
      await expect(engine.storageRoot(`0x${'55'.repeat(20)}` as never, config.genesis.l2)).rejects.toEqual(expected)
    }
    const pruned = clientOf((method) =>
      method === 'eth_getProof' ? { error: { code: -32000, message: 'missing trie node' } } : { result: served },
    )
    expect(await pruned.engine.storageRoot(`0x${'55'.repeat(20)}` as never, config.genesis.l2)).toBeUndefined()
  })

  it('refuses another block than the requested one (ENGINE_BAD_ANSWER)', async () => {
    const served = await blockJsonOf((await openExecution(chain).payload(0)) ?? expect.fail())
    const { engine } = clientOf(() => ({ result: served }))
    await expect(engine.payload(7)).rejects.toEqual(fault('ENGINE_BAD_ANSWER', /requested/))
    await expect(engine.payload(hashOf('another'))).rejects.toEqual(fault('ENGINE_BAD_ANSWER', /requested/))
    expect((await engine.payload(0))?.blockNumber).toBe(0)
  })
})

describe('engine/engineHttp: check', () => {
  const halves = async (change: Readonly<Record<string, Answer>> = {}, planned = schedule) => {
    const served = await blockJsonOf((await openExecution(chain).payload(0)) ?? expect.fail())
    const warnings: unknown[] = []
    const log = { ...silentLog, warn: (text: string, fields?: unknown) => void warnings.push([text, fields]) } as Log
    const usual: Readonly<Record<string, Answer>> = {
      eth_chainId: { result: `0x${config.l2ChainId.toString(16)}` },
      eth_getBlockByNumber: { result: served },
      engine_exchangeCapabilities: { result: ['engine_newPayloadV2', 'engine_newPayloadV3'] },
    }
    return { ...clientOf((method) => change[method] ?? usual[method] ?? expect.fail(method), { log, schedule: planned }), warnings }
  }

  it('accepts the right chain, and names missing methods', async () => {
    const { engine, warnings } = await halves()
    await engine.check(signal)
    expect(warnings).toEqual([['execution half lacks methods', { methods: expect.stringMatching(/newPayloadV4.*getPayloadV4/) }]])
    await (await halves({ engine_exchangeCapabilities: { error: { code: -32601, message: 'method not found' } } })).engine.check(signal)
  })

  it('accepts a half without a genesis block whose chain begins later, with a snapshot', async () => {
    const served = await blockJsonOf((await openExecution(chain).payload(0)) ?? expect.fail())
    const answer = (method: string, params: readonly unknown[] = []): Answer => {
      if (method === 'eth_chainId') return { result: `0x${config.l2ChainId.toString(16)}` }
      if (method === 'eth_getBlockByNumber') return { result: params[0] === 'latest' ? served : null }
      return { result: usedMethods(schedule) }
    }
    await clientOf(answer).engine.check(signal)
  })

  it.each([
    ['planned', { ...schedule, azul: 2 ** 40 }, [['execution half lacks methods', { methods: 'engine_getPayloadV5' }]]],
    ['not planned', schedule, []],
  ])('a client without getPayloadV5 lacks a method only where Azul is planned: %s', async (_what, planned, lacks) => {
    const { engine, warnings } = await halves({ engine_exchangeCapabilities: { result: usedMethods(schedule) } }, planned)
    await engine.check(signal)
    expect(warnings).toEqual(lacks)
  })

  it.each<[string, Readonly<Record<string, Answer>>, RegExp]>([
    ['another chain id', { eth_chainId: { result: '0x1' } }, /chain id is 0x1/],
    ['no chain id', { eth_chainId: { result: {} } }, /chain id/],
    ['no genesis block', { eth_getBlockByNumber: { result: null } }, /genesis block is none/],
  ])('refuses %s (ENGINE_WRONG_CHAIN)', async (_what, change, text) => {
    const error = await (await halves(change)).engine.check(signal).catch((caught: unknown) => caught)
    expect(error).toEqual(fault('ENGINE_WRONG_CHAIN', text))
    expect(error).toMatchObject({ severity: 'fatal' })
  })

  it('ends with the signal', async () => {
    const { engine } = await halves()
    const reason = new Error('closing')
    await expect(engine.check(AbortSignal.abort(reason))).rejects.toBe(reason)
  })

  it('calls a ws:// address over HTTP on the same port, and logs it', async () => {
    const warnings: unknown[] = []
    const log = { ...silentLog, warn: (text: string) => void warnings.push(text) } as Log
    const { engine } = clientOf(() => ({ result: null }), { log, url: 'ws://execution:8551' })
    expect(await engine.payload(1)).toBeUndefined()
    expect(warnings).toEqual(['engine called over HTTP instead of WebSocket'])
  })
})

/** Returns the genesis block as our own server returns it for `eth_getBlockByNumber`. */
async function blockJsonOf(payload: Payload): Promise<unknown> {
  const { ask, serveEngine } = await import('#test/harness/engine/server')
  const execution = openExecution(chain)
  await using server = await serveEngine({ execution, engine: execution, config })
  return await ask(server.url, 'eth_getBlockByHash', payload.blockHash, true)
}
