/** A binary heap. `push` and `pop` cost O(log n); `pop` returns the first item in the order. */
export class Heap<T> {
  readonly #items: T[]
  readonly #isBefore: (a: T, b: T) => boolean

  /** @param items initial items in any order; the heap takes ownership of the array */
  constructor(isBefore: (a: T, b: T) => boolean, items: T[] = []) {
    this.#isBefore = isBefore
    this.#items = items
    for (let i = (items.length >> 1) - 1; i >= 0; i--) this.#sink(i)
  }

  get size(): number {
    return this.#items.length
  }

  push(item: T): void {
    const items = this.#items
    let at = items.length
    items.push(item)
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = items[above] as T
      if (!this.#isBefore(item, parent)) break
      items[at] = parent
      at = above
    }
    items[at] = item
  }

  pop(): T | undefined {
    const first = this.#items[0]
    const last = this.#items.pop()
    if (last !== undefined && this.#items.length > 0) {
      this.#items[0] = last
      this.#sink(0)
    }
    return first
  }

  #sink(from: number): void {
    const items = this.#items
    const item = items[from] as T
    let at = from
    for (;;) {
      let below = 2 * at + 1
      if (below >= items.length) break
      if (below + 1 < items.length && this.#isBefore(items[below + 1] as T, items[below] as T)) below++
      const child = items[below] as T
      if (!this.#isBefore(child, item)) break
      items[at] = child
      at = below
    }
    items[at] = item
  }
}
