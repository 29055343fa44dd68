import { expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import { silentLog } from '#lib/log'
import { openExecution } from '#test/contract/engine'
import { attributesAt, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { createManualClock, settle } from '#test/harness/clock'
import type { AncestorSource } from '#types/ancestorSource'
import { hashHeader } from '#types/header'
import { zeroHash } from '#types/ids'
import type { Payload } from '#types/payload'
import { createEngineApi, type ForkchoiceState } from './engineApi.ts'
import { headerOfPayload } from './payloadHeader.ts'
import { encodeAttributes } from './payloadJson.ts'

const schedule = scheduleTo('jovian')
const chain = smallChain(schedule)
const { config } = chain
const genesis = config.genesis.l2.hash
const syncing = { payloadStatus: { status: 'SYNCING' }, payloadId: undefined }

/** Builds blocks on genesis in an execution of their own. */
async function blocksOf(count: number, branch = 0): Promise<readonly Payload[]> {
  const execution = openExecution(chain)
  const payloads: Payload[] = []
  for (let number = 1; number <= count; number++) {
    const built = await execution.build(
      payloads.at(-1) ? refOf(payloads.at(-1)) : config.genesis.l2,
      attributesAt(schedule, number, [], branch),
    )
    if (built.kind === 'invalid') throw new Error(built.reason)
    payloads.push(built.payload)
  }
  return payloads
}

const refOf = (payload: Payload | undefined) => l2RefOf(config, payload ?? expect.fail('no block'))
const at = (payloads: readonly Payload[], number: number): Payload => payloads[number - 1] ?? expect.fail(`no block ${number}`)
const stateOf = ({ blockHash: head }: Payload, labels: Partial<ForkchoiceState> = {}): ForkchoiceState => ({
  ...{ head, safe: zeroHash, finalized: zeroHash },
  ...labels,
})

/** Source whose slices a test releases one by one. */
function slowSource(slices: readonly (readonly Payload[])[]) {
  const requests: { number: number; floor: number; lowest: number }[] = []
  const state = { count: 1, isFailing: false, released: Promise.withResolvers<void>(), requests }
  const source: AncestorSource = {
    get count(): number {
      return state.count
    },
    async *ancestors({ blockNumber }, floor, lowest, signal) {
      requests.push({ number: blockNumber, floor, lowest })
      for (const slice of slices) {
        await state.released.promise
        state.released = Promise.withResolvers()
        if (state.isFailing) throw new Error('the peer has ended')
        if (signal.aborted) return
        yield slice
      }
    },
  }
  const release = async (): Promise<void> => {
    state.released.resolve()
    for (let turn = 0; turn < 10; turn++) await settle()
  }
  return { source, state, release }
}

function opened(slices: readonly (readonly Payload[])[]) {
  const execution = openExecution(chain)
  const clock = createManualClock()
  const stop = new AbortController()
  const { source, state, release } = slowSource(slices)
  const api = createEngineApi({ engine: execution, config, clock, peers: { source, log: silentLog, signal: stop.signal } })
  /** Sends a block and names it as the head. */
  const name = async (payload: Payload) => {
    await api.newPayload(4, { payload })
    return await api.forkchoiceUpdated(3, stateOf(payload), null)
  }
  const head = async (): Promise<number> => (await execution.heads()).unsafe.number
  return { execution, api, clock, stop, state, release, name, head }
}

it('engine/headFetch: fetches what is missing below a head, and moves the head along', async () => {
  const blocks = await blocksOf(6)
  const { api, release, name, head, state } = opened([blocks.slice(0, 3), blocks.slice(3, 5)])
  expect(await name(at(blocks, 6))).toEqual(syncing)
  await release()
  expect(await head()).toBe(3)
  expect(await name(at(blocks, 6))).toEqual(syncing)
  await release()
  expect(await head()).toBe(6)
  expect(await api.forkchoiceUpdated(3, stateOf(at(blocks, 6), { safe: at(blocks, 5).blockHash }), null)).toMatchObject({
    payloadStatus: { status: 'VALID', latestValidHash: at(blocks, 6).blockHash },
  })
  expect(state.requests).toEqual([{ number: 6, floor: 0, lowest: 0 }])
})

it('engine/headFetch: an ancestor that is named meanwhile moves only the labels; a block is built on it', async () => {
  const blocks = await blocksOf(6)
  const { execution, api, release, name, head } = opened([blocks.slice(0, 3), blocks.slice(3, 5)])
  await name(at(blocks, 6))
  await release()
  const named = await api.forkchoiceUpdated(
    3,
    stateOf(at(blocks, 2), { safe: at(blocks, 2).blockHash, finalized: at(blocks, 1).blockHash }),
    null,
  )
  expect(named.payloadStatus).toEqual({ status: 'VALID', latestValidHash: at(blocks, 2).blockHash })
  expect(await execution.heads()).toMatchObject({ unsafe: { number: 3 }, safe: { number: 2 }, finalized: { number: 1 } })
  await release()
  expect(await head()).toBe(6)
  await api.forkchoiceUpdated(3, stateOf(at(blocks, 2)), null)
  expect(await head()).toBe(6)
  const { payloadId } = await api.forkchoiceUpdated(3, stateOf(at(blocks, 2)), encodeAttributes(attributesAt(schedule, 3, [], 7)))
  expect((await api.getPayload(4, payloadId ?? expect.fail('no build'))).parentHash).toBe(at(blocks, 2).blockHash)
  expect(await head()).toBe(2)
})

it('engine/headFetch: once the fetched head is named, an ancestor becomes the head again', async () => {
  const blocks = await blocksOf(3)
  const { api, release, name, head } = opened([blocks.slice(0, 2)])
  await name(at(blocks, 3))
  await release()
  await api.forkchoiceUpdated(3, stateOf(at(blocks, 3)), null)
  await api.forkchoiceUpdated(3, stateOf(at(blocks, 1)), null)
  expect(await head()).toBe(1)
})

it('engine/headFetch: another branch that is named ends the fetch', async () => {
  const [blocks, others] = [await blocksOf(5), await blocksOf(2, 9)]
  const { api, release, name, head, state } = opened([blocks.slice(0, 2), blocks.slice(2, 4)])
  await name(at(blocks, 5))
  await release()
  for (const payload of others) await api.newPayload(4, { payload })
  await api.forkchoiceUpdated(3, stateOf(at(others, 2)), null)
  await release()
  expect(await head()).toBe(2)
  expect(await api.block(at(blocks, 3).blockHash)).toBeUndefined()
  // the consensus half names the first branch again: there is no pause after a fetch that it ended
  expect(await name(at(blocks, 5))).toEqual(syncing)
  expect(state.requests.map(({ number }) => number)).toEqual([5, 5])
})

it.each([
  ['on another branch', 7, 2],
  ['lower, on another branch', 7, 1],
  ['a child of the old head that the fetch does not include', 9, 3],
])('engine/headFetch: keeps a head that is named during the fetch when it is %s', async (_what, branch, number) => {
  const [blocks, others, named] = [await blocksOf(5), await blocksOf(2, 9), await blocksOf(3, branch)]
  const { api, release, name, execution, state } = opened([blocks.slice(0, 2), blocks.slice(2, 4)])
  for (const payload of others) await name(payload)
  await name(at(blocks, 5))
  for (const payload of named) await api.newPayload(4, { payload })
  await name(at(named, number))
  await release()
  expect((await execution.heads()).unsafe.hash).toBe(at(named, number).blockHash)
  // the consensus half names the first branch again
  await name(at(blocks, 5))
  await release()
  await release()
  expect((await execution.heads()).unsafe.hash).toBe(at(blocks, 5).blockHash)
  expect(state.requests.map((request) => request.number)).toEqual([5, 5])
})

it('engine/headFetch: goes on, and lowers no head, when the consensus half names blocks of the fetch before they arrive', async () => {
  const blocks = await blocksOf(6)
  const { release, name, head, state } = opened([blocks.slice(1, 2), blocks.slice(2, 5)])
  await name(at(blocks, 1))
  await name(at(blocks, 6))
  await name(at(blocks, 2))
  await name(at(blocks, 3))
  await release()
  expect(await head()).toBe(3)
  await release()
  expect(await head()).toBe(6)
  expect(state.requests.map(({ number }) => number)).toEqual([6])
})

it('engine/headFetch: pauses after a fetch that ends early, also when another head was named during it', async () => {
  const [blocks, others] = [await blocksOf(4), await blocksOf(1, 9)]
  const { release, name, head, state, clock } = opened([[]])
  await name(at(blocks, 4))
  await name(at(others, 1))
  await release()
  await name(at(blocks, 4))
  expect([await head(), state.requests.length]).toEqual([1, 1])
  await clock.advanceMs(10_000)
  await name(at(blocks, 4))
  expect(state.requests).toHaveLength(2)
})

it('engine/headFetch: goes on when the unsafe head or its ancestor is named during the fetch', async () => {
  const blocks = await blocksOf(6)
  const { api, release, name, head, state } = opened([blocks.slice(2, 5)])
  await name(at(blocks, 1))
  await name(at(blocks, 2))
  await name(at(blocks, 6))
  await api.forkchoiceUpdated(3, stateOf(at(blocks, 2), { safe: at(blocks, 1).blockHash }), null)
  await api.forkchoiceUpdated(3, stateOf(at(blocks, 2)), encodeAttributes(attributesAt(schedule, 3, [], 7)))
  await api.forkchoiceUpdated(3, stateOf(at(blocks, 1)), null)
  await release()
  expect(await head()).toBe(6)
  expect(state.requests.map(({ number }) => number)).toEqual([6])
})

it('engine/headFetch: an invalid ancestor makes the head INVALID, and keeps the blocks below', async () => {
  const blocks = await blocksOf(4)
  const wrong = { ...at(blocks, 2), stateRoot: at(blocks, 3).stateRoot, gasUsed: 1n }
  const invalid: Payload = { ...wrong, blockHash: hashHeader(headerOfPayload(schedule, wrong)) }
  const { api, release, name, head } = opened([[at(blocks, 1), invalid, at(blocks, 3)]])
  await name(at(blocks, 4))
  await release()
  expect(await head()).toBe(0)
  expect(await api.block(at(blocks, 1).blockHash)).toMatchObject({ header: { number: 1 } })
  expect((await api.forkchoiceUpdated(3, stateOf(at(blocks, 4)), null)).payloadStatus).toMatchObject({
    status: 'INVALID',
    latestValidHash: at(blocks, 1).blockHash,
  })
})

it('engine/headFetch: a fetch that ends early begins again after a pause', async () => {
  const blocks = await blocksOf(3)
  const { clock, state, release, name, head } = opened([blocks.slice(0, 2)])
  state.isFailing = true
  await name(at(blocks, 3))
  await release()
  state.isFailing = false
  expect(await name(at(blocks, 3))).toEqual(syncing)
  expect(state.requests).toHaveLength(1)
  await clock.advanceMs(10_000)
  expect(await name(at(blocks, 3))).toEqual(syncing)
  await release()
  expect(await head()).toBe(3)
})

it.each<[string, (parts: ReturnType<typeof opened>) => void, boolean]>([
  ['without peers', ({ state }) => void Object.assign(state, { count: 0 }), true],
  ['after the node is told to stop', ({ stop }) => stop.abort(), true],
  ['for a hash that no block was sent for', () => {}, false],
])('engine/headFetch: nothing is fetched %s', async (_when, change, isSent) => {
  const blocks = await blocksOf(2)
  const parts = opened([blocks.slice(0, 1)])
  change(parts)
  if (isSent) await parts.api.newPayload(4, { payload: at(blocks, 2) })
  expect(await parts.api.forkchoiceUpdated(3, stateOf(at(blocks, 2)), null)).toEqual(syncing)
  await parts.release()
  expect(parts.state.requests).toEqual([])
  expect(await parts.api.forkchoiceUpdated(3, { head: genesis, safe: zeroHash, finalized: zeroHash }, null)).toMatchObject({
    payloadStatus: { status: 'VALID' },
  })
})
