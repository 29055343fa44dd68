import type { Clock } from '#lib/clock'

/** Participant of a race. */
export type Racer<T> = {
  /** Resolves with undefined when another participant is needed. Rejects only with errors that end the race. */
  readonly run: (signal: AbortSignal) => Promise<T | undefined>
  /** After this time without an answer, a second participant may start. */
  readonly hedgeMs: number
}

/** Abort reason of a participant that lost the race. */
export const outrun = Symbol('outrun')

type RaceDeps = {
  readonly clock: Clock
  /** Called when a participant is slow and another is available: returns whether it may start. */
  readonly mayHedge: () => boolean
}

/**
 * Runs participants in turn until one has an answer: the next one starts when one has none, or concurrently when it is slow. When the race is over,
 * running participants are aborted.
 * @returns the first answer; undefined when no participant has one
 * @throws the error with which a participant rejects; the signal's reason
 */
export async function race<T>({ clock, mayHedge }: RaceDeps, racers: readonly Racer<T>[], signal: AbortSignal): Promise<T | undefined> {
  signal.throwIfAborted()
  const waiting = [...racers]
  const stops = new Set<AbortController>()
  const { promise, resolve, reject } = Promise.withResolvers<T | undefined>()
  let timer: Disposable | undefined
  let isOver = false

  function next(): void {
    timer?.[Symbol.dispose]()
    if (isOver) return // an aborted participant has ended: nothing would abort another one
    const racer = waiting.shift()
    if (racer !== undefined) start(racer)
    else if (stops.size === 0) resolve(undefined)
  }

  function start(racer: Racer<T>): void {
    const stop = new AbortController()
    stops.add(stop)
    const ended = (answer: T | undefined): void => {
      stops.delete(stop)
      if (answer !== undefined) resolve(answer)
      else if (stops.size === 0) next()
    }
    racer.run(stop.signal).then(ended, reject)
    const isAlone = stops.size === 1 && waiting.length > 0
    if (isAlone) timer = clock.after(racer.hedgeMs, () => (waiting.length > 0 && mayHedge() ? next() : undefined))
  }

  const end = (): void => reject(signal.reason)
  signal.addEventListener('abort', end, { once: true })
  try {
    next()
    return await promise
  } finally {
    isOver = true
    timer?.[Symbol.dispose]()
    signal.removeEventListener('abort', end)
    for (const stop of stops) stop.abort(signal.aborted ? signal.reason : outrun)
  }
}
