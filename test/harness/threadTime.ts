/** CPU time of this thread in ms, without other threads and processes. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Measures the longest CPU time between two turns of this thread's event loop, until `longestMs` is called. */
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
