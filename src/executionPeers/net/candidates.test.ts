import { expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import { Candidates } from './candidates.ts'

const at = (host: string) => ({ id: '11'.repeat(64), host, tcpPort: 30_303, udpPort: 30_303 })

it('executionPeers/net/candidates: a found node is dialled at its newest address, after its pause', async () => {
  const clock = createManualClock()
  const candidates = new Candidates(clock)
  candidates.found(at('192.0.2.1'))
  candidates.ended(at('').id, 'failed')
  candidates.found(at('192.0.2.2'))
  expect(candidates.due(() => false)).toEqual([])
  await clock.advanceMs(30_000)
  expect(candidates.due(() => false)).toEqual([{ ...at('192.0.2.2'), kind: 'found' }])
})

it('executionPeers/net/candidates: a named node keeps the address of its operator', () => {
  const candidates = new Candidates(createManualClock())
  candidates.name(at('192.0.2.1'))
  candidates.found(at('192.0.2.2'))
  expect(candidates.due(() => false)).toEqual([{ ...at('192.0.2.1'), kind: 'named' }])
})
