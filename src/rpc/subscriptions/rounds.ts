/** Listeners that are told something in one turn of the event loop; then others have theirs. */
const perTurn = 128
/** Things to be told that may wait while listeners are told of others; beyond it all are told at once, whoever waits for it. */
const maxWaiting = 1_024

/** Visits all listeners in slices, with one thing after the other: each listener hears them in order. */
export function createRounds<L>(listeners: ReadonlySet<L>): (visit: (listener: L) => void) => void {
  const waiting: Generator<void>[] = []
  function* round(visit: (listener: L) => void): Generator<void> {
    let visited = 0
    for (const listener of listeners) {
      if (visited > 0 && visited % perTurn === 0) yield
      visit(listener)
      visited++
    }
  }
  let isScheduled = false
  function turn(): void {
    while (waiting[0] !== undefined) {
      if (waiting[0].next().done === true) waiting.shift()
      else if (waiting.length <= maxWaiting) {
        schedule()
        return
      }
    }
  }
  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      turn()
    })
  }
  return (visit) => {
    waiting.push(round(visit))
    if (!isScheduled || waiting.length > maxWaiting) turn()
  }
}
