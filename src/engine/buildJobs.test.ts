import { expect, it } from 'vitest'
import type { Hex } from '#lib/hex'
import { attributesAt, scheduleTo } from '#test/harness/chain/blocks'
import { createManualClock, settle } from '#test/harness/clock'
import { payloadOf } from '#test/harness/engine/engine'
import { zeroHash } from '#types/ids'
import { BuildJobs } from './buildJobs.ts'
import type { BuildResult } from './port.ts'

const attributes = { ...attributesAt(scheduleTo('jovian'), 1), noTxPool: false }
const payload = payloadOf({ number: 0, hash: zeroHash }, attributes)

/** Jobs whose builds end when they are sealed. */
function start(maxJobs = 8) {
  const clock = createManualClock()
  const jobs = new BuildJobs(maxJobs, clock)
  const sealed: string[] = []
  const begin = (id: string, ended: BuildResult = { kind: 'built', payload }) =>
    jobs.start(id as Hex, attributes, (seal, onForcedExecuted) => {
      onForcedExecuted()
      return new Promise((resolve) => {
        seal.addEventListener('abort', () => {
          sealed.push(id)
          resolve(ended)
        })
      })
    })
  return { clock, jobs, sealed, begin }
}

it('engine/buildJobs: a job is open until it is sealed, and then keeps its payload', async () => {
  const { jobs, sealed, begin } = start()
  const job = begin('a')
  await job.begun
  expect([begin('a'), jobs.get('a' as Hex), sealed]).toEqual([job, job, []])
  job.seal()
  job.seal()
  expect([await job.result, sealed]).toEqual([{ kind: 'built', payload }, ['a']])
  expect(jobs.get('a' as Hex)).toBe(job)
})

it('engine/buildJobs: seals a job after 20 s if its payload is not fetched', async () => {
  const { clock, sealed, begin } = start()
  begin('a')
  await clock.advanceMs(19_999)
  expect(sealed).toEqual([])
  await clock.advanceMs(1)
  expect(sealed).toEqual(['a'])
  expect(clock.waiting).toBe(0)
})

it('engine/buildJobs: seals the oldest open jobs when there are too many', async () => {
  const { sealed, begin, clock } = start()
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) begin(id)
  expect(sealed).toEqual(['a', 'b'])
  await settle()
  expect(clock.waiting).toBe(4)
})

it('engine/buildJobs: a job that is invalid or fails resolves `begun` and is dropped', async () => {
  const { jobs, begin } = start()
  const invalid = begin('a', { kind: 'invalid', reason: 'no' })
  invalid.seal()
  expect(await invalid.result).toEqual({ kind: 'invalid', reason: 'no' })
  const failed = jobs.start('b' as Hex, attributes, () => Promise.reject(new Error('no such block')))
  await expect(failed.result).rejects.toThrow('no such block')
  await failed.begun
  expect([jobs.get('a' as Hex), jobs.get('b' as Hex)]).toEqual([undefined, undefined])
})
