import { expect, it } from 'vitest'
import { executionFault } from '#block/faults'
import { chainFault } from '#chainspec/faults'
import { evmFault } from '#evm/faults'
import { storeFault } from '#store/faults'
import { openExecution } from '#test/contract/engine'
import { attributesAt, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { busyFault } from '#test/harness/engine/engine'
import { zeroHash } from '#types/ids'
import { createEngineApi, type EngineApi } from './engineApi.ts'
import { encodeAttributes } from './payloadJson.ts'
import type { Engine } from './port.ts'

const schedule = scheduleTo('jovian')
const chain = smallChain(schedule)
const atGenesis = { head: chain.config.genesis.l2.hash, safe: zeroHash, finalized: zeroHash }

/** Engine API over an engine whose method fails from `break` on. */
function opened(method: keyof Engine, fault: Error) {
  const execution = openExecution(chain)
  let isBroken = false
  const failed: string[] = []
  const of = <K extends keyof Engine>(name: K): Engine[K] =>
    (async (...args: never[]) => {
      if (isBroken && name === method) throw fault
      return await (execution[name] as (...args: never[]) => Promise<unknown>).apply(execution, args)
    }) as Engine[K]
  const engine: Engine = {
    ...{ insert: of('insert'), build: of('build'), setHeads: of('setHeads') },
    ...{ heads: of('heads'), payload: of('payload'), storageRoot: of('storageRoot') },
  }
  const onFailed = ({ code }: { code: string }): void => void failed.push(code)
  return {
    api: createEngineApi({ engine, config: chain.config, clock: createManualClock(), onFailed }),
    failed,
    break: () => {
      isBroken = true
    },
  }
}

const build = async (api: EngineApi): Promise<string> => {
  const { payloadId } = await api.forkchoiceUpdated(3, atGenesis, encodeAttributes(attributesAt(schedule, 1)))
  return payloadId ?? expect.fail('no payload id')
}
const callOf: Readonly<Record<'insert' | 'setHeads' | 'payload' | 'build', (api: EngineApi, id: string) => Promise<unknown>>> = {
  insert: async (api, id) => await api.newPayload(4, { payload: await api.getPayload(4, id as `0x${string}`) }),
  setHeads: (api) => api.forkchoiceUpdated(3, atGenesis, null),
  payload: (api) => api.forkchoiceUpdated(3, { ...atGenesis, head: `0x${'11'.repeat(32)}` as typeof zeroHash }, null),
  build: (api) => api.forkchoiceUpdated(3, atGenesis, encodeAttributes(attributesAt(schedule, 1, [], 9))),
}
const methods = ['insert', 'setHeads', 'payload', 'build'] as const

it.each(methods)('engine/engineApi: reports a fatal fault of the execution half in %s (STORE_FAILED)', async (method) => {
  const fault = storeFault('STORE_FAILED', { dir: '/data/chain', reason: 'EIO' })
  const { api, failed, break: fail } = opened(method, fault)
  const id = await build(api)
  fail()
  await expect(callOf[method](api, id)).rejects.toBe(fault)
  expect(failed).toEqual(['STORE_FAILED'])
})

it.each([
  ['attributes that are refused', 'build', executionFault('INVALID_ATTRIBUTES', { timestamp: 1, reason: 'no' }), -38003],
  ['attributes that need too much memory', 'build', evmFault('EVM_TOO_LARGE', {}), -32000],
  ['a block without L1 attributes', 'insert', chainFault('MALFORMED_L1_ATTRIBUTES', { reason: 'no' }), -32000],
  ['a busy execution half', 'insert', busyFault('ENGINE_BUSY', {}), -32000],
] as const)('engine/engineApi: does not report %s as a fault of the execution half', async (_what, method, fault, code) => {
  const { api, failed, break: fail } = opened(method, fault)
  const id = await build(api)
  fail()
  await expect(callOf[method](api, id)).rejects.toMatchObject({ code })
  expect(failed).toEqual([])
})
