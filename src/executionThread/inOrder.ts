/**
 * Returns a function that passes items on one after the other. An item that arrives while another one is passed on waits: a listener that takes a view may take the
 * next record from the port.
 */
export function inOrder<T>(pass: (item: T) => void): (item: T) => void {
  const waiting: T[] = []
  let isPassing = false
  return (item) => {
    waiting.push(item)
    if (isPassing) return
    isPassing = true
    try {
      while (waiting.length > 0) pass(waiting.shift() as T)
    } finally {
      isPassing = false
    }
  }
}
