import { describe, expect, it } from 'vitest'
import { createLog, silentLog } from '#lib/log'
import { createManualClock, settle } from '#test/harness/clock'
import { devnetL1Options } from '#test/harness/l1/devnetL1'
import { devnetFault } from '../faults.ts'
import { startMemoryL1 } from '../memoryL1.ts'
import type { DevnetL1 } from '../ports.ts'
import { mineOnTime } from './miner.ts'

const { genesisTimeSec } = devnetL1Options

async function begin(options: { lateSec?: number; wrap?: (l1: DevnetL1) => DevnetL1; lines?: string[] } = {}) {
  const { lateSec = 0, wrap = (it) => it, lines } = options
  const clock = createManualClock((genesisTimeSec + lateSec) * 1_000)
  const l1 = wrap(await startMemoryL1(devnetL1Options))
  const log = lines ? createLog('info', { write: (line) => void lines.push(line) }) : silentLog
  const abort = new AbortController()
  const running = mineOnTime({ clock, log }, l1, abort.signal)
  running.catch(() => {})
  await settle()
  const number = async () => (await l1.head()).number
  const close = async () => {
    abort.abort()
    await running.catch(() => {})
    await l1[Symbol.asyncDispose]()
  }
  return { clock, l1, running, number, abort, [Symbol.asyncDispose]: close }
}

describe('devnet/l1/miner', () => {
  it('mines block n at genesis + n slots: not before, and once', async () => {
    await using test = await begin()
    expect(await test.number()).toBe(0)
    await test.clock.advanceMs(1_999)
    expect(await test.number()).toBe(0)
    await test.clock.advanceMs(1)
    expect(await test.number()).toBe(1)
    for (let n = 2; n <= 5; n++) {
      await test.clock.advanceMs(2_000)
      expect(await test.l1.head()).toMatchObject({ number: n, timestamp: genesisTimeSec + 2 * n })
    }
  })

  it('catches up on missed slots in bursts, until it is on time', async () => {
    await using test = await begin({ lateSec: 101 })
    const first = await test.number()
    expect(first).toBeLessThanOrEqual(16)
    while ((await test.number()) < 50) await test.clock.advanceMs(50)
    await test.clock.advanceMs(600)
    expect(await test.number()).toBe(50)
    await test.clock.advanceMs(400)
    expect(test.clock.nowMs()).toBeGreaterThanOrEqual((genesisTimeSec + 102) * 1_000)
    expect(await test.number()).toBe(51)
  })

  it('waits when the clock is set back, and catches up when it is set forward', async () => {
    await using test = await begin()
    await test.clock.advanceMs(4_000)
    test.clock.jumpMs(-60_000)
    await test.clock.advanceMs(30_000)
    expect(await test.number()).toBe(2)
    test.clock.jumpMs(60_000)
    await test.clock.advanceMs(10_000)
    expect(await test.number()).toBe(22)
  })

  it('retries when L1 does not respond, and ends when it has ended (DEVNET_L1_ENDED)', async () => {
    const lines: string[] = []
    const faults = [
      devnetFault('DEVNET_L1_SILENT', { method: 'evm_mine', reason: 'no answer' }),
      devnetFault('DEVNET_L1_ENDED', { reason: '' }),
    ]
    await using test = await begin({ lines, wrap: (l1) => ({ ...l1, mine: async () => Promise.reject(faults.shift()) }) })
    await test.clock.advanceMs(2_000)
    expect(lines.join()).toContain('failed to mine')
    await test.clock.advanceMs(1_000)
    await expect(test.running).rejects.toMatchObject({ code: 'DEVNET_L1_ENDED' })
  })

  it('ends when its signal is aborted, and leaves no timer', async () => {
    await using test = await begin()
    await settle()
    test.abort.abort()
    await test.running
    expect(test.clock.waiting).toBe(0)
  })
})
