import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { createPublicClient, http } from 'viem'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { encodeAttributes, encodePayload } from '#engine/payloadJson'
import { systemClock } from '#lib/clock'
import { signJwt } from '#lib/jwt'
import { openExecution } from '#test/contract/engine'
import { attributesAt, hashOf, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { ask, jwtSecret, post, serveEngine } from '#test/harness/engine/server'
import { zeroHash } from '#types/ids'
import type { Payload } from '#types/payload'

const schedule = scheduleTo('jovian')
const chain = smallChain(schedule)
const { config } = chain
const genesis = config.genesis.l2.hash

async function serve(setup: Partial<Parameters<typeof serveEngine>[0]> = {}) {
  const execution = openExecution(chain)
  const server = await serveEngine({ execution, engine: execution, config, ...setup })
  return Object.assign(server, { execution })
}

const nowSec = () => Math.floor(systemClock.nowMs() / 1_000)
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const chainIdCall = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }
const forkchoice = { headBlockHash: genesis, safeBlockHash: zeroHash, finalizedBlockHash: zeroHash }

async function payloadsOf(count: number): Promise<Payload[]> {
  const maker = openExecution(chain)
  const payloads: Payload[] = []
  let parent = (await maker.heads()).unsafe as { hash: Payload['blockHash']; number: number }
  for (let number = 1; number <= count; number++) {
    const result = await maker.build(parent, attributesAt(schedule, number))
    if (result.kind === 'invalid') throw new Error(result.reason)
    payloads.push(result.payload)
    parent = { hash: result.payload.blockHash, number }
  }
  return payloads
}
const newPayloadParams = (payload: Payload) => [encodePayload(payload), [], payload.parentBeaconBlockRoot, []] as const

