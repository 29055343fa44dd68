import { expect, it } from 'vitest'
import { createExecution } from '#blockchain/execution'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { createWasmEvm } from '#evm/wasmEvm'
import { silentLog } from '#lib/log'
import { ethRegistry } from '#rpc/methods'
import { attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { flashblocksOf } from '#test/harness/flashblocks/flashblocks'
import { takeNext } from '#test/harness/flashblocks/takeNext'
import { readResult } from '#test/harness/rpc/result'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { zeroHash } from '#types/ids'
import { createEthContext } from './ethContext.ts'
import { createHeadFeed } from './headFeed.ts'

const schedule = scheduleTo('jovian', { beryl: 2 ** 40 })
const { genesis, config } = smallChain(schedule)
/** The config of execution: traces read nothing else. */
const rollup = config as unknown as RollupConfig
const clock = createManualClock()
const open = () => createExecution({ kv: createMemoryKv(), evm: createWasmEvm(), config, genesis: () => genesis, clock, log: silentLog })

it('node/serving: traces of a pending block have a zero block hash with every tracer', async () => {
  const maker = open()
  const built = await maker.build(config.genesis.l2, attributesAt(schedule, 1, [signedBy('alice', {})]))
  if (built.kind === 'invalid') throw new Error(built.reason)
  await maker.insert(built.payload)
  const execution = open()
  const heads = createHeadFeed(() => execution.view())
  for (const flashblock of flashblocksOf(maker, built.payload, [])) await takeNext(execution, flashblock)
  heads.publish(execution.published)
  const eth = createEthContext({ execution, config: rollup, clock, heads, version: '0.0.0', sync: () => undefined })
  const ask = async <T>(method: string, ...params: unknown[]): Promise<T> =>
    readResult<T>(await (ethRegistry.get(method) ?? expect.fail(method)).call({ ...eth, cancellation: { isCancelled: false } }, params))
  const [parity] = await ask<{ blockHash: string }[]>('trace_block', 'pending')
  const [flat] = await ask<{ result: { blockHash: string }[] }[]>('debug_traceBlockByNumber', 'pending', { tracer: 'flatCallTracer' })
  expect([parity?.blockHash, flat?.result[0]?.blockHash]).toEqual([zeroHash, zeroHash])
})
