import type { MemoryGuard, MemoryLevel } from '#lib/memoryGuard'

/** A guard of 1,000 bytes whose level a test sets. */
export function scriptedMemory(): MemoryGuard & { set(level: MemoryLevel): void; listeners(): number } {
  const listeners = new Set<(level: MemoryLevel) => void>()
  let now: MemoryLevel = 'normal'
  return {
    maxBytes: 1_000,
    level: () => now,
    onChange(listener): Disposable {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    set(level): void {
      now = level
      for (const listener of listeners) listener(level)
    },
    listeners: () => listeners.size,
    [Symbol.dispose](): void {},
  }
}
