import type { Journal, JournalRecord, Kv, KvReader, KvWriter } from '#store/ports'

/** Simulates the end of the process. */
export class Killed extends Error {}

/**
 * Counts durable effects and simulates a kill before or after one of them: later effects do not happen.
 * @param at index of the effect, from 0
 */
export class Fate {
  readonly #at: number
  readonly #when: 'before' | 'after'
  #effects = 0
  #isDead = false

  constructor(at = Number.POSITIVE_INFINITY, when: 'before' | 'after' = 'before') {
    this.#at = at
    this.#when = when
  }

  get isDead(): boolean {
    return this.#isDead
  }

  effect<T>(run: () => T): T {
    if (this.#isDead) throw new Killed()
    const isNow = this.#effects++ === this.#at
    if (isNow && this.#when === 'before') this.die()
    const result = run()
    if (isNow) this.die()
    return result
  }

  /** Kills the process now. */
  die(): never {
    this.#isDead = true
    throw new Killed()
  }
}

export function mortalKv(kv: Kv, fate: Fate): Kv {
  return {
    write: <T>(run: (tx: KvWriter) => T): T => fate.effect(() => kv.write(run)),
    snapshot: (): KvReader & Disposable => kv.snapshot(),
    freeBytes: () => kv.freeBytes(),
    [Symbol.asyncDispose]: () => kv[Symbol.asyncDispose](),
  }
}

export function mortalJournal(journal: Journal, fate: Fate): Journal {
  return {
    records: () => journal.records(),
    read: (place) => journal.read(place),
    get segment(): number {
      return journal.segment
    },
    get sizeBytes(): number {
      return journal.sizeBytes
    },
    append: (record: JournalRecord) => fate.effect(() => journal.append(record)),
    rotate: () => fate.effect(() => journal.rotate()),
    drop: (segment) => fate.effect(() => journal.drop(segment)),
    [Symbol.dispose]: () => journal[Symbol.dispose](),
  }
}
