import type { Clock } from '#lib/clock'

/** Interval between checks of a thread, and number of consecutive unanswered checks after which it is stuck: ten seconds. */
const lookEveryMs = 1_000
const looksUntilStuck = 10

/**
 * Watches whether a thread answers; disposing ends the watch. It counts looks rather than time, so that no thread counts as stuck after the watching
 * thread was blocked or the machine slept.
 * @param ask resolves when the thread has answered; one call is open at a time
 * @param onStuck called once, then the watch ends
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
      ask().then(answered, () => {}) // the end of a thread is handled elsewhere
    }
    timer = clock.after(lookEveryMs, look)
  }
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() }
}
