import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import type { WantedState } from '#evm/ports'
import { type Hex, toHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import type { FetchedState } from '#state/fetchedState'
import type { StateRange } from '#state/stateSource'
import { createManualClock } from '#test/harness/clock'
import { provedPart } from '#test/harness/state/provedParts'
import {
  addressKey,
  at,
  code,
  codeHash,
  contract,
  earlier,
  errorWith,
  honest,
  inTime,
  now,
  request,
  type Scripted,
  slotKey,
  sourcesOf,
  type Twist,
  unknownMethod,
  wanted,
} from '#test/harness/state/scriptedSources'
import type { Hash } from '#types/ids'
import { stateSourceMetrics } from '../metrics.ts'
import { createStateSources } from './stateSources.ts'

const textOf = ({ nodes, codes }: FetchedState) => ({
  nodes: nodes.map(({ owner, path, rlp }) => `${owner ? toHex(owner) : ''} ${toHex(path)} ${toHex(rlp)}`).toSorted(),
  codes: codes.map(toHex),
})
const withoutRanges: Twist = ({ method }, answer) =>
  method.startsWith('basalt_') || method === 'debug_codeByHash' ? unknownMethod : answer

describe('l2/stateSources: an honest source', () => {
  it.each(Object.entries(wanted))('returns the part with its proof: %s', async (name, of) => {
    const { sources, metric } = sourcesOf([honest()])
    const expected = provedPart(now.state, now.root, of)
    const codes = name === 'account' || name === 'code' ? [code] : []
    expect(textOf(await sources.fetch(request(of)))).toEqual(textOf({ ...expected, codes }))
    expect(await metric('usable_peers')).toBe(1)
  })

  it('is asked for eth_getProof and eth_getCode when it has no ranges, and then at once', async () => {
    const script = { ...honest(), twist: withoutRanges }
    const { sources, clock } = sourcesOf([script])
    for (const name of ['slot', 'account', 'absent account', 'absent slot'] as const) {
      const of = wanted[name] as WantedState
      const found = await inTime(clock, sources.fetch(request(of)))
      expect(textOf(found)).toEqual(textOf({ ...provedPart(now.state, now.root, of), codes: name === 'account' ? [code] : [] }))
    }
    const coded = await inTime(clock, sources.fetch(request(wanted['code'] as WantedState)))
    expect(coded.codes).toEqual([code])
    expect(script.asked.filter((method) => method === 'basalt_stateRange')).toHaveLength(2)
    expect(script.asked.filter((method) => method === 'debug_codeByHash')).toHaveLength(1)
  })

  it('without ranges has no node by its path and no key without an address (STATE_UNAVAILABLE)', async () => {
    const { sources, clock } = sourcesOf([{ ...honest(), twist: withoutRanges }])
    const key = { kind: 'account', addressKey } as const
    for (const of of [wanted['node of accounts'] as WantedState, key]) {
      await expect(inTime(clock, sources.fetch(request(of)))).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE', severity: 'retry' })
    }
    expect(clock.elapsedMs()).toBeLessThan(1_000)
  })
})

type Range = { leaves: { key: Hex; value: Hex }[]; proof: Hex[] }
type Proof = { balance: Hex; accountProof: Hex[]; storageProof: { value: Hex; proof: Hex[] }[] }
const rangeTwist =
  (change: (range: Range) => void): Twist =>
  (call, answer) => {
    if (call.method === 'basalt_stateRange') change(answer as Range)
    return answer
  }
const proofTwist =
  (change: (proof: Proof) => void): Twist =>
  (call, answer) => {
    if (call.method === 'eth_getProof') change(answer as Proof)
    return withoutRanges(call, answer)
  }
const flipped = (hex: Hex): Hex => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}` as Hex
const flipLast = (list: Hex[]): void => void list.push(flipped(list.pop() as Hex))
const flipValue = ({ leaves: [leaf] }: Range): void => void Object.assign(leaf as object, { value: flipped(leaf?.value as Hex) })

const lies: readonly [string, Partial<Scripted>, keyof typeof wanted][] = [
  ['a wrong value', { twist: rangeTwist(flipValue) }, 'account'],
  ['a wrong value of a slot', { twist: rangeTwist(flipValue) }, 'slot'],
  ['a value that is left out', { twist: rangeTwist((range) => void range.leaves.pop()) }, 'account'],
  ['a wrong node', { twist: rangeTwist(({ proof }) => flipLast(proof)) }, 'account'],
  ['a truncated proof', { twist: rangeTwist(({ proof }) => void proof.pop()) }, 'absent account'],
  ['no proof', { twist: rangeTwist((range) => void Object.assign(range, { leaves: [], proof: [] })) }, 'slot'],
  ['the state of another block', { state: earlier }, 'account'],
  ['the state of another block for a node', { state: earlier }, 'node of storage'],
  ['another code', { twist: (call, answer) => (call.method === 'eth_getCode' ? '0x6002' : answer) }, 'account'],
  ['another code by hash', { twist: (call, answer) => (call.method === 'debug_codeByHash' ? '0x6002' : answer) }, 'code'],
  ['eth_getProof: a wrong balance', { twist: proofTwist((proof) => void Object.assign(proof, { balance: '0x77' })) }, 'account'],
  [
    'eth_getProof: a balance of an absent account',
    { twist: proofTwist((proof) => void Object.assign(proof, { balance: '0x77' })) },
    'absent account',
  ],
  [
    'eth_getProof: a wrong slot',
    { twist: proofTwist(({ storageProof: [slot] }) => void Object.assign(slot as object, { value: '0x77' })) },
    'slot',
  ],
  ['eth_getProof: a wrong node', { twist: proofTwist(({ accountProof }) => flipLast(accountProof)) }, 'account'],
  [
    'eth_getProof: a wrong node of storage',
    { twist: proofTwist(({ storageProof: [slot] }) => slot && flipLast(slot.proof)) },
    'absent slot',
  ],
  ['eth_getProof: the state of another block', { twist: withoutRanges, state: earlier }, 'slot'],
]

describe('l2/stateSources: a source that lies', () => {
  it.each(lies)('is counted and not asked again while another answers: %s', async (_what, script, name) => {
    const liar = { ...honest(), ...script }
    const of = wanted[name] as WantedState
    const { sources, metric, clock } = sourcesOf([liar, honest()])
    const parts = provedPart(now.state, now.root, of)
    expect(textOf(await inTime(clock, sources.fetch(request(of)))).nodes).toEqual(textOf(parts).nodes)
    if ((await metric('lies_total')) === 0) await inTime(clock, sources.fetch(request(of)))
    expect([await metric('lies_total'), await metric('usable_peers')]).toEqual([1, 1])
    const asked = liar.asked.length
    await clock.advanceMs(60_000)
    await inTime(clock, sources.fetch(request(of)))
    expect(liar.asked.length).toBe(asked)
  })

  it.each(lies)('alone is asked again after pauses, and an error at the deadline (STATE_UNAVAILABLE): %s', async (_what, script, name) => {
    const { sources, clock, metric } = sourcesOf([{ ...honest(), ...script }], { deadlineMs: 3_000 })
    await expect(inTime(clock, sources.fetch(request(wanted[name] as WantedState)))).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE' })
    expect(clock.elapsedMs()).toBe(3_000)
    expect([await metric('lies_total'), await metric('usable_peers')]).toEqual([4, 0])
  })

  it('alone does not keep a part from being fetched when it lies once', async () => {
    let lies = 0
    const { sources, clock, metric } = sourcesOf([
      { ...honest(), twist: rangeTwist(({ proof }) => (lies++ > 0 ? undefined : flipLast(proof))) },
    ])
    const of = wanted['slot'] as WantedState
    expect(textOf(await inTime(clock, sources.fetch(request(of)))).nodes).toEqual(textOf(provedPart(now.state, now.root, of)).nodes)
    expect([await metric('lies_total'), await metric('usable_peers')]).toEqual([1, 0])
  })

  it('is asked when the others fail', async () => {
    let isDown = false
    const liar = { ...honest(), twist: rangeTwist(({ proof }) => (isDown ? undefined : flipLast(proof))) }
    const other = { ...honest(), http: (text: string) => (isDown ? new Response('', { status: 500 }) : new Response(text)) }
    const { sources, clock, metric } = sourcesOf([liar, other])
    const fetch = () => inTime(clock, sources.fetch(request(wanted['slot'] as WantedState)))
    await fetch()
    await fetch()
    isDown = true
    expect((await fetch()).nodes.length).toBeGreaterThan(2)
    expect(await metric('lies_total')).toBe(1)
  })
})

const failures: readonly [string, Partial<Scripted>][] = [
  ['HTTP 429', { http: () => new Response('', { status: 429, headers: { 'retry-after': '3' } }) }],
  ['HTTP 500', { http: () => new Response('', { status: 500 }) }],
  ['HTTP 401', { http: () => new Response('', { status: 401 }) }],
  ['a truncated response', { http: (text) => new Response(text.slice(0, -20)) }],
  ['a huge response', { http: (text) => new Response(text.padEnd(4 * 2 ** 20 + 1)) }],
  ['JSON of another form', { twist: () => ({ leaves: 5 }) }],
  ['an answer without hex', { twist: rangeTwist((range) => void Object.assign(range, { proof: ['zz'] })) }],
  ['a proof of too many nodes', { twist: rangeTwist((range) => void Object.assign(range, { proof: Array(131).fill('0x00') })) }],
  ['a node that is too long', { twist: rangeTwist((range) => void Object.assign(range, { proof: [`0x${'00'.repeat(601)}`] })) }],
  ['many leaves', { twist: rangeTwist((range) => void range.leaves.push(...range.leaves)) }],
  ['a block that it lacks', { twist: () => errorWith(-32_001) }],
  ['no response', { http: () => undefined }],
]

describe('l2/stateSources: a source that fails', () => {
  it.each(failures)('is paused, and the next source answers: %s', async (_what, script) => {
    const { sources, metric, clock } = sourcesOf([{ ...honest(), ...script }, honest()])
    const of = wanted['account'] as WantedState
    expect((await inTime(clock, sources.fetch(request(of)))).codes).toEqual([code])
    expect(await metric('lies_total')).toBe(0)
  })

  it.each(failures)('alone is an error at the deadline (STATE_UNAVAILABLE): %s', async (_what, script) => {
    const { sources, clock } = sourcesOf([{ ...honest(), ...script }], { deadlineMs: 2_000 })
    const failed = sources.fetch(request(wanted['account'] as WantedState))
    await expect(inTime(clock, failed)).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE', severity: 'retry' })
    expect(clock.elapsedMs()).toBe(2_000)
  })

  it('is asked again after its pause: HTTP 429 with a wait of three seconds', async () => {
    let isLimited = true
    const script = {
      ...honest(),
      http: (text: string) => (isLimited ? new Response('', { status: 429, headers: { 'retry-after': '3' } }) : new Response(text)),
    }
    const { sources, clock } = sourcesOf([script])
    const found = sources.fetch(request(wanted['account'] as WantedState))
    await clock.advanceMs(1_000)
    isLimited = false
    expect((await inTime(clock, found)).codes).toEqual([code])
    expect(clock.elapsedMs()).toBeGreaterThanOrEqual(3_000)
    expect(clock.elapsedMs()).toBeLessThan(3_200)
  })
})

it('l2/stateSources: a second source is asked when the first one is slower than its 95th percentile', async () => {
  let isSlow = false
  const slow: Scripted = { ...honest(), http: (text) => (isSlow ? undefined : new Response(text)) }
  const second = honest()
  const { sources, clock, metric } = sourcesOf([slow, second])
  const fetch = () => sources.fetch(request(wanted['account'] as WantedState))
  for (let i = 0; i < 20; i++) await fetch()
  expect(second.asked).toEqual([])
  isSlow = true
  const found = fetch()
  await clock.advanceMs(19)
  expect(second.asked).toEqual([])
  await clock.advanceMs(1)
  expect((await found).codes).toEqual([code])
  expect(await metric('hedges_total')).toBe(1)
})

const zeros = new Uint8Array(32)
const keysOf = ({ leaves }: StateRange) => leaves.map(({ key }) => toHex(key))

describe('l2/stateSources: ranges', () => {
  it('are returned with all nodes above their leaves, and codes by hash', async () => {
    const { sources } = sourcesOf([honest()])
    const owner = addressKey
    const found = await sources.ranges(at, [
      { owner: undefined, first: zeros },
      { owner, first: zeros },
      { owner, first: slotKey, root: now.reads.account(contract)?.storageRoot as Hash },
    ])
    const [accounts, slots, some] = found as [StateRange, StateRange, StateRange]
    expect([accounts.leaves.length, slots.leaves.length, some.next]).toEqual([200, 40, undefined])
    expect(keysOf(some)).toEqual(keysOf(slots).slice(keysOf(slots).indexOf(toHex(slotKey))))
    // the path of any key is among the nodes
    const nodes = new Set([...accounts.nodes, ...slots.nodes].map(({ path, rlp }) => `${toHex(path)} ${toHex(rlp)}`))
    for (const of of Object.values(wanted)) {
      for (const { path, rlp } of provedPart(now.state, now.root, of).nodes) expect(nodes).toContain(`${toHex(path)} ${toHex(rlp)}`)
    }
    expect(await sources.codes(at, [codeHash])).toEqual([code])
  })

  it.each<[string, Twist]>([
    ['a wrong leaf', rangeTwist(({ leaves: [leaf] }) => leaf && Object.assign(leaf, { value: '0x01' }))],
    ['a leaf less', rangeTwist(({ leaves }) => void leaves.splice(3, 1))],
    ['a range that ends early', rangeTwist(({ leaves }) => void leaves.splice(20))],
    ['no root node', rangeTwist(({ proof }) => void proof.shift())],
  ])('show a source that lies: %s', async (_what, twist) => {
    const { sources, clock, metric } = sourcesOf([{ ...honest(), twist }, honest()])
    const [found] = await inTime(clock, sources.ranges(at, [{ owner: undefined, first: slotKey }]))
    expect(found?.nodes.length).toBeGreaterThan(10)
    expect(await metric('lies_total')).toBe(1)
  })

  it('that fail do not pause a source for blocks, and a source without the methods does not enumerate', async () => {
    const busy: Twist = ({ params }, answer) => (params[1] === params[2] ? answer : errorWith(-32_000))
    const { sources, clock } = sourcesOf([{ ...honest(), twist: busy }], { deadlineMs: 2_000 })
    await expect(inTime(clock, sources.ranges(at, [{ owner: undefined, first: zeros }]))).rejects.toMatchObject({
      code: 'STATE_UNAVAILABLE',
    })
    expect((await sources.fetch(request(wanted['slot'] as WantedState))).nodes.length).toBeGreaterThan(2)
    expect(sources.enumerates()).toBe(true)
    const other = sourcesOf([{ ...honest(), twist: withoutRanges }])
    await expect(other.sources.ranges(at, [{ owner: undefined, first: zeros }])).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE' })
    expect(other.sources.enumerates()).toBe(false)
  })

  it('come from a source without eth_getCode too, and codes by their hash', async () => {
    const script = { ...honest(), twist: (({ method }, answer) => (method.startsWith('eth_') ? unknownMethod : answer)) as Twist }
    const { sources, clock } = sourcesOf([script])
    const account = await inTime(clock, sources.fetch(request(wanted['account'] as WantedState)))
    expect(textOf(account)).toEqual(textOf({ ...provedPart(now.state, now.root, wanted['account'] as WantedState), codes: [] }))
    expect((await inTime(clock, sources.fetch(request(wanted['code'] as WantedState)))).codes).toEqual([code])
    expect(sources.enumerates()).toBe(true)
    const [found] = await inTime(clock, sources.ranges(at, [{ owner: undefined, first: zeros }]))
    expect(found?.leaves.length).toBeGreaterThan(100)
    expect(script.asked.filter((method) => method === 'eth_getCode')).toHaveLength(1)
  })
})

it.each([
  ['no URL', []],
  ['nine URLs', Array(9).fill('http://a')],
  ['another protocol', ['ws://host:1']],
  ['no URL syntax', ['host']],
])('l2/stateSources: %s is refused (STATE_URL_INVALID)', (_what, urls: string[]) => {
  const metrics = stateSourceMetrics.register(new Registry())
  const deps = { fetch: fetch as never, clock: createManualClock(), log: silentLog, metrics }
  expect(() => createStateSources(deps, { urls })).toThrow(/--source.state/)
})
