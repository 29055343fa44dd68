import { expect, it } from 'vitest'
import type { EngineApi, PayloadStatus } from '#engine/engineApi'
import { createManualClock } from '#test/harness/clock'
import type { ChainView } from '#types/chainView'
import { type Hash, zeroHash } from '#types/ids'
import { createEngineWatch } from './engineWatch.ts'

const state = { head: zeroHash as Hash, safe: zeroHash as Hash, finalized: zeroHash as Hash }

function watched(status: PayloadStatus['status']) {
  const clock = createManualClock()
  const answer = { status, latestValidHash: zeroHash, validationError: '' } as PayloadStatus
  const scripted: { is: PayloadStatus | Error } = { is: answer }
  const given = (): PayloadStatus => {
    if (scripted.is instanceof Error) throw scripted.is
    return scripted.is
  }
  const api = {
    newPayload: async () => given(),
    forkchoiceUpdated: async () => ({ payloadStatus: given(), payloadId: undefined }),
  } as unknown as EngineApi
  let head = 5
  const watch = createEngineWatch({ api, clock }, () => head)
  const say = (next: PayloadStatus['status'] | Error): void => {
    scripted.is = next instanceof Error ? next : ({ ...answer, status: next } as PayloadStatus)
  }
  return { clock, watch, say, grow: (to: number) => (head = to) }
}
const payloadOf = (blockNumber: number) => ({ payload: { blockNumber } }) as never

it('node/parts/engineWatch: is behind from a forkchoice with an unknown head until one with a known head', async () => {
  const { watch, say, grow } = watched('SYNCING')
  expect(watch.behind()).toBeUndefined()
  await watch.api.newPayload(3, payloadOf(40))
  expect(watch.sync()).toBeUndefined()
  await watch.api.forkchoiceUpdated(3, state, undefined)
  expect(watch.sync()).toEqual({ starting: 5, current: 5, highest: 40 })
  expect(watch.behind()).toEqual({ starting: 5, current: 5, highest: 40 })
  grow(41)
  expect(watch.sync()).toEqual({ starting: 5, current: 41, highest: 41 })
  say('VALID')
  await watch.api.forkchoiceUpdated(3, state, undefined)
  expect(watch.sync()).toBeUndefined()
})

it.each<[string, (say: (next: PayloadStatus['status'] | Error) => void) => void]>([
  ['invalid', (say) => say('INVALID')],
  ['not executed', (say) => say(new Error('the disk is full'))],
])(
  'node/parts/engineWatch: names a payload above the head that was %s, until the head reaches it or another one is taken',
  async (_how, fail) => {
    const { watch, say, grow } = watched('VALID')
    const insert = (number: number) => watch.api.newPayload(3, payloadOf(number)).catch(() => {})
    fail(say)
    await insert(5)
    expect(watch.refused()).toBeUndefined()
    await insert(6)
    expect(watch.refused()).toEqual({ number: 6, head: 5 })
    await insert(7)
    expect(watch.refused()).toEqual({ number: 7, head: 5 })
    say('VALID')
    await insert(6)
    expect(watch.refused()).toBeUndefined()
    fail(say)
    await insert(7)
    grow(7)
    expect(watch.refused()).toBeUndefined()
  },
)

it('node/parts/engineWatch: counts every call and every view of the other half as a sign of life', async () => {
  const { watch, clock } = watched('VALID')
  expect(watch.silentMs()).toBeUndefined()
  await watch.api.newPayload(3, payloadOf(6))
  await clock.advanceMs(30_000)
  expect(watch.silentMs()).toBe(30_000)
  const chain = watch.heard({ view: () => ({}) as ChainView, sync: () => undefined })
  chain.sync()
  expect(watch.silentMs()).toBe(30_000)
  chain.view()
  expect(watch.silentMs()).toBe(0)
})

it('node/parts/engineWatch: does not count the other half as silent while it waits for an answer', async () => {
  const clock = createManualClock()
  const answer = Promise.withResolvers<PayloadStatus>()
  const watch = createEngineWatch({ api: { newPayload: () => answer.promise } as unknown as EngineApi, clock }, () => 5)
  const call = watch.api.newPayload(3, payloadOf(6))
  await clock.advanceMs(40_000)
  expect(watch.silentMs()).toBe(0)
  answer.resolve({ status: 'VALID', latestValidHash: zeroHash } as PayloadStatus)
  await call
  expect(watch.silentMs()).toBe(0)
  await clock.advanceMs(40_000)
  expect(watch.silentMs()).toBe(40_000)
})

it('node/parts/engineWatch: is syncing while its oldest call has had no answer for more than 4 s', async () => {
  const clock = createManualClock()
  const answers = [Promise.withResolvers<PayloadStatus>(), Promise.withResolvers<PayloadStatus>()] as const
  const given = { status: 'VALID', latestValidHash: zeroHash } as PayloadStatus
  let at = 0
  const api = { newPayload: () => (at++ === 0 ? answers[0] : answers[1]).promise } as unknown as EngineApi
  const watch = createEngineWatch({ api, clock }, () => 5)
  const first = watch.api.newPayload(3, payloadOf(6))
  await clock.advanceMs(3_000)
  const second = watch.api.newPayload(3, payloadOf(7))
  await clock.advanceMs(1_000)
  expect([watch.unansweredMs(), watch.sync()]).toEqual([4_000, undefined])
  await clock.advanceMs(1)
  expect([watch.unansweredMs(), watch.sync()]).toEqual([4_001, { starting: 5, current: 5, highest: 5 }])
  answers[0].resolve(given)
  await first
  expect([watch.unansweredMs(), watch.sync()]).toEqual([1_001, undefined])
  answers[1].resolve(given)
  await second
  expect(watch.unansweredMs()).toBe(0)
})

it('node/parts/engineWatch: is syncing without a consensus half, at the start and after half a minute; not behind', async () => {
  const { watch, clock, grow } = watched('VALID')
  expect(watch.sync()).toEqual({ starting: 5, current: 5, highest: 5 })
  await watch.api.newPayload(3, payloadOf(6))
  grow(6)
  expect(watch.sync()).toBeUndefined()
  await clock.advanceMs(30_000)
  expect(watch.sync()).toBeUndefined()
  await clock.advanceMs(1)
  expect([watch.sync(), watch.behind()]).toEqual([{ starting: 5, current: 6, highest: 6 }, undefined])
  await watch.api.forkchoiceUpdated(3, state, undefined)
  expect(watch.sync()).toBeUndefined()
})
