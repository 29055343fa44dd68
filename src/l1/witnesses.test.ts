import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { Fetch } from '#lib/jsonHttp'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { factory, proposalsOnL1 } from '#test/harness/trust/proposals'
import type { L1Witness } from '#trust/ports'
import { headerToJson } from '#types/headerJson'
import { zeroHash } from '#types/ids'
import { createL1Source, defaultL1Options } from './l1Source.ts'
import { l1Metrics } from './metrics.ts'

const state = proposalsOnL1({ proposals: [], timestamp: 1_796_000_000 })
const { number, hash } = state.block
const json = headerToJson(hash, state.header)
const { signal } = new AbortController()

type Call = { readonly method: string; readonly params: readonly unknown[]; readonly id: number }
type Answer = { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } }

/** Returns the witness of an endpoint, and the calls that it gets. */
function witness(answer: (call: Call) => Answer): { one: L1Witness; asked: Call[] } {
  const asked: Call[] = []
  const answered = (call: Call) => {
    asked.push(call)
    return { jsonrpc: '2.0', id: call.id, ...(call.method === 'eth_chainId' ? { result: '0x1' } : answer(call)) }
  }
  const fetch: Fetch = async (_url, init) => {
    const body = JSON.parse(String(init?.body)) as Call | Call[]
    return new Response(JSON.stringify(Array.isArray(body) ? body.map(answered) : answered(body)))
  }
  const source = createL1Source(
    { fetch, clock: createManualClock(), random: () => 0, log: silentLog, metrics: l1Metrics.register(new Registry()) },
    { ...defaultL1Options, rpcUrls: ['http://l1.example'], beaconUrls: [], chainId: 1 },
  )
  return { one: source.witnesses[0] ?? expect.fail('no witness'), asked }
}

it('l1/witnesses: returns the finalized block and a block by number, with the state root of the header', async () => {
  const { one, asked } = witness(() => ({ result: json }))
  expect(one.name).toBe('l1.example')
  expect(await one.finalized(signal)).toEqual(state.block)
  expect(await one.at(number, signal)).toEqual(state.block)
  expect(asked.map(({ method, params }) => [method, ...params])).toEqual([
    ['eth_chainId'],
    ['eth_getBlockByNumber', 'finalized', false],
    ['eth_getBlockByNumber', `0x${number.toString(16)}`, false],
  ])
})

it.each<[string, Answer]>([
  ['null', { result: null }],
  ['an error', { error: { code: -32_000, message: 'finalized block not found' } }],
])('l1/witnesses: has no block when the endpoint answers %s', async (_title, answer) => {
  expect(await witness(() => answer).one.finalized(signal)).toBeUndefined()
})

it.each<[string, unknown, string]>([
  ['another hash', { ...json, hash: zeroHash }, 'L1_BLOCK_MISMATCH'],
  ['another state root', { ...json, stateRoot: zeroHash }, 'L1_BLOCK_MISMATCH'],
  ['no header', 'finalized', 'L1_BAD_ANSWER'],
])('l1/witnesses: refuses a block with %s', async (_title, result, code) => {
  await expect(witness(() => ({ result })).one.finalized(signal)).rejects.toMatchObject({ code, severity: 'retry' })
})

it('l1/witnesses: refuses a block of another number (L1_BAD_ANSWER)', async () => {
  await expect(witness(() => ({ result: json })).one.at(number + 1, signal)).rejects.toMatchObject({ code: 'L1_BAD_ANSWER' })
})

it('l1/witnesses: requests proofs and code in one batch, in order, at the block', async () => {
  const { one, asked } = witness(({ method, params }) => ({ result: [method, params[0]] }))
  const slots = [zeroHash]
  const other = `0x${'12'.repeat(20)}` as typeof factory
  const requests = [
    { address: factory, slots },
    { address: other, slots: [] },
  ]
  expect(await one.proofs(number, requests, signal)).toEqual([
    ['eth_getProof', factory],
    ['eth_getProof', other],
  ])
  expect(await one.codes(number, [other, factory], signal)).toEqual([
    ['eth_getCode', other],
    ['eth_getCode', factory],
  ])
  expect(await one.codes(number, [], signal)).toEqual([])
  const at = `0x${number.toString(16)}`
  expect(asked.slice(1).map(({ params }) => params)).toEqual([
    [factory, slots, at],
    [other, [], at],
    [other, at],
    [factory, at],
  ])
})

it('l1/witnesses: does not read an endpoint of another L1 (L1_WRONG_CHAIN)', async () => {
  const source = createL1Source(
    {
      fetch: async () => new Response(JSON.stringify({ jsonrpc: '2.0', id: 0, result: '0x5' })),
      ...{ clock: createManualClock(), random: () => 0, log: silentLog, metrics: l1Metrics.register(new Registry()) },
    },
    { ...defaultL1Options, rpcUrls: ['http://l1.example'], beaconUrls: [], chainId: 1 },
  )
  await expect(source.witnesses[0]?.finalized(signal)).rejects.toMatchObject({ code: 'L1_WRONG_CHAIN' })
})
