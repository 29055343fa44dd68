import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import type { Fetch } from '#lib/jsonHttp'
import { createBudget } from './budget.ts'
import { endpointsOf } from './endpoint.ts'
import { createRpc, type RpcCall } from './rpc.ts'
import type { Usage } from './usage.ts'

const [endpoint = expect.fail()] = endpointsOf(['http://l1.example/key'])
const { signal } = new AbortController()
const calls: RpcCall[] = [
  { method: 'eth_chainId', params: [] },
  { method: 'eth_getBlockByHash', params: [1] },
]
type Call = { readonly id: number; readonly method: string }

/** Creates an rpc client whose server answers each request's JSON with the function's result. */
function rpcOf(answer: (json: Call | readonly Call[]) => { status?: number; json: unknown }) {
  const requests: unknown[] = []
  const counted: string[] = []
  const count: Usage['count'] = (...what) => void counted.push(what.join(' '))
  const fetch: Fetch = async (_url, init) => {
    const json = JSON.parse(String(init?.body)) as Call | readonly Call[]
    requests.push(json)
    const { status = 200, json: body } = answer(json)
    return new Response(JSON.stringify(body), { status })
  }
  return {
    rpc: createRpc(
      { fetch, clock: systemClock, usage: { count, moved: () => {} }, budgetOf: () => createBudget(systemClock, undefined) },
      { timeoutMs: 1_000, maxBodyBytes: 10_000 },
    ),
    requests,
    counted,
  }
}
const right = ({ id, method }: Call) => ({ jsonrpc: '2.0', id, result: method })

describe('l1/rpc', () => {
  it('sends a batch as one request, and accepts its answers in any order', async () => {
    const { rpc, requests, counted } = rpcOf((json) => ({ json: [json].flat().map(right).toReversed() }))
    expect(await rpc.call(endpoint, calls, signal)).toEqual(['eth_chainId', 'eth_getBlockByHash'])
    expect(requests).toHaveLength(1)
    expect(counted).toEqual(['rpc eth_chainId ok', 'rpc eth_getBlockByHash ok'])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it.each([
    ['an error object', { json: { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batch not allowed' } } }],
    ['HTTP 400', { status: 400, json: { error: 'no' } }],
  ])('sends single calls to an endpoint that refuses a batch with %s, from then on too', async (_what, refusal) => {
    const { rpc, requests } = rpcOf((json) => (Array.isArray(json) ? refusal : { json: right(json as Call) }))
    expect(await rpc.call(endpoint, calls, signal)).toEqual(['eth_chainId', 'eth_getBlockByHash'])
    expect(await rpc.call(endpoint, calls, signal)).toEqual(['eth_chainId', 'eth_getBlockByHash'])
    expect(requests).toHaveLength(5)
  })

  it.each([
    ['an error', { error: { code: -32601, message: 'no such method' } }, 'L1_RPC_ERROR'],
    ['a limit by its code', { error: { code: -32005, message: 'sorry' } }, 'L1_RATE_LIMITED'],
    ['a limit by its text', { error: { code: -32000, message: 'daily request quota reached' } }, 'L1_RATE_LIMITED'],
    ['neither result nor error', {}, 'L1_BAD_ANSWER'],
  ])('rejects on %s (%s)', async (_what, part, code) => {
    const { rpc } = rpcOf((json) => ({ json: [json].flat().map(({ id }) => ({ jsonrpc: '2.0', id, ...part })) }))
    await expect(rpc.call(endpoint, calls, signal)).rejects.toMatchObject({ code, severity: 'retry' })
  })

  it('a limit in answer to a whole batch is not a refusal of batches (L1_RATE_LIMITED)', async () => {
    let isLimited = true
    const { rpc, requests } = rpcOf((json) => ({ json: isLimited ? { id: null, error: { code: 429 } } : [json].flat().map(right) }))
    await expect(rpc.call(endpoint, calls, signal)).rejects.toMatchObject({ code: 'L1_RATE_LIMITED' })
    isLimited = false
    expect(await rpc.call(endpoint, calls, signal)).toEqual(['eth_chainId', 'eth_getBlockByHash'])
    expect(requests).toHaveLength(2)
  })

  it("keeps an endpoint's text out of its faults, because it may hold the credentials of the request in any form", async () => {
    const [secret = expect.fail()] = endpointsOf(['https://user:hunter2@l1.example/v3/abcdef0123?token=tok%3D98765'])
    const message = `key ABCDEF0123 of ${Buffer.from('user:hunter2').toString('base64')} is unknown`
    const { rpc } = rpcOf((json) => ({ json: [json].flat().map(({ id }) => ({ id, error: { code: -32000, message, data: message } })) }))
    const error = await rpc.call(secret, calls, signal).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'L1_RPC_ERROR', message: expect.stringContaining('error -32000') })
    expect(JSON.stringify([error, String(error)])).not.toMatch(/abcdef|dXNlcjpodW50ZXIy|is unknown/i)
  })

  it.each([429, 403, 500])('reads or cancels the body of HTTP %i, because its connection would stay open', async (status) => {
    let cancelled = 0
    const fetch: Fetch = async () => new Response(new ReadableStream({ cancel: () => void cancelled++ }), { status })
    const rpc = createRpc(
      { fetch, clock: systemClock, usage: { count: () => {}, moved: () => {} }, budgetOf: () => createBudget(systemClock, undefined) },
      { timeoutMs: 1_000, maxBodyBytes: 10_000 },
    )
    await expect(rpc.call(endpoint, calls, signal)).rejects.toMatchObject({ severity: 'retry' })
    expect(cancelled).toBe(1)
  })

  it('rejects on a missing answer in a batch (L1_BAD_ANSWER)', async () => {
    const { rpc } = rpcOf((json) => ({ json: [json].flat().slice(1).map(right) }))
    await expect(rpc.call(endpoint, calls, signal)).rejects.toMatchObject({ code: 'L1_BAD_ANSWER' })
  })
})

describe('l1/endpoint', () => {
  it('shows hosts only, numbers duplicates, and sends a password as a header', () => {
    const [plain, again, secret] = endpointsOf(['https://a.example/v3/key?x=1', 'https://a.example/', 'http://us%40er:pa%3Ass@b:8545/'])
    expect([plain?.name, again?.name, secret?.name]).toEqual(['a.example', 'a.example (2)', 'b:8545'])
    expect(again?.url).toBe('https://a.example')
    expect(secret?.url).toBe('http://b:8545')
    expect(endpointsOf(['http://us:50%off@b'])[0]?.headers).toEqual({
      authorization: `Basic ${Buffer.from('us:50%off').toString('base64')}`,
    })
    expect(secret?.headers).toEqual({ authorization: `Basic ${Buffer.from('us@er:pa:ss').toString('base64')}` })
  })
})
