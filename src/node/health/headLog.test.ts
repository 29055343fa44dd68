import { expect, it } from 'vitest'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import { createLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { createHeadLog } from './headLog.ts'

const startSec = 1_700_000_000
const refOf = (number: number, branch = '') => ({ number, hash: `0x${number}${branch}`, timestamp: startSec - 100 + number })

function create(hasDerivation: boolean) {
  const clock = createManualClock(startSec * 1_000)
  const lines: Record<string, unknown>[] = []
  const heads = createHeadLog({ clock, log: createLog('info', { write: (line) => void lines.push(JSON.parse(line)) }) }, { hasDerivation })
  const publish = (unsafe: number, safe: number, branch = ''): void =>
    heads.publish({ heads: { unsafe: refOf(unsafe, branch), safe: refOf(safe), finalized: refOf(0) } } as unknown as HeadRecord)
  return { clock, heads, publish, told: () => lines.splice(0).map(({ level, msg, number, blocks }) => [level, msg, number, blocks]), lines }
}

it('node/health/headLog: logs a moving head once in ten seconds, with the last head; logs nothing while it does not move', async () => {
  const { clock, heads, publish, told, lines } = create(false)
  publish(1, 0)
  expect(told()).toEqual([])
  publish(2, 0)
  expect(lines).toMatchObject([{ level: 'info', msg: 'head', number: 2, hash: '0x2', timestamp: startSec - 98, ageSec: 98, blocks: 1 }])
  lines.splice(0)
  for (let number = 3; number <= 12; number++) {
    publish(number, number)
    await clock.advanceMs(900)
  }
  expect(told()).toEqual([])
  await clock.advanceMs(1_000)
  expect(told()).toEqual([['info', 'head', 12, 10]])
  await clock.advanceMs(60_000)
  publish(12, 5)
  expect(told()).toEqual([])
  publish(12, 5, 'other')
  expect(told()).toEqual([['info', 'head', 12, 0]])
  heads[Symbol.dispose]()
  expect(clock.waiting).toBe(0)
})

it('node/health/headLog: with derivation, logs only heads above the safe head', async () => {
  const { clock, heads, publish, told } = create(true)
  for (let number = 0; number < 30; number++) {
    publish(number, number)
    await clock.advanceMs(1_000)
  }
  expect(told()).toEqual([])
  publish(32, 29)
  expect(told()).toEqual([['info', 'head', 32, 3]])
  publish(33, 29)
  publish(33, 33)
  await clock.advanceMs(10_000)
  expect(told()).toEqual([])
  heads[Symbol.dispose]()
})