describe('rpc/server/engineServer: authentication', () => {
  const unsigned = (claims: unknown) => {
    const part = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url')
    return `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`
  }
  const sha512 = () => {
    const text = [{ alg: 'HS512' }, { iat: nowSec() }].map((json) => Buffer.from(JSON.stringify(json)).toString('base64url')).join('.')
    return `${text}.${createHmac('sha512', jwtSecret).update(text).digest('base64url')}`
  }

  it.each<[string, () => Record<string, string>, string]>([
    ['no token', () => ({}), 'missing token'],
    ['another scheme', () => ({ authorization: 'Basic dTpw' }), 'not a bearer token'],
    ['garbage', () => bearer('garbage'), 'not signed by HS256'],
    ['algorithm none', () => bearer(unsigned({ iat: nowSec() })), 'not signed by HS256'],
    ['algorithm HS512', () => bearer(sha512()), 'not signed by HS256'],
    ['another secret', () => bearer(signJwt(new Uint8Array(32), nowSec())), 'different secrets'],
    ['an old token', () => bearer(signJwt(jwtSecret, nowSec() - 90)), 'the clocks of the two sides differ'],
    ['a token of the future', () => bearer(signJwt(jwtSecret, nowSec() + 90)), 'the clocks of the two sides differ'],
  ])('answers %s with HTTP 401 and the reason, and runs nothing', async (_what, headers, reason) => {
    await using server = await serve()
    const [payload = expect.fail()] = await payloadsOf(1)
    const call = { ...chainIdCall, method: 'engine_newPayloadV4', params: newPayloadParams(payload) }
    const answer = await post(server.url, call, headers())
    expect(answer).toMatchObject({ status: 401, text: expect.stringContaining(reason) })
    expect(await server.execution.payload(payload.blockHash)).toBeUndefined()
  })

  it('answers a GET without a token with 401, which tools probe for', async () => {
    await using server = await serve()
    const response = await fetch(server.url)
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('accepts a token within a minute of the clock of the server', async () => {
    const clock = createManualClock(nowSec() * 1_000)
    await using server = await serve({ clock })
    const token = bearer(signJwt(jwtSecret, nowSec()))
    expect((await post(server.url, chainIdCall, token)).status).toBe(200)
    clock.jumpMs(59_000)
    expect((await post(server.url, chainIdCall, token)).status).toBe(200)
    clock.jumpMs(4_000)
    expect((await post(server.url, chainIdCall, token)).status).toBe(401)
  })

  it('refuses foreign host names: web pages have no access', async () => {
    await using server = await serve()
    const status = await new Promise((resolve, reject) => {
      const headers = { ...bearer(signJwt(jwtSecret, nowSec())), host: 'rebound.example' }
      request(server.url, { method: 'POST', headers }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end('{}')
    })
    expect(status).toBe(403)
  })

  it('viem with a token reads the chain through the engine port', async () => {
    await using server = await serve()
    const transport = http(server.url, { fetchOptions: { headers: bearer(signJwt(jwtSecret, nowSec())) } })
    const client = createPublicClient({ transport })
    expect(await client.getChainId()).toBe(config.l2ChainId)
    expect(await client.getBlockNumber()).toBe(0n)
    expect((await client.getBlock({ blockNumber: 0n })).hash).toBe(genesis)
    const proof = await client.getProof({ address: `0x${'77'.repeat(20)}`, storageKeys: [], blockTag: 'latest' })
    expect(proof.accountProof.length).toBeGreaterThan(0)
  })
})

describe('rpc/server/engineServer: the Engine API as JSON', () => {
  it('builds a block from attributes and makes it the head', async () => {
    await using server = await serve()
    const { url } = server
    const attributes = encodeAttributes(attributesAt(schedule, 1))
    const begun = await ask(url, 'engine_forkchoiceUpdatedV3', forkchoice, attributes)
    expect(begun).toEqual({
      payloadStatus: { status: 'VALID', latestValidHash: genesis, validationError: null },
      payloadId: expect.stringMatching(/^0x03[0-9a-f]{14}$/),
    })
    const built = (await ask(url, 'engine_getPayloadV4', (begun as { payloadId: string }).payloadId)) as Record<string, unknown>
    expect(built).toEqual({
      executionPayload: expect.objectContaining({ blockNumber: '0x1', parentHash: genesis, withdrawals: [] }),
      blockValue: '0x0',
      blobsBundle: { commitments: [], proofs: [], blobs: [] },
      shouldOverrideBuilder: false,
      parentBeaconBlockRoot: attributes['parentBeaconBlockRoot'],
      executionRequests: [],
    })
    const { blockHash } = built['executionPayload'] as { blockHash: string }
    const status = { status: 'VALID', latestValidHash: blockHash, validationError: null }
    expect(await ask(url, 'engine_newPayloadV4', built['executionPayload'], [], attributes['parentBeaconBlockRoot'], [])).toEqual(status)
    const moved = await ask(url, 'engine_forkchoiceUpdatedV3', { ...forkchoice, headBlockHash: blockHash }, null)
    expect(moved).toEqual({ payloadStatus: status, payloadId: null })
    expect(await ask(url, 'eth_getBlockByNumber', 'latest', false)).toMatchObject({ hash: blockHash })
    expect(await ask(url, 'engine_getPayloadBodiesByRangeV1', '0x1', '0x5')).toEqual([
      { transactions: attributes['transactions'], withdrawals: [] },
    ])
    expect(await ask(url, 'engine_getPayloadBodiesByHashV1', [blockHash, zeroHash])).toEqual([expect.anything(), null])
  })

  it('reports its client version and capabilities', async () => {
    await using server = await serve()
    const methods = (await ask(server.url, 'engine_exchangeCapabilities', ['engine_newPayloadV9'])) as string[]
    expect(methods.filter((method) => /(?:newPayload|getPayload)V\d/.test(method))).toEqual([
      ...[1, 2, 3, 4].map((version) => `engine_newPayloadV${version}`),
      ...[1, 2, 3, 4, 5].map((version) => `engine_getPayloadV${version}`),
    ])
    expect(methods).not.toContain('engine_exchangeCapabilities')
    expect(await ask(server.url, 'engine_getClientVersionV1', { code: 'OP', name: 'x', version: '1', commit: '00' })).toEqual([
      { code: 'BA', name: 'basalt', version: 'v0.0.0', commit: '00000000' },
    ])
    for (const method of methods) {
      const answer = (await ask(server.url, method)) as { error?: { code: number } }
      expect(answer.error?.code ?? 0).not.toBe(-32601)
    }
  })

  const call = (method: string, ...params: readonly unknown[]) => ({ jsonrpc: '2.0', id: 7, method, params })
  it.each<[string, unknown, number]>([
    ['no JSON', '{"jsonrpc":"2.0",', -32700],
    ['no request', '17', -32600],
    ['no parameters', call('engine_newPayloadV4'), -32602],
    ['a payload that is null', call('engine_newPayloadV4', null, [], zeroHash, []), -32602],
    ['a payload that is a list', call('engine_newPayloadV2', []), -32602],
    ['blob hashes that are missing', call('engine_newPayloadV3', {}, null, zeroHash), -32602],
    ['a beacon root of 31 bytes', call('engine_newPayloadV3', {}, [], `0x${'00'.repeat(31)}`), -32602],
    ['a forkchoice without hashes', call('engine_forkchoiceUpdatedV3', {}, null), -32602],
    ['a forkchoice that is a text', call('engine_forkchoiceUpdatedV3', 'latest', null), -32602],
    ['a payload id of 9 bytes', call('engine_getPayloadV4', `0x${'00'.repeat(9)}`), -32602],
    ['an unknown payload id', call('engine_getPayloadV4', `0x${'00'.repeat(8)}`), -38001],
    ['an unknown payload id, of the newest version', call('engine_getPayloadV5', `0x${'00'.repeat(8)}`), -38001],
    ['bodies without end', call('engine_getPayloadBodiesByRangeV1', '0x1', '0xffffffffffffffff'), -38004],
    ['more hashes than are answered', call('engine_getPayloadBodiesByHashV1', Array(1_025).fill(zeroHash)), -38004],
    ['a range that begins at genesis', call('engine_getPayloadBodiesByRangeV1', '0x0', '0x1'), -32602],
    ['attributes that are no attributes', call('engine_forkchoiceUpdatedV3', forkchoice, { timestamp: true }), -38003],
    ['attributes of another version', call('engine_forkchoiceUpdatedV2', forkchoice, encodeAttributes(attributesAt(schedule, 1))), -38005],
    ['a safe block that is not known', call('engine_forkchoiceUpdatedV3', { ...forkchoice, safeBlockHash: hashOf('x') }, null), -38002],
    ['a method that there is not', call('engine_newPayloadV6'), -32601],
    ['a method of the consensus half', call('optimism_syncStatus'), -32601],
  ])('answers %s with an error, and continues', async (_what, body, code) => {
    await using server = await serve()
    expect((await post(server.url, body)).json).toMatchObject({ error: { code } })
    expect(await ask(server.url, 'eth_chainId')).toBe(`0x${config.l2ChainId.toString(16)}`)
  })

  it('refuses a payload by another method version (-38005), and one with a missing field (-32602)', async () => {
    await using server = await serve()
    const [payload = expect.fail()] = await payloadsOf(1)
    const [json, hashes, root, requests] = newPayloadParams(payload)
    expect(await ask(server.url, 'engine_newPayloadV3', json, hashes, root)).toMatchObject({ error: { code: -38005 } })
    expect(await ask(server.url, 'engine_newPayloadV5', json, hashes, root, requests)).toMatchObject({ error: { code: -38005 } })
    const { withdrawalsRoot: _root, ...without } = json
    expect(await ask(server.url, 'engine_newPayloadV4', without, hashes, root, requests)).toMatchObject({ error: { code: -32602 } })
  })
})

describe('rpc/server/engineServer: WebSocket, which some consensus clients use', () => {
  const token = () => bearer(signJwt(jwtSecret, nowSec()))
  const open = async (url: string, headers: Record<string, string>) => {
    const socket = new WebSocket(url.replace('http', 'ws'), { headers })
    await once(socket, 'open')
    return socket
  }
  const answered = async (socket: WebSocket, text: string) => {
    const next = once(socket, 'message')
    socket.send(text)
    return JSON.parse(String((await next)[0])) as { id: unknown; result?: unknown; error?: { code: number } }
  }

  it('answers calls and batches in order, and continues after malformed JSON', async () => {
    await using server = await serve()
    const socket = await open(server.url, token())
    expect((await answered(socket, '{')).error?.code).toBe(-32700)
    const payloads = await payloadsOf(3)
    for (const [id, payload] of payloads.entries()) {
      const call = { jsonrpc: '2.0', id, method: 'engine_newPayloadV4', params: newPayloadParams(payload) }
      expect(await answered(socket, JSON.stringify(call))).toMatchObject({ id, result: { status: 'VALID' } })
    }
    expect(await answered(socket, JSON.stringify([chainIdCall, { ...chainIdCall, id: 2 }]))).toHaveLength(2)
    const closed = once(socket, 'close')
    await server[Symbol.asyncDispose]()
    await closed
  })

  it.each<[string, () => Record<string, string>, number]>([
    ['no token', () => ({}), 401],
    ['a wrong secret', () => bearer(signJwt(new Uint8Array(32), nowSec())), 401],
    ['a web page', () => ({ ...token(), origin: 'https://page.example' }), 403],
    ['another host name', () => ({ ...token(), host: 'rebound.example' }), 403],
  ])('refuses %s', async (_what, headers, status) => {
    await using server = await serve()
    await expect(open(server.url, headers())).rejects.toThrow(`Unexpected server response: ${status}`)
  })

  it('bounds the number of connections', async () => {
    await using server = await serve()
    const sockets = await Promise.all(Array.from({ length: 16 }, () => open(server.url, token())))
    await expect(open(server.url, token())).rejects.toThrow('503')
    for (const socket of sockets) socket.terminate()
  })
})

describe('rpc/server/engineServer: large and concurrent requests', () => {
  it('refuses a body above 128 MB by its announced length (413), and reads a smaller one', async () => {
    await using server = await serve()
    const headers = { ...bearer(signJwt(jwtSecret, nowSec())), 'content-type': 'application/json' }
    const status = await new Promise((resolve, reject) => {
      const sent = request(server.url, { method: 'POST', headers: { ...headers, 'content-length': 128_000_001 } }, (response) => {
        resolve(response.resume().statusCode)
        sent.destroy()
      })
      sent.on('error', reject).write('{')
    })
    expect(status).toBe(413)
    const large = { ...chainIdCall, params: [], padding: 'x'.repeat(20_000_000) } // above the limit of the public port
    expect((await post(server.url, large)).json).toMatchObject({ result: '0x385' })
  })

  it('executes payloads sent at once in order of arrival, none is SYNCING', async () => {
    await using server = await serve()
    const payloads = await payloadsOf(20)
    const calls = payloads.map((payload, id) => ({ jsonrpc: '2.0', id, method: 'engine_newPayloadV4', params: newPayloadParams(payload) }))
    const { json } = await post(server.url, calls)
    expect((json as { result: unknown }[]).map(({ result }) => result)).toEqual(
      payloads.map(({ blockHash }) => ({ status: 'VALID', latestValidHash: blockHash, validationError: null })),
    )
    const repeated = await Promise.all(payloads.map((payload) => ask(server.url, 'engine_newPayloadV4', ...newPayloadParams(payload))))
    expect(repeated).toEqual(payloads.map(({ blockHash }) => ({ status: 'VALID', latestValidHash: blockHash, validationError: null })))
  })

  it('answers SYNCING for payloads out of order until the parent arrives, then VALID', async () => {
    await using server = await serve()
    const [one = expect.fail(), two = expect.fail()] = await payloadsOf(2)
    const send = (payload: Payload) => ask(server.url, 'engine_newPayloadV4', ...newPayloadParams(payload))
    const syncing = { status: 'SYNCING', latestValidHash: null, validationError: null }
    expect(await send(two)).toEqual(syncing)
    expect(await ask(server.url, 'engine_forkchoiceUpdatedV3', { ...forkchoice, headBlockHash: two.blockHash }, null)).toEqual({
      payloadStatus: syncing,
      payloadId: null,
    })
    for (const payload of [one, one, two, two]) expect(await send(payload)).toMatchObject({ status: 'VALID' })
  })

  it('answers getPayload after a restart with Unknown payload', async () => {
    const execution = openExecution(chain)
    const first = await serveEngine({ execution, engine: execution, config })
    const attributes = encodeAttributes(attributesAt(schedule, 1))
    const begun = (await ask(first.url, 'engine_forkchoiceUpdatedV3', forkchoice, attributes)) as { payloadId: string }
    await first[Symbol.asyncDispose]()
    await using second = await serveEngine({ execution, engine: execution, config })
    expect(await ask(second.url, 'engine_getPayloadV4', begun.payloadId)).toMatchObject({ error: { code: -38001 } })
    expect(await ask(second.url, 'engine_forkchoiceUpdatedV3', forkchoice, attributes)).toMatchObject({ payloadId: begun.payloadId })
    expect(await ask(second.url, 'engine_getPayloadV4', begun.payloadId)).toMatchObject({ blockValue: '0x0' })
  })
})
