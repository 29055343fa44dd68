import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { expect, it, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import type { ExecutionWorker } from '#executionThread/executionThread'
import { silentLog } from '#lib/log'
import { parseMetrics } from '#monitor/metricText'
import { statusFacts } from '#monitor/statusFacts'
import type { SyncProgress } from '#rpc/ports'
import { createManualClock } from '#test/harness/clock'
import { followConfig } from '#test/harness/consensus/follow'
import { blockAt, flashblockAt, messageOf, modelPending } from '#test/harness/flashblocks/messages'
import { type FlashblocksPart, openFlashblocks } from './flashblocksPart.ts'

const until = (check: () => unknown): Promise<void> => vi.waitFor(async () => void (await check()), { timeout: 5_000, interval: 2 })

const denimSec = 2 ** 40

async function open() {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const clock = createManualClock()
  const model = modelPending(blockAt(10))
  const registry = new Registry()
  let headSec = 1
  let sync: SyncProgress | undefined = { starting: 0, current: 10, highest: 99 }
  const execution = {
    pending: model,
    get published() {
      const { head, blocks } = model
      return { heads: { unsafe: { ...head, timestamp: headSec } }, ...(blocks.length > 0 && { pending: { blocks } }) }
    },
  } as unknown as Pick<ExecutionWorker, 'published' | 'pending'>
  const part: FlashblocksPart = openFlashblocks(
    { clock, registry, execution, random: () => 0, log: silentLog, sync: () => sync },
    {
      config: { ...followConfig, schedule: { ...followConfig.schedule, denim: denimSec } },
      flashblocks: { urls: [`ws://127.0.0.1:${(server.address() as AddressInfo).port}`] },
    },
  )
  return {
    ...{ server, clock, model, part },
    reachDenim: (how: 'forward' | 'back' = 'forward') => {
      headSec = how === 'forward' ? denimSec : 1
    },
    publish: () => part.publish(execution.published),
    synced: () => {
      sync = undefined
    },
    async metric(name: string) {
      part.collect()
      return (await registry.getSingleMetric(name)?.get())?.values[0]?.value
    },
    /** Returns what `basalt status` shows of flashblocks. */
    async shown() {
      part.collect()
      const silent = { kind: 'silent', reason: '' } as const
      const metrics = { kind: 'reached', value: parseMetrics(await registry.metrics()) } as const
      return statusFacts({ nowMs: 0, elapsedMs: 0, rpc: silent, ready: silent, metrics, rollupConfig: undefined }).flashblocks
    },
    send: (...at: Parameters<typeof flashblockAt>) => {
      for (const client of server.clients) client.send(messageOf(flashblockAt(...at)))
    },
    async [Symbol.asyncDispose]() {
      part[Symbol.dispose]()
      for (const client of server.clients) client.terminate()
      server.close()
      await once(server, 'close')
    },
  }
}

it('node/parts/flashblocksPart: follows no publisher before the node is synced', async () => {
  await using at = await open()
  await at.clock.advanceMs(10_000)
  expect([at.server.clients.size, at.part.problems()]).toEqual([0, []])
  at.synced()
  await at.clock.advanceMs(500)
  await until(() => expect(at.server.clients.size).toBe(1))
})

it('node/parts/flashblocksPart: reports a silent feed after two block times, until the next flashblock; metrics show both', async () => {
  await using at = await open()
  at.synced()
  await at.clock.advanceMs(500)
  await until(() => expect(at.server.clients.size).toBe(1))
  at.send(11, 0)
  await until(() => expect(at.model.blocks).toHaveLength(1))
  await until(async () => expect(await at.metric('basalt_flashblocks_pending_state')).toBe(1))
  expect(await at.metric('reth_flashblocks_pending_snapshot_height')).toBe(11)
  await at.clock.advanceMs(2_000 * followConfig.blockTimeSec)
  expect(at.part.problems()).toEqual([expect.stringContaining('no fresh pending block')])
  expect([at.model.blocks, await at.metric('basalt_flashblocks_pending_state')]).toEqual([[], 0])
  await at.clock.advanceMs(5)
  await until(() => expect(at.server.clients.size).toBe(1))
  at.send(11, 1)
  await until(() => expect(at.part.problems()).toEqual([]))
  expect(await at.metric('reth_flashblocks_upstream_messages')).toBe(2)
})

it('node/parts/flashblocksPart: closes the feed at the first Denim block, and has no problem without it', async () => {
  await using at = await open()
  at.synced()
  await at.clock.advanceMs(500)
  await until(() => expect(at.server.clients.size).toBe(1))
  at.publish()
  at.reachDenim()
  at.publish()
  await until(() => expect(at.server.clients.size).toBe(0))
  await at.clock.advanceMs(60_000)
  expect([at.server.clients.size, at.part.problems()]).toEqual([0, []])
})

it('node/parts/flashblocksPart: shows no feed in status and metrics after Denim', async () => {
  await using at = await open()
  at.synced()
  await at.clock.advanceMs(500)
  await until(() => expect(at.server.clients.size).toBe(1))
  at.send(11, 0)
  await until(async () =>
    expect(await at.shown()).toMatchObject({ isFresh: true, block: 11, flashblocks: 1, lastMessageSec: 0, publishers: 1 }),
  )
  at.model.setHead(blockAt(11))
  at.reachDenim()
  at.publish()
  await until(() => expect(at.server.clients.size).toBe(0))
  await at.clock.advanceMs(60_000)
  expect(await at.shown()).toEqual({ isFresh: false, block: 0, flashblocks: 0, lastMessageSec: null, publishers: 0 })
  expect(await at.metric('basalt_flashblocks_preconf_age_seconds')).toBeNaN()
  expect(await at.metric('basalt_flashblocks_held_bytes')).toBe(0)
})

it('node/parts/flashblocksPart: opens the feed again when a reorg goes below Denim, and closes it at the next Denim block', async () => {
  await using at = await open()
  at.synced()
  at.reachDenim()
  at.publish()
  await at.clock.advanceMs(500)
  expect(at.server.clients.size).toBe(0)
  at.reachDenim('back')
  at.publish()
  await until(() => expect(at.server.clients.size).toBe(1))
  at.send(11, 0)
  await until(() => expect(at.model.blocks).toHaveLength(1))
  at.reachDenim()
  at.publish()
  await until(() => expect(at.server.clients.size).toBe(0))
  at.part[Symbol.dispose]()
  at.reachDenim('back')
  at.publish()
  await at.clock.advanceMs(60_000)
  expect(at.server.clients.size).toBe(0)
})

it('node/parts/flashblocksPart: opens no feed on a head after Denim', async () => {
  await using at = await open()
  at.reachDenim()
  at.synced()
  await at.clock.advanceMs(60_000)
  expect([at.server.clients.size, at.part.problems()]).toEqual([0, []])
})
