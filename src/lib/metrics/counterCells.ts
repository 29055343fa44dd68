import type { MetricObjectWithValues, MetricValueWithName } from 'prom-client'

/** One series of a counter. */
export type CounterCell = { add(by: number): void }

class Cell implements CounterCell {
  readonly labels: Readonly<Record<string, string>>
  value = 0

  constructor(labels: Readonly<Record<string, string>>) {
    this.labels = labels
  }

  add(by: number): void {
    this.value += by
  }
}

/** `labels`: the values of each label. */
type CounterOf = { readonly name: string; readonly help: string; readonly labels: Readonly<Record<string, readonly string[]>> }

/**
 * A counter whose series are found once and then counted without a search for their labels. A series that has counted nothing is left out of a scrape:
 * most methods of JSON-RPC are never called on a node.
 */
export class CounterCells {
  readonly name: string
  readonly #spec: CounterOf
  readonly #cells = new Map<string, Cell>()

  constructor(spec: CounterOf) {
    this.name = spec.name
    this.#spec = spec
  }

  /** @throws RangeError when a label has a value that is not declared */
  cell(labels: Readonly<Record<string, string>>): CounterCell {
    const { name, labels: known } = this.#spec
    const values = Object.entries(known).map(([label, allowed]) => {
      const value = labels[label]
      if (value === undefined || !allowed.includes(value)) throw new RangeError(`metric ${name}: unknown value ${value} of label ${label}`)
      return value
    })
    const key = values.join(' ')
    const found = this.#cells.get(key) ?? new Cell(labels)
    this.#cells.set(key, found)
    return found
  }

  /** Returns all series as a registry of prom-client expects them. */
  async get(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    const { name, help } = this.#spec
    const values = [...this.#cells.values()].filter(({ value }) => value > 0).map(({ labels, value }) => ({ labels, value }))
    // As in prom-client, whose typings have a number as the kind, and a function that could not be sent to another thread.
    return { name, help, type: 'counter', aggregator: 'sum', values } as unknown as MetricObjectWithValues<MetricValueWithName<string>>
  }
}
