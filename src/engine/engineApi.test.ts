import { describe, expect, it } from 'vitest'
import type { BuildPool } from '#block/building/buildPool'
import { fromHex } from '#lib/hex'
import { openExecution } from '#test/contract/engine'
import { attributesAt, hashOf, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createListedPool } from '#test/harness/chain/buildPool'
import { createManualClock, settle } from '#test/harness/clock'
import { busyFault } from '#test/harness/engine/engine'
import { hashHeader } from '#types/header'
import { zeroHash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import { createEngineApi, type EngineApi, type ForkchoiceState } from './engineApi.ts'
import { engineFault } from './faults.ts'
import { headerOfPayload } from './payloadHeader.ts'
import { encodeAttributes } from './payloadJson.ts'
import type { Engine } from './port.ts'

const schedule = scheduleTo('jovian')
const chain = smallChain(schedule)
const { config } = chain
const genesis = config.genesis.l2.hash

const opened = (change: (engine: Engine) => Partial<Engine> = () => ({}), pool?: BuildPool) => {
  const execution = openExecution(chain, pool)
  const engine: Engine = {
    insert: (payload) => execution.insert(payload),
    build: (...args) => execution.build(...args),
    setHeads: (heads) => execution.setHeads(heads),
    heads: () => execution.heads(),
    payload: (at) => execution.payload(at),
    storageRoot: (account, block) => execution.storageRoot(account, block),
  }
  return { execution, api: createEngineApi({ engine: { ...engine, ...change(engine) }, config, clock: createManualClock() }) }
}

const stateOf = (head: Payload, labels: Partial<ForkchoiceState> = {}): ForkchoiceState => ({
  head: head.blockHash,
  safe: zeroHash,
  finalized: zeroHash,
  ...labels,
})
const atGenesis: ForkchoiceState = { head: genesis, safe: zeroHash, finalized: zeroHash }
const rehashed = (payload: Payload, change: Partial<Payload>): Payload => {
  const changed = { ...payload, ...change }
  return { ...changed, blockHash: hashHeader(headerOfPayload(schedule, changed)) }
}
const apiError = (code: number, text: string | RegExp = /./) => expect.objectContaining({ code, message: expect.stringMatching(text) })

/** Builds a block by forkchoiceUpdated and getPayload. */
async function built(api: EngineApi, state: ForkchoiceState, attributes: PayloadAttributes): Promise<Payload> {
  const { payloadStatus, payloadId } = await api.forkchoiceUpdated(3, state, encodeAttributes(attributes))
  expect(payloadStatus).toEqual({ status: 'VALID', latestValidHash: state.head })
  return await api.getPayload(4, payloadId ?? expect.fail('no payload id'))
}

/** Builds a chain of blocks and inserts each by newPayload, as consensus halves do. */
async function extended(api: EngineApi, count: number, branch = 0): Promise<Payload[]> {
  const payloads: Payload[] = []
  for (let number = 1; number <= count; number++) {
    const parent = payloads.at(-1)
    const payload = await built(api, parent ? stateOf(parent) : atGenesis, attributesAt(schedule, number, [], branch))
    expect(await api.newPayload(4, { payload })).toEqual({ status: 'VALID', latestValidHash: payload.blockHash })
    payloads.push(payload)
  }
  return payloads
}
const must = <T>(value: T | undefined): T => value ?? expect.fail('missing')

describe('engine/engineApi: forkchoiceUpdated', () => {
  it('zero hashes for safe and finalized keep the current ones', async () => {
    const { api, execution } = opened()
    const payloads = await extended(api, 3)
    const [one, two, three] = payloads.map(must)
    await api.forkchoiceUpdated(3, stateOf(must(three), { safe: must(two).blockHash, finalized: must(one).blockHash }), null)
    await api.forkchoiceUpdated(3, stateOf(must(three)), null)
    expect(await execution.heads()).toMatchObject({ unsafe: { number: 3 }, safe: { number: 2 }, finalized: { number: 1 } })
    await api.forkchoiceUpdated(3, stateOf(must(three), { finalized: must(three).blockHash }), null)
    expect(await execution.heads()).toMatchObject({ safe: { number: 3 }, finalized: { number: 3 } })
  })

  it('applies later labels although the head does not move', async () => {
    const { api, execution } = opened()
    const payloads = await extended(api, 2)
    const head = must(payloads[1])
    await api.forkchoiceUpdated(3, stateOf(head), null)
    const answer = await api.forkchoiceUpdated(3, stateOf(head, { safe: head.blockHash, finalized: must(payloads[0]).blockHash }), null)
    expect(answer).toEqual({ payloadStatus: { status: 'VALID', latestValidHash: head.blockHash }, payloadId: undefined })
    expect(await execution.heads()).toMatchObject({ safe: { number: 2 }, finalized: { number: 1 } })
  })

  it('an ancestor becomes the head and a block is built on it; an unnamed safe head is lowered to it', async () => {
    const { api, execution } = opened()
    const payloads = await extended(api, 4)
    const [one, two, , four] = payloads.map(must)
    await api.forkchoiceUpdated(3, stateOf(must(four), { safe: must(four).blockHash, finalized: must(one).blockHash }), null)
    const other = await built(api, stateOf(must(two)), attributesAt(schedule, 3, [], 7))
    expect(other.parentHash).toBe(must(two).blockHash)
    expect(await execution.heads()).toMatchObject({ unsafe: { number: 2 }, safe: { number: 1 }, finalized: { number: 1 } })
    expect(await execution.payload(3)).toBeUndefined()
  })

  it('refuses a head below the finalized one, and moves nothing (-38002)', async () => {
    const { api, execution } = opened()
    const payloads = await extended(api, 3)
    const [one, two, three] = payloads.map(must)
    await api.forkchoiceUpdated(3, stateOf(must(three), { safe: must(two).blockHash, finalized: must(two).blockHash }), null)
    const before = await execution.heads()
    await expect(api.forkchoiceUpdated(3, stateOf(must(one)), null)).rejects.toEqual(apiError(-38002, /^Invalid forkchoice state: /))
    expect(await execution.heads()).toEqual(before)
  })

  it.each<[string, (head: Payload) => ForkchoiceState, string]>([
    ['a zero head', () => ({ head: zeroHash, safe: zeroHash, finalized: zeroHash }), 'zero hash'],
    ['an unknown safe block', (head) => stateOf(head, { safe: hashOf('safe') }), 'safe block'],
    ['an unknown finalized block', (head) => stateOf(head, { finalized: hashOf('finalized') }), 'finalized block'],
    ['a safe block that is not an ancestor', (head) => ({ ...atGenesis, safe: head.blockHash }), 'safe head'],
    ['a finalized block above the safe one', (head) => stateOf(head, { safe: genesis, finalized: head.blockHash }), 'finalized head'],
  ])('refuses %s (-38002)', async (_what, stateFor, text) => {
    const { api } = opened()
    const [head = expect.fail()] = await extended(api, 1)
    await expect(api.forkchoiceUpdated(3, stateFor(head), null)).rejects.toEqual(apiError(-38002, text))
  })

  it('an unknown head is SYNCING, and nothing is built', async () => {
    const { api } = opened()
    const state = { head: hashOf('unknown'), safe: hashOf('unknown'), finalized: zeroHash }
    const answer = await api.forkchoiceUpdated(3, state, encodeAttributes(attributesAt(schedule, 1)))
    expect(answer).toEqual({ payloadStatus: { status: 'SYNCING' }, payloadId: undefined })
  })

  it('an invalid head is INVALID with the last valid hash', async () => {
    const { api } = opened()
    const bad = rehashed(await built(api, atGenesis, attributesAt(schedule, 1)), { stateRoot: hashOf('state') })
    const status = await api.newPayload(4, { payload: bad })
    expect(status).toEqual({ status: 'INVALID', latestValidHash: genesis, validationError: expect.stringContaining('stateRoot') })
    expect(await api.forkchoiceUpdated(3, stateOf(bad), null)).toEqual({ payloadStatus: status, payloadId: undefined })
  })
})

describe('engine/engineApi: payload attributes', () => {
  const attributes = attributesAt(schedule, 1)
  const json = encodeAttributes(attributes)

  it.each<[string, unknown, number, string]>([
    ['a malformed quantity', { ...json, timestamp: 'zz' }, -38003, 'timestamp'],
    ['no gas limit', { ...json, gasLimit: undefined }, -38003, 'gasLimit'],
    ['no EIP-1559 parameters', { ...json, eip1559Params: null }, -38003, 'eip1559Params'],
    ['a denominator of zero', { ...json, eip1559Params: '0x0000000000000006' }, -38003, 'denominator'],
    ['no minimum base fee', { ...json, minBaseFee: null }, -38003, 'minBaseFee'],
    ['withdrawals', { ...json, withdrawals: [{}] }, -38003, 'withdrawals'],
    ['no beacon root', { ...json, parentBeaconBlockRoot: null }, -38003, 'parentBeaconBlockRoot'],
    ['the time of the head', { ...json, timestamp: `0x${(1_000_000).toString(16)}` }, -38003, 'not after'],
    ['no deposit as first transaction', { ...json, transactions: [] }, -38003, 'first transaction'],
    [
      'a transaction that cannot be executed',
      {
        ...json,
        transactions: [...attributes.transactions, '0x02bad0'].flatMap((raw) => (typeof raw === 'string' ? raw : json['transactions'])),
      },
      -38003,
      '.',
    ],
    ['a list', [], -38003, 'attributes'],
    ['a text', 'build', -38003, 'attributes'],
  ])('refuses %s after the heads have moved', async (_what, given, code, text) => {
    const { api, execution } = opened()
    const [head = expect.fail()] = await extended(api, 1)
    const state = { ...atGenesis, safe: genesis }
    await expect(api.forkchoiceUpdated(3, state, given)).rejects.toEqual(apiError(code, text))
    expect((await execution.heads()).unsafe.number).toBe(0)
    expect(await api.newPayload(4, { payload: head })).toMatchObject({ status: 'VALID' })
  })

  it("refuses attributes of another fork than the version's (-38005)", async () => {
    const { api } = opened()
    for (const version of [1, 2] as const) {
      await expect(api.forkchoiceUpdated(version, atGenesis, json)).rejects.toEqual(apiError(-38005, /^Unsupported fork: /))
    }
  })

  it("without a pool, an open block has the attributes' transactions only", async () => {
    const { api, execution } = opened()
    const transfer = signedBy('alice', {})
    const wanted = attributesAt(schedule, 1, [transfer])
    const payload = await built(api, atGenesis, { ...wanted, noTxPool: false })
    expect(payload.transactions).toEqual(wanted.transactions)
    expect(await execution.payload(payload.blockHash)).toEqual(payload)
  })

  it('runs other calls while a block is open; getPayload seals it, and it does not change again', async () => {
    const pool = createListedPool()
    const { api } = opened(undefined, pool)
    const open = encodeAttributes({ ...attributesAt(schedule, 1), noTxPool: false })
    const id = must((await api.forkchoiceUpdated(3, atGenesis, open)).payloadId)
    const [other] = await extended(api, 1, 5)
    expect(must(other).transactions).toHaveLength(1)
    pool.add(signedBy('alice', {}))
    await settle()
    expect((await api.forkchoiceUpdated(3, atGenesis, open)).payloadId).toBe(id)
    const payload = await api.getPayload(4, id)
    expect(payload.transactions.slice(1)).toEqual([signedBy('alice', {})])
    pool.add(signedBy('bob', {}))
    await settle()
    expect((await api.forkchoiceUpdated(3, atGenesis, open)).payloadId).toBe(id)
    expect([await api.getPayload(4, id), pool.listeners]).toEqual([payload, 0])
  })

  it('refuses attributes that cannot be executed at once, whatever the pool has (-38003)', async () => {
    const pool = createListedPool()
    const { api } = opened(undefined, pool)
    pool.add(signedBy('bob', {}))
    const bad = encodeAttributes({ ...attributesAt(schedule, 1, [signedBy('alice', { nonce: 3n })]), noTxPool: false })
    await expect(api.forkchoiceUpdated(3, atGenesis, bad)).rejects.toEqual(apiError(-38003, /nonce too high/))
    expect(pool.listeners).toBe(0)
  })

  it('equal attributes have one id and are executed once; others have another id', async () => {
    let executed = 0
    const { api } = opened((engine) => ({
      build: (parent, of) => {
        executed++
        return engine.build(parent, of)
      },
    }))
    const begin = async (of: PayloadAttributes) => (await api.forkchoiceUpdated(3, atGenesis, encodeAttributes(of))).payloadId
    const [first, again, other] = [await begin(attributes), await begin(attributes), await begin(attributesAt(schedule, 1, [], 1))]
    expect(first).toMatch(/^0x03[0-9a-f]{14}$/)
    expect(again).toBe(first)
    expect(other).not.toBe(first)
    expect(executed).toBe(2)
    expect(await api.getPayload(4, must(first))).toEqual(await api.getPayload(4, must(first)))
    expect((await begin(attributes)) === (await opened().api.forkchoiceUpdated(3, atGenesis, json)).payloadId).toBe(true)
  })

  it('keeps a bounded number of the newest payloads, and refuses an unknown id (-38001)', async () => {
    const { api } = opened()
    const ids: string[] = []
    for (let branch = 0; branch < 40; branch++) {
      ids.push(must((await api.forkchoiceUpdated(3, atGenesis, encodeAttributes(attributesAt(schedule, 1, [], branch)))).payloadId))
    }
    await expect(api.getPayload(4, ids[0] as `0x${string}`)).rejects.toEqual(apiError(-38001, /^Unknown payload: 0x03/))
    expect((await api.getPayload(4, ids[39] as `0x${string}`)).blockNumber).toBe(1)
    await expect(api.getPayload(4, '0x0000000000000001')).rejects.toEqual(apiError(-38001))
  })

  it('only the getPayload version of its fork returns a payload (-38005)', async () => {
    const { api } = opened()
    const id = must((await api.forkchoiceUpdated(3, atGenesis, json)).payloadId)
    for (const version of [1, 2, 3, 5] as const) await expect(api.getPayload(version, id)).rejects.toEqual(apiError(-38005))
  })

  it('after a restart the id is unknown, and the block is built again', async () => {
    const id = must((await opened().api.forkchoiceUpdated(3, atGenesis, json)).payloadId)
    const { api } = opened()
    await expect(api.getPayload(4, id)).rejects.toEqual(apiError(-38001))
    expect((await api.forkchoiceUpdated(3, atGenesis, json)).payloadId).toBe(id)
    expect((await api.getPayload(4, id)).blockNumber).toBe(1)
  })
})

describe('engine/engineApi: newPayload', () => {
  it('SYNCING for an unknown parent only; a known block of any branch is VALID', async () => {
    const maker = opened().api
    const [one, two] = (await extended(maker, 2)).map(must)
    const [side] = await extended(opened().api, 1, 3)
    const { api } = opened()
    expect(await api.newPayload(4, { payload: must(two) })).toEqual({ status: 'SYNCING' })
    for (const payload of [one, two, side, one, two].map(must)) {
      expect(await api.newPayload(4, { payload })).toEqual({ status: 'VALID', latestValidHash: payload.blockHash })
    }
  })

  it('a wrong block hash has no last valid hash, whether the parent is known or not', async () => {
    const { api } = opened()
    const [one, two] = (await extended(opened().api, 2)).map(must)
    for (const payload of [one, two].map(must)) {
      const status = await api.newPayload(4, { payload: { ...payload, blockHash: hashOf('wrong') } })
      expect(status).toEqual({ status: 'INVALID', latestValidHash: undefined, validationError: expect.stringContaining('blockHash') })
    }
    expect(await api.newPayload(4, { payload: must(one) })).toMatchObject({ status: 'VALID' })
  })

  it('a descendant of an invalid block is INVALID with the same last valid hash, not SYNCING', async () => {
    const { api } = opened()
    const [one, two, three] = (await extended(opened().api, 3)).map(must)
    const bad = rehashed(must(one), { gasUsed: 1n })
    const child = rehashed(must(two), { parentHash: bad.blockHash })
    const grandchild = rehashed(must(three), { parentHash: child.blockHash })
    for (const payload of [bad, child, grandchild, bad]) {
      expect(await api.newPayload(4, { payload })).toMatchObject({ status: 'INVALID', latestValidHash: genesis })
    }
    for (const payload of [one, two, three].map(must)) expect(await api.newPayload(4, { payload })).toMatchObject({ status: 'VALID' })
  })

  it('blob hashes and execution requests are INVALID', async () => {
    const { api } = opened()
    const [payload = expect.fail()] = await extended(opened().api, 1)
    for (const more of [{ blobHashes: [zeroHash] }, { executionRequests: [fromHex('0x00')] }]) {
      expect(await api.newPayload(4, { payload, ...more })).toMatchObject({ status: 'INVALID', latestValidHash: undefined })
    }
  })

  it('a wrong structure is -32602, a wrong version -38005, and neither calls the engine', async () => {
    const { api } = opened(() => ({ insert: () => expect.fail('asked') }))
    const [payload = expect.fail()] = await extended(opened().api, 1)
    const { withdrawalsRoot: _root, ...without } = payload
    await expect(api.newPayload(4, { payload: without })).rejects.toEqual(apiError(-32602, 'withdrawalsRoot is missing'))
    for (const version of [1, 2, 3, 5] as const) {
      await expect(api.newPayload(version, { payload })).rejects.toEqual(apiError(-38005, /^Unsupported fork: /))
    }
  })

  it('a payload whose execution was abandoned is -32050 with the reason: neither valid nor invalid', async () => {
    const abandoned = engineFault('BLOCK_NOT_EXECUTED', { number: 1, reason: 'it takes longer than 30000 ms' })
    let isLong = true
    const { api } = opened((engine) => ({ insert: (payload) => (isLong ? Promise.reject(abandoned) : engine.insert(payload)) }))
    const [payload = expect.fail()] = await extended(opened().api, 1)
    await expect(api.newPayload(4, { payload })).rejects.toEqual(
      apiError(-32050, 'Payload not executed: execution of block 1 was abandoned: it takes longer than 30000 ms'),
    )
    expect(await api.forkchoiceUpdated(3, stateOf(payload), undefined)).toMatchObject({ payloadStatus: { status: 'SYNCING' } })
    isLong = false
    expect(await api.newPayload(4, { payload })).toMatchObject({ status: 'VALID' })
  })

  it('an engine that cannot respond is -32000 with the reason; the next call runs', async () => {
    let isBusy = true
    const { api } = opened((engine) => ({
      insert: (payload) => (isBusy ? Promise.reject(busyFault('ENGINE_BUSY', {})) : engine.insert(payload)),
    }))
    const [payload = expect.fail()] = await extended(opened().api, 1)
    await expect(api.newPayload(4, { payload })).rejects.toEqual(apiError(-32000, 'Server error: busy'))
    isBusy = false
    expect(await api.newPayload(4, { payload })).toMatchObject({ status: 'VALID' })
  })
})

describe('engine/engineApi: order', () => {
  it('runs calls that change state in order of arrival, also after a failure', async () => {
    const done: string[] = []
    const gate = Promise.withResolvers<void>()
    const { api } = opened((engine) => ({
      insert: async (payload) => {
        if (payload.blockNumber === 1) await gate.promise
        done.push(`insert ${payload.blockNumber}`)
        return engine.insert(payload)
      },
      setHeads: async (heads) => {
        done.push(`heads ${heads.unsafe.number}`)
        await engine.setHeads(heads)
      },
    }))
    const [one, two] = (await extended(opened().api, 2)).map(must)
    const calls = [
      api.newPayload(4, { payload: must(one) }),
      api.newPayload(4, { payload: must(two) }),
      api.forkchoiceUpdated(3, { ...stateOf(must(two)), safe: hashOf('unknown') }, null).catch(() => done.push('refused')),
      api.forkchoiceUpdated(3, stateOf(must(two)), null),
      api.forkchoiceUpdated(3, stateOf(must(one)), null),
    ]
    gate.resolve()
    await Promise.all(calls)
    expect(done).toEqual(['insert 1', 'insert 2', 'refused', 'heads 2', 'heads 1'])
  })
})

describe('engine/engineApi: bodies', () => {
  it('by hash: in the order of the hashes, undefined for unknown blocks', async () => {
    const { api } = opened()
    const [one, two] = (await extended(api, 2)).map(must)
    const bodies = await api.bodiesByHash([must(two).blockHash, hashOf('unknown'), must(one).blockHash, genesis])
    expect(bodies.map((body) => body?.transactions.length)).toEqual([1, undefined, 1, 0])
    expect(bodies[0]?.transactions).toEqual(must(two).transactions)
  })

  it('by range: canonical blocks, ending with the chain', async () => {
    const { api } = opened()
    const payloads = await extended(api, 3)
    await api.forkchoiceUpdated(3, stateOf(must(payloads[2])), null)
    expect((await api.bodiesByRange(2, 10)).map((body) => body?.transactions)).toEqual(
      payloads.slice(1).map(({ transactions }) => transactions),
    )
    expect(await api.bodiesByRange(4, 1)).toEqual([])
  })

  it('refuses too many (-38004) and invalid ranges (-32602)', async () => {
    const { api } = opened()
    await expect(api.bodiesByHash(Array(1_025).fill(genesis))).rejects.toEqual(apiError(-38004))
    await expect(api.bodiesByRange(1, 1_025)).rejects.toEqual(apiError(-38004))
    await expect(api.bodiesByRange(0, 1)).rejects.toEqual(apiError(-32602))
    await expect(api.bodiesByRange(1, 0)).rejects.toEqual(apiError(-32602))
  })
})
