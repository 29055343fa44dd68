import type { L1Block } from '#derive/ports'

/** Blocks that will be wanted soon, fetched while others are worked on. */
export interface ReadAhead {
  /** The answer for a number that is under way or done, once; undefined when nobody has begun. */
  take(number: number, signal: AbortSignal): Promise<L1Block | undefined> | undefined
  /** Begins with the numbers from..to that are not under way, and forgets all others. */
  want(from: number, to: number): void
  /** Ends and forgets all that is under way or done. */
  clear(): void
}

type Entry = { readonly answer: Promise<L1Block | undefined>; readonly abort: AbortController }

/** The answer; the caller's signal ends it too. The signal lives longer than the answer, so it is let go of afterwards. */
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

/**
 * @param fetchBlock fails as it likes: what failed is not kept, so the next call for the number asks anew and sees the reason
 */
export function createReadAhead(fetchBlock: (number: number, signal: AbortSignal) => Promise<L1Block | undefined>): ReadAhead {
  const entries = new Map<number, Entry>()

  function begin(number: number): void {
    const abort = new AbortController()
    const answer = fetchBlock(number, abort.signal)
    const entry: Entry = { answer, abort }
    entries.set(number, entry)
    // neither a failure nor "not there yet" is worth keeping
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
