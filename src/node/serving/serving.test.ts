import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { ForkGate } from '#consensus/forkGate'
import { consensusMetrics } from '#consensus/metrics'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { openExecution } from '#test/contract/engine'
import { attributesAt, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import type { Payload } from '#types/payload'
import type { NodeOptions } from '../nodeOptions.ts'
import { rollupServing } from './serving.ts'

const schedule = scheduleTo('jovian')
const chain = smallChain(schedule)

async function firstPayload(): Promise<Payload> {
  const maker = openExecution(chain)
  const built = await maker.build((await maker.heads()).unsafe, attributesAt(schedule, 1))
  return built.kind === 'built' ? built.payload : expect.fail(built.reason)
}

/** The operator's methods, over an inbox that records every payload. */
function adminOf(config: object = chain.config) {
  const taken: Payload[] = []
  const inbox = {
    insert: async ([payload]: readonly Payload[]) => {
      if (payload) taken.push(payload)
      return { kind: 'inserted' }
    },
  }
  const forks = new ForkGate(
    { clock: systemClock, log: silentLog, metrics: consensusMetrics.register(new Registry()) },
    { config: config as RollupConfig },
  )
  const deps = { consensus: { inbox, forks }, log: silentLog, signal: new AbortController().signal }
  const { admin: { admin } = expect.fail() } = rollupServing(deps as never, { config, version: '1', isAdminOn: true } as NodeOptions)
  return { admin, taken, forks }
}
const without = (payload: Payload, field: keyof Payload): Payload => {
  const { [field]: _left, ...rest } = payload
  return rest as Payload
}

it('node/serving/serving: inserts a payload posted by an operator when its hash is right', async () => {
  const { admin, taken } = adminOf()
  const payload = await firstPayload()
  expect(await admin.postUnsafePayload(payload)).toEqual({ kind: 'inserted' })
  expect(taken).toEqual([payload])
})

it.each<[string, (payload: Payload) => Payload, RegExp]>([
  ['another hash', (payload) => ({ ...payload, gasUsed: payload.gasUsed + 1n }), /does not hash to/],
  ['a field of its fork missing', (payload) => without(payload, 'parentBeaconBlockRoot'), /parentBeaconBlockRoot is missing/],
  ['a missing field that later fields need', (payload) => without(payload, 'blobGasUsed'), /blobGasUsed is missing/],
])('node/serving/serving: refuses a payload with %s and does not insert it', async (_case, change, reason) => {
  const { admin, taken } = adminOf()
  expect(await admin.postUnsafePayload(change(await firstPayload()))).toEqual({ kind: 'refused', reason: expect.stringMatching(reason) })
  expect(taken).toEqual([])
})

it('node/serving/serving: names the fork when it refuses a payload past an unsupported fork', async () => {
  const { admin, taken, forks } = adminOf()
  forks.publish({ times: [...Array<number>(14).fill(0), 1] })
  expect(await admin.postUnsafePayload(await firstPayload())).toEqual({
    kind: 'refused',
    reason: expect.stringMatching(/fork 14 of the schedule on L1/),
  })
  expect(taken).toEqual([])
})
