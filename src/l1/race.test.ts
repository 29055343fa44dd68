import { expect, it } from 'vitest'
import { createManualClock, settle } from '#test/harness/clock'
import { outrun, type Racer, race } from './race.ts'

const hedgeMs = 100

/** Participants without an answer until `answer` is called. As endpoints do, they resolve with undefined when they are aborted. */
function started(names: readonly string[]) {
  const clock = createManualClock()
  const stop = new AbortController()
  const events: string[] = []
  const answers = new Map<string, (answer: string | undefined) => void>()
  const racers = names.map(
    (name): Racer<string> => ({
      hedgeMs,
      run: (signal) => {
        events.push(`start ${name}`)
        return new Promise((resolve) => {
          answers.set(name, resolve)
          signal.addEventListener('abort', () => {
            events.push(`abort ${name}${signal.reason === outrun ? ', outrun' : ''}`)
            resolve(undefined)
          })
        })
      },
    }),
  )
  const won = race({ clock, mayHedge: () => true }, racers, stop.signal)
  const answer = (name: string, value: string | undefined): void => (answers.get(name) ?? expect.fail(`${name} has not started`))(value)
  return { clock, stop, events, won, answer }
}

it('l1/race: starts the next participant when one has no answer', async () => {
  const { won, answer, events, clock } = started(['a', 'b', 'c'])
  answer('a', undefined)
  await settle()
  answer('b', 'found')
  expect([await won, events]).toEqual(['found', ['start a', 'start b']])
  expect(clock.waiting).toBe(0)
})

it('l1/race: aborts a slow participant when another one has won, and starts no further one', async () => {
  const { clock, won, answer, events } = started(['a', 'b', 'c'])
  await clock.advanceMs(hedgeMs)
  answer('b', 'found')
  expect(await won).toBe('found')
  await settle()
  expect(events).toEqual(['start a', 'start b', 'abort a, outrun'])
})

it('l1/race: starts no further participant after an abort', async () => {
  const { stop, won, events } = started(['a', 'b'])
  stop.abort(new Error('enough'))
  await expect(won).rejects.toThrow('enough')
  await settle()
  expect(events).toEqual(['start a', 'abort a'])
})
