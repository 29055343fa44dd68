import { expect, it } from 'vitest'
import { createLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { createEngineSilence } from './engineSilence.ts'

function create() {
  const clock = createManualClock()
  const lines: Record<string, unknown>[] = []
  const silence = createEngineSilence({ clock, log: createLog('info', { write: (line) => void lines.push(JSON.parse(line)) }) })
  return { clock, silence, told: () => lines.splice(0).map(({ level, msg }) => [level, msg]), lines }
}

it('node/parts/engineSilence: logs one line when the other half goes silent, and one when it calls again', async () => {
  const { clock, silence, told, lines } = create()
  silence.called()
  expect(told()).toEqual([['info', 'first call of a consensus half']])
  for (let call = 0; call < 10; call++) {
    await clock.advanceMs(5_000)
    silence.called()
  }
  await clock.advanceMs(29_999)
  expect(told()).toEqual([])
  await clock.advanceMs(120_000)
  expect(told()).toEqual([['warn', 'consensus half silent']])
  silence.called()
  silence.called()
  expect(lines).toMatchObject([{ level: 'info', msg: 'consensus half calls again', seconds: 150 }])
  lines.splice(0)
  await clock.advanceMs(31_000)
  expect(told()).toEqual([['warn', 'consensus half silent']])
  silence[Symbol.dispose]()
})

it('node/parts/engineSilence: a half that waits for the answer to its call is not silent', async () => {
  const { clock, silence, told } = create()
  const watch = { silentMs: 0 }
  silence.follow(() => watch.silentMs)
  silence.called()
  await clock.advanceMs(90_000)
  watch.silentMs = 29_000
  await clock.advanceMs(30_000)
  expect(told()).toEqual([['info', 'first call of a consensus half']])
  watch.silentMs = 30_000
  await clock.advanceMs(1_000)
  expect(told()).toEqual([['warn', 'consensus half silent']])
  silence[Symbol.dispose]()
})

it('node/parts/engineSilence: logs once that no half called; leaves no timer after its end', async () => {
  const { clock, silence, told } = create()
  await clock.advanceMs(90_000)
  expect(told()).toEqual([['warn', 'no consensus half has called since the start']])
  silence.called()
  expect(told()).toEqual([['info', 'first call of a consensus half']])
  silence[Symbol.dispose]()
  expect(clock.waiting).toBe(0)
})

it('node/parts/engineSilence: logs refused tokens once a minute, with their number', async () => {
  const { clock, silence, lines } = create()
  for (let second = 0; second < 20; second++) {
    silence.refused('different secrets')
    await clock.advanceMs(1_000)
  }
  expect(lines).toMatchObject([{ level: 'warn', msg: 'token on the engine port refused', reason: 'different secrets', refusals: 1 }])
  await clock.advanceMs(40_000)
  silence.refused('an old token')
  expect(lines.slice(1)).toMatchObject([
    { msg: 'no consensus half has called since the start' },
    { msg: 'token on the engine port refused', refusals: 20 },
  ])
  silence[Symbol.dispose]()
})
