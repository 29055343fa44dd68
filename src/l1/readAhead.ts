import type { L1Block } from '#derive/ports'

/** Fetches the next blocks while earlier blocks are processed. */
export interface ReadAhead {
  /** Returns the pending or complete fetch of a number and removes it; undefined when there is none. */
  take(number: number, signal: AbortSignal): Promise<L1Block | undefined> | undefined
  /** Starts to fetch the numbers from..to that are not pending or complete, and drops all others. */
  want(from: number, to: number): void
  /** Aborts and drops all fetches. */
  clear(): void
}

type Entry = { readonly answer: Promise<L1Block | undefined>; readonly abort: AbortController }

/** Returns the answer of a fetch; the caller's signal aborts it. The listener is removed afterwards, because the signal outlives the answer. */
async function untilAborted({ answer, abort }: Entry, signal: AbortSignal): Promise<L1Block | undefined> {
  const end = (): void => abort.abort(signal.reason)
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  try {
    return await answer
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** @param fetchBlock may reject; a failed fetch is dropped, so that the caller's own request reports the error */
export function createReadAhead(fetchBlock: (number: number, signal: AbortSignal) => Promise<L1Block | undefined>): ReadAhead {
  const entries = new Map<number, Entry>()

  function begin(number: number): void {
    const abort = new AbortController()
    const answer = fetchBlock(number, abort.signal)
    const entry: Entry = { answer, abort }
    entries.set(number, entry)
    // drops failures, and blocks that do not exist yet
    const forget = (): void => {
      if (entries.get(number) === entry) entries.delete(number)
    }
    answer.then((block) => {
      if (block === undefined) forget()
    }, forget)
  }

  function drop(number: number, { abort }: Entry): void {
    entries.delete(number)
    abort.abort()
  }

  return {
    take(number, signal): Promise<L1Block | undefined> | undefined {
      const entry = entries.get(number)
      entries.delete(number)
      return entry && untilAborted(entry, signal)
    },
    want(from, to): void {
      for (const [number, entry] of entries) if (number < from || number > to) drop(number, entry)
      for (let number = from; number <= to; number++) if (!entries.has(number)) begin(number)
    },
    clear(): void {
      for (const [number, entry] of entries) drop(number, entry)
    },
  }
}
