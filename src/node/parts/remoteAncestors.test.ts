import { expect, it } from 'vitest'
import type { Heads } from '#engine/port'
import { createManualClock, settle } from '#test/harness/clock'
import { blockOf, configNow } from '#test/harness/p2p/chain'
import { createRemoteAncestors } from './remoteAncestors.ts'

const block = blockOf(configNow(1_000, 1_700_000_000_000), 300)

/** A source over an execution half whose head a test sets. */
function opened(name = 'basalt') {
  const clock = createManualClock()
  const half = { head: 0, calls: 0 }
  const engine = {
    clientName: async () => name,
    nameHead: async (): Promise<boolean> => ++half.calls > 0 && half.head >= block.blockNumber - 1,
    heads: async (): Promise<Heads> => ({ unsafe: { number: half.head } }) as Heads,
  }
  const source = createRemoteAncestors(engine, clock)
  const stop = new AbortController()
  const run = async (): Promise<number> => {
    let slices = 0
    for await (const _ of source.ancestors(block, 0, 0, stop.signal)) slices++
    return slices
  }
  return { clock, half, source, stop, run }
}

it('node/parts/remoteAncestors: names a block until the execution half has its ancestors, as long as blocks arrive', async () => {
  const { clock, half, source, run } = opened()
  const running = run()
  for (half.head = 20; half.head < block.blockNumber - 1; half.head += 20) await clock.advanceMs(9_000)
  await clock.advanceMs(500)
  expect(await running).toBe(0)
  expect(half.calls).toBeGreaterThan(15)
  expect(source.count).toBe(1)
})

it('node/parts/remoteAncestors: gives up when no block arrives for 10 s, and is of no use for a minute', async () => {
  const { clock, source, run } = opened()
  const running = run()
  await clock.advanceMs(9_000)
  expect(source.count).toBe(1)
  await clock.advanceMs(1_500)
  expect(await running).toBe(0)
  expect(source.count).toBe(0)
  await clock.advanceMs(60_000)
  expect(source.count).toBe(1)
})

it('node/parts/remoteAncestors: ends with its signal', async () => {
  const { stop, run } = opened()
  const running = run()
  const ended = expect(running).rejects.toThrow('stop')
  await settle()
  stop.abort(new Error('stop'))
  await ended
})

it('node/parts/remoteAncestors: names no block to another client', async () => {
  const { half, source, run } = opened('geth')
  expect(await run()).toBe(0)
  expect(half.calls).toBe(0)
  expect(source.count).toBe(0)
})
