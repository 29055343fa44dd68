import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createLog } from '#lib/log'
import { defaultBackoff } from '#lib/retry'
import { createManualClock } from '#test/harness/clock'
import { consensusMetrics } from './metrics.ts'
import { Resets } from './resets.ts'
import { Waits } from './waits.ts'

const { signal } = new AbortController()

it('consensus/resets: repeated resets for one reason are a wait that names it, with one log line', async () => {
  const clock = createManualClock()
  const lines: Record<string, unknown>[] = []
  const log = createLog('warn', { write: (line) => void lines.push(JSON.parse(line)) })
  const metrics = consensusMetrics.register(new Registry())
  const waits = new Waits({ clock, log, metrics })
  const resets = new Resets({ clock, random: () => 0, log, metrics, waits }, defaultBackoff)
  async function reset(reason: string): Promise<void> {
    resets.want('engine', reason)
    const paused = resets.pause(signal)
    await clock.advanceMs(10_000)
    await paused
    resets.done()
  }
  const told = (reason: string): number => lines.filter((line) => line['msg'] === 'derivation reset' && line['reason'] === reason).length
  for (let again = 0; again < 50; again++) await reset('block 7 is final here')
  expect(told('block 7 is final here')).toBe(1)
  expect(resets.count).toBe(50)
  expect(waits.current).toMatchObject([{ reason: 'reset', isOverdue: true, fault: { code: 'RESETS_IN_VAIN' } }])
  expect(waits.current[0]?.fault?.message).toContain('block 7 is final here')
  await reset('another one')
  resets.progressed()
  await reset('another one')
  expect(told('another one')).toBe(2)
})
