import type { Clock } from '#lib/clock'

/** Between two looks at a thread, and how many in a row may pass without its answer: ten seconds. */
const lookEveryMs = 1_000
const looksUntilStuck = 10

/**
 * Watches whether a thread still answers; disposing of it ends the watch. Looks are counted, not time: while the watching thread is held up
 * itself, or the machine sleeps, nobody is blamed.
 * @param ask resolves when the thread has answered; one question is open at a time
 * @param onStuck called once, then the watch is over
 */
export function startWatchdog(clock: Clock, ask: () => Promise<unknown>, onStuck: () => void): Disposable {
  let isOpen = false
  let missed = 0
  let timer = clock.after(lookEveryMs, look)
  const answered = (): void => {
    isOpen = false
    missed = 0
  }
  function look(): void {
    if (isOpen) missed++
    if (missed >= looksUntilStuck) {
      onStuck()
      return
    }
    if (!isOpen) {
      isOpen = true
      ask().then(answered, () => {}) // a thread that is gone is somebody else's
    }
    timer = clock.after(lookEveryMs, look)
  }
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() }
}
