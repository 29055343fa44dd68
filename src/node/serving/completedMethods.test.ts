import { expect, it } from 'vitest'
import { MissingState, type WantedState } from '#evm/ports'
import type { Result } from '#rpc/json'
import type { Method, Registry } from '#rpc/registry'
import { createManualClock } from '#test/harness/clock'
import { withCompletion } from './completedMethods.ts'

const partOf = (n: number): WantedState => ({ kind: 'blockHash', number: n })

/** Registry with a method that reads the parts 0 to 2, of which some are there. */
function reading(run: (read: () => Result) => Result | Promise<Result>) {
  const stored = new Set<number>()
  const wanted: WantedState[] = []
  const read = (): Result => {
    for (let n = 0; n < 3; n++) if (!stored.has(n)) throw new MissingState(partOf(n))
    return 'done'
  }
  const method = { name: 'm', cost: 'point-read', call: () => run(read) } as unknown as Method<undefined>
  const waits: number[] = []
  const clock = createManualClock()
  const complete = async (part: WantedState, withinMs: number): Promise<void> => {
    await clock.advanceMs(1_000)
    waits.push(withinMs)
    wanted.push(part)
    if (part.kind === 'blockHash') stored.add(part.number)
  }
  const registryWith = (by: typeof complete): Registry<undefined> => withCompletion(new Map([['m', method]]), clock, by)
  const call = (by = complete): Result | Promise<Result> | undefined => registryWith(by).get('m')?.call(undefined, [])
  return { stored, wanted, waits, call }
}

it.each([
  ['synchronous', (read: () => Result): Result => read()],
  ['asynchronous', async (read: () => Result): Promise<Result> => read()],
])('node/completedMethods: a %s call waits for each part that it lacks', async (_what, run) => {
  const { call, wanted, waits } = reading(run)
  expect(await call()).toBe('done')
  expect(wanted).toEqual([0, 1, 2].map(partOf))
  expect(waits).toEqual([4_000, 3_000, 2_000])
})

it('node/completedMethods: a synchronous call that lacks nothing stays synchronous', () => {
  const { call, stored } = reading((read) => read())
  for (let n = 0; n < 3; n++) stored.add(n)
  expect(call()).toBe('done')
})

it('node/completedMethods: a part that cannot be fetched is the error of the call; other errors pass', async () => {
  const { call } = reading((read) => read())
  const failure = new Error('no source')
  await expect(call(async () => Promise.reject(failure))).rejects.toBe(failure)
  const broken = reading(() => {
    throw failure
  })
  expect(() => broken.call()).toThrow(failure)
})
