/** Listeners called per turn of the event loop. */
const perTurn = 128
/** Pending rounds beyond which all of them run at once, without yielding. */
const maxWaiting = 1_024

/** Calls all listeners in batches of one turn each, round after round, so that each listener gets all events in order. */
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
