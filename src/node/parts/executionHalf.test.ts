import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import { senderThreadCount } from '#executionThread/senderThreads'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { followConfig } from '#test/harness/consensus/follow'
import { createNodeMemory } from '../memory/nodeMemory.ts'
import { openExecutionHalf } from './executionHalf.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-half-'))
afterAll(() => rmSync(base, { recursive: true }))

const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule)

it('node/parts/executionHalf: counts the senders of a block by the thread that recovered them, and the time of its stages', async () => {
  const registry = new Registry()
  using memory = createNodeMemory({ registry, clock: systemClock }, { listen: {} })
  const deps = { clock: systemClock, log: silentLog, registry, memory, fetch }
  const rollup = { ...followConfig, ...config, genesis: { ...followConfig.genesis, ...config.genesis } }
  const options = { config: rollup, genesis: () => genesis, datadir: base, minFreeBytes: 0, listen: {} }
  await using half = await openExecutionHalf(deps, options)
  const transfers = Array.from({ length: 20 }, (_, nonce) => signedBy('alice', { nonce: BigInt(nonce) }))
  const heads = await half.execution.heads()
  const built = await half.execution.build(heads.unsafe, attributesAt(schedule, 1, transfers))
  if (built.kind === 'invalid') throw new Error(built.reason)
  for (let reading = 0; reading < 2; reading++) {
    half.collect()
    const counts = (await registry.metrics()).matchAll(/^basalt_execution_senders_total\{by="(ready|own)"\} (\d+)$/gm)
    const total = [...counts].reduce((sum, [, , count]) => sum + Number(count), 0)
    expect(total).toBe(senderThreadCount() > 0 ? 20 : 0)
  }
  await half.execution.setHeads({ ...heads, unsafe: l2RefOf(config, built.payload) })
  half.collect()
  const journalled = /^basalt_execution_stage_milliseconds_total\{stage="journal"\} (\S+)$/m.exec(await registry.metrics())
  expect(Number(journalled?.[1])).toBeGreaterThan(0)
})
