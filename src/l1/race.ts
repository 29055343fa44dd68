import type { Clock } from '#lib/clock'

/** One who may know the answer. */
export type Racer<T> = {
  /** undefined: another one is to be asked. Rejects only with what ends the race. */
  readonly run: (signal: AbortSignal) => Promise<T | undefined>
  /** Without an answer for this long, a second one may be asked beside it. */
  readonly hedgeMs: number
}

/** Why a racer was stopped: another one had the answer. */
export const outrun = Symbol('outrun')

type RaceDeps = {
  readonly clock: Clock
  /** Asked when a racer is slow and another is at hand: whether that one may start. */
  readonly mayHedge: () => boolean
}

/**
 * Asks one racer after another until one answers: the next when one has nothing, or, beside it, when it is slow. Those that are still under way
 * when it is over are stopped.
 * @returns the first answer; undefined when none has any
 * @throws what a racer rejects with; the signal's reason
 */
export async function race<T>({ clock, mayHedge }: RaceDeps, racers: readonly Racer<T>[], signal: AbortSignal): Promise<T | undefined> {
  signal.throwIfAborted()
  const waiting = [...racers]
  const stops = new Set<AbortController>()
  const { promise, resolve, reject } = Promise.withResolvers<T | undefined>()
  let timer: Disposable | undefined

  function next(): void {
    timer?.[Symbol.dispose]()
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
    timer?.[Symbol.dispose]()
    signal.removeEventListener('abort', end)
    for (const stop of stops) stop.abort(signal.aborted ? signal.reason : outrun)
  }
}
