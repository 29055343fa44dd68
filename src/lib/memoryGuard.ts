import type { CacheSet } from './caches.ts'
import type { Clock } from './clock.ts'
import { createCollector } from './collectGarbage.ts'
import { anonymousBytes } from './processMemory.ts'

/** Use of the memory that a process may have. `high`: it must not grow further; `full`: it must shrink. In ascending order. */
export const memoryLevels = ['normal', 'high', 'full'] as const
export type MemoryLevel = (typeof memoryLevels)[number]

/** Watches the memory of the whole process for one thread. Disposing ends the watch. */
export interface MemoryGuard extends Disposable {
  /** Bound of the process in bytes; Infinity: none. */
  readonly maxBytes: number
  /** Returns the level of the last measurement, which is at most 100 ms old while the event loop turns. */
  level(): MemoryLevel
  /** Calls a listener with each new level until disposed. */
  onChange(listener: (level: MemoryLevel) => void): Disposable
}

export type MemoryGuardDeps = {
  readonly clock: Clock
  /** measures the process; absent: its anonymous memory */
  readonly measure?: () => number
  /** returns garbage of this thread to the system; absent: V8 decides when */
  readonly collect?: (() => void) | undefined
}

/**
 * Shares of the bound at which levels begin and end. A level ends lower than it begins, so that it does not flicker, or after some time below its start:
 * holes in the heap of glibc, which nothing returns, must not keep a level.
 */
const begins = { high: 0.8, full: 0.9 } as const
const ends = { high: 0.72, full: 0.85 } as const
const everyMs = 100
const settledMs = 10_000
/** Shortest pause between collections at a level, and the pause as a multiple of the last collection: they take a twentieth or a fifth of the time. */
const pauses = { normal: { leastMs: 0, factor: 0 }, high: { leastMs: 2_000, factor: 20 }, full: { leastMs: 200, factor: 5 } } as const

/** Returns the level that follows from a measurement. Pure. @param share measured bytes divided by the bound */
export function nextLevel(now: MemoryLevel, share: number): MemoryLevel {
  if (share >= (now === 'full' ? ends.full : begins.full)) return 'full'
  return share >= (now === 'normal' ? begins.high : ends.high) ? 'high' : 'normal'
}

/**
 * Creates the watch of one thread. Every thread measures the process by itself, ten times a second for 50 µs, so none depends on the event loop of
 * another.
 * @param maxBytes bound of the process; Infinity: nothing is measured
 */
export function createMemoryGuard({ clock, measure = anonymousBytes, collect }: MemoryGuardDeps, maxBytes: number): MemoryGuard {
  const listeners = new Set<(level: MemoryLevel) => void>()
  let level: MemoryLevel = 'normal'
  let nextCollectionMs = 0
  /** time since which the measurements are below the start of the level */
  let belowSinceMs = 0
  let timer: Disposable | undefined

  function look(): void {
    const share = measure() / maxBytes
    const nowMs = clock.elapsedMs()
    if (level === 'normal' || share >= begins[level]) belowSinceMs = nowMs
    const next = nextLevel(nowMs - belowSinceMs < settledMs ? level : 'normal', share)
    if (next !== level) {
      belowSinceMs = nowMs
      if (next === 'full') nextCollectionMs = 0
      level = next
      for (const listener of listeners) listener(next)
    }
    // after the listeners: what they dropped is garbage
    const beginMs = clock.elapsedMs()
    if (level === 'normal' || beginMs < nextCollectionMs) return
    collect?.()
    const endMs = clock.elapsedMs()
    const { leastMs, factor } = pauses[level]
    nextCollectionMs = endMs + Math.max(leastMs, factor * (endMs - beginMs))
  }
  function again(): void {
    timer = clock.after(everyMs, () => {
      look()
      again()
    })
  }
  if (maxBytes !== Number.POSITIVE_INFINITY) again()

  return {
    maxBytes,
    level: () => level,
    onChange(listener): Disposable {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    [Symbol.dispose]: () => timer?.[Symbol.dispose](),
  }
}

/** A guard without a bound. */
export const unboundedMemory: MemoryGuard = {
  maxBytes: Number.POSITIVE_INFINITY,
  level: () => 'normal',
  onChange: () => ({ [Symbol.dispose](): void {} }),
  [Symbol.dispose](): void {},
}

/** Share of their bytes that caches have at a level. */
const cacheShareAt: Readonly<Record<MemoryLevel, number>> = { normal: 1, high: 0.25, full: 0 }

/** Creates the watch of a thread. The caches of the thread, if it has any, shrink while memory is short, and its garbage is collected. */
export function createThreadGuard(clock: Clock, maxBytes: number, caches?: Pick<CacheSet<string>, 'limitTo'>): MemoryGuard {
  const guard = createMemoryGuard({ clock, collect: createCollector() }, maxBytes)
  if (caches) guard.onChange((level) => caches.limitTo(cacheShareAt[level]))
  return guard
}
