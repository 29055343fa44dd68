import type { MetricObjectWithValues, MetricValueWithName } from 'prom-client'

/** `labels`: the values of each label. `buckets`: ascending upper bounds. */
type HistogramOf = {
  readonly name: string
  readonly help: string
  readonly labels: Readonly<Record<string, readonly string[]>>
  readonly buckets: readonly number[]
}

/**
 * Values of a histogram, counted in arrays: an observation adds to two cells. The histogram of prom-client builds a key from the labels each time, which
 * takes longer than the shortest JSON-RPC calls may be delayed.
 */
export class HistogramSeries {
  readonly name: string
  readonly #spec: HistogramOf
  readonly #labels: readonly (readonly [string, readonly string[]])[]
  /** for each series, a count for each bucket and one for the values above all of them; not cumulative */
  readonly #counts: Float64Array
  readonly #sums: Float64Array

  constructor(spec: HistogramOf) {
    this.name = spec.name
    this.#spec = spec
    this.#labels = Object.entries(spec.labels)
    const series = this.#labels.reduce((product, [, values]) => product * values.length, 1)
    this.#counts = new Float64Array(series * (spec.buckets.length + 1))
    this.#sums = new Float64Array(series)
  }

  /** @throws RangeError when a label has a value that is not declared */
  observe(labels: Readonly<Record<string, string>>, value: number): void {
    const { buckets, name } = this.#spec
    let series = 0
    for (const [label, values] of this.#labels) {
      const at = values.indexOf(labels[label] ?? '')
      if (at < 0) throw new RangeError(`metric ${name}: unknown value ${labels[label]} of label ${label}`)
      series = series * values.length + at
    }
    let bucket = 0
    while (bucket < buckets.length && value > (buckets[bucket] ?? 0)) bucket++
    const cell = series * (buckets.length + 1) + bucket
    this.#counts[cell] = (this.#counts[cell] ?? 0) + 1
    this.#sums[series] = (this.#sums[series] ?? 0) + value
  }

  /** Returns all series as a registry of prom-client expects them. */
  async get(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    const { name, help } = this.#spec
    const values = [...this.#sums.keys()].flatMap((series) => this.#valuesOf(series))
    // As in prom-client, whose typings have a number as the kind, and a function that could not be sent to another thread.
    return { name, help, type: 'histogram', aggregator: 'sum', values } as unknown as MetricObjectWithValues<MetricValueWithName<string>>
  }

  #valuesOf(series: number): readonly MetricValueWithName<string>[] {
    const { buckets, name } = this.#spec
    const labels = this.#labelsOf(series)
    const first = series * (buckets.length + 1)
    let count = 0
    const cumulative = [...buckets, '+Inf'].map((le, bucket) => {
      count += this.#counts[first + bucket] ?? 0
      return { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` }
    })
    return [
      ...cumulative,
      { labels, value: this.#sums[series] ?? 0, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ]
  }

  #labelsOf(series: number): Readonly<Record<string, string>> {
    let rest = series
    const pairs = this.#labels.toReversed().map(([label, values]): readonly [string, string] => {
      const value = values[rest % values.length] ?? ''
      rest = Math.floor(rest / values.length)
      return [label, value]
    })
    return Object.fromEntries(pairs.toReversed())
  }
}
