import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { type Clock, systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { filledChain, settingsOf, viewOf } from '#test/harness/executionPeers/nodes'
import { configNow } from '#test/harness/p2p/chain'
import type { ChainView } from '#types/chainView'
import { ExecutionPeers } from './executionPeers.ts'
import { executionPeersMetrics } from './metrics.ts'
import type { ExecutionPeersSettings } from './thread/protocol.ts'

const config = configNow(5_000, Date.now())
const chain = filledChain(config, 1, 20)

function open(clock: Clock, view: () => ChainView, more: Partial<ExecutionPeersSettings> = {}): Promise<ExecutionPeers> {
  const metrics = executionPeersMetrics.register(new Registry())
  return ExecutionPeers.open({ clock, log: silentLog, metrics, view }, settingsOf(config, more))
}

it('executionPeers: names the UDP port that is taken (EXECUTION_P2P_PORT)', async () => {
  const taken = createSocket('udp4')
  taken.bind(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address()
  const opened = open(systemClock, () => viewOf(config, chain), { hasDiscovery: true, port })
  await expect(opened).rejects.toMatchObject({ code: 'EXECUTION_P2P_PORT', severity: 'fatal' })
  taken.close()
})

it('executionPeers: a view that cannot be opened is read again later', async () => {
  const clock = createManualClock()
  let reads = 0
  let isFailing = false
  await using _peers = await open(clock, () => {
    reads++
    if (isFailing) throw new Error('the store is busy')
    return viewOf(config, chain)
  })
  isFailing = true
  await clock.advanceMs(2_000)
  expect(reads).toBe(3)
})

it('executionPeers: ends a request for ancestors at its signal, and frees its place', async () => {
  await using peers = await open(systemClock, () => viewOf(config, chain))
  const newest = { blockNumber: 20, parentHash: chain[18]?.blockHash ?? expect.fail('no block') }
  for (let i = 0; i < 3; i++) {
    const stop = new AbortController()
    const slices = peers.ancestors(newest, 5, 1, stop.signal)
    const first = slices.next()
    setImmediate(() => stop.abort(new Error('the node stops')))
    await expect(first).rejects.toThrow('the node stops')
  }
})
