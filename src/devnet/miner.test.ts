import { expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import type { Hash } from '#types/ids'
import { createMiner } from './miner.ts'

const genesisTimeSec = 1_700_000_000

/** An L1 that writes down what it is told to do. */
function scriptedL1(head = 0) {
  const asked: string[] = []
  const l1 = {
    genesisTimeSec,
    slotSec: 2,
    asked,
    fails: 0,
    number: head,
    head: async () => ({ number: l1.number, hash: '0x' as Hash, timestamp: genesisTimeSec + 2 * l1.number }),
    async mine() {
      if (l1.fails-- > 0) throw new Error('no room')
      asked.push(`mine ${++l1.number}`)
    },
    async reorg(depth: number) {
      asked.push(`reorg ${depth}`)
    },
  }
  return l1
}

it('devnet/miner: block n is mined when its slot comes, those that are late at once', async () => {
  const clock = createManualClock((genesisTimeSec + 5) * 1_000)
  const l1 = scriptedL1()
  const miner = await createMiner({ l1, clock, log: silentLog })
  const stop = new AbortController()
  const running = miner.run(stop.signal)
  await clock.advanceMs(0)
  expect(l1.asked).toEqual(['mine 1', 'mine 2'])
  await clock.advanceMs(999)
  expect(miner.head).toBe(2)
  await clock.advanceMs(1)
  expect(miner.head).toBe(3)
  await clock.advanceMs(4_000)
  expect(miner.head).toBe(5)
  stop.abort()
  await running
  await clock.advanceMs(10_000)
  expect(miner.head).toBe(5)
})

it('devnet/miner: a clock that goes back mines nothing early', async () => {
  const clock = createManualClock(genesisTimeSec * 1_000)
  const l1 = scriptedL1()
  const miner = await createMiner({ l1, clock, log: silentLog })
  void miner.run(new AbortController().signal)
  await clock.advanceMs(1_000)
  clock.jumpMs(-10_000)
  await clock.advanceMs(10_900)
  expect(l1.asked).toEqual([])
  await clock.advanceMs(200)
  expect(l1.asked).toEqual(['mine 1'])
})

it('devnet/miner: an L1 that fails is asked again, and where it is then', async () => {
  const clock = createManualClock((genesisTimeSec + 2) * 1_000)
  const l1 = scriptedL1()
  l1.fails = 2
  const miner = await createMiner({ l1, clock, log: silentLog })
  void miner.run(new AbortController().signal)
  await clock.advanceMs(1_500)
  expect(l1.asked).toEqual([])
  await clock.advanceMs(600)
  expect(l1.asked).toEqual(['mine 1', 'mine 2'])
})

it('devnet/miner: a reorg replaces what there is, never genesis, between two blocks', async () => {
  const clock = createManualClock((genesisTimeSec + 4) * 1_000)
  const l1 = scriptedL1(2)
  const miner = await createMiner({ l1, clock, log: silentLog })
  expect(await miner.reorg(5)).toBe(2)
  void miner.run(new AbortController().signal)
  await clock.advanceMs(2_000)
  expect(await miner.reorg(1)).toBe(1)
  expect(l1.asked).toEqual(['reorg 2', 'mine 3', 'reorg 1'])
  const young = await createMiner({ l1: scriptedL1(0), clock, log: silentLog })
  expect(await young.reorg(1)).toBe(0)
})
