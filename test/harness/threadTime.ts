/** Time of this thread on a processor, in ms: other threads and processes do not count. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Longest time on a processor between two turns of this thread's event loop, until it is asked for. */
export function watchTurns(): { longestMs(): number } {
  let longest = 0
  let last = threadCpuMs()
  let isOver = false
  const beat = (): void => {
    const now = threadCpuMs()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(beat)
  }
  setImmediate(beat)
  return {
    longestMs(): number {
      isOver = true
      return longest
    },
  }
}
