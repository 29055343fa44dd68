import { Counter, Gauge, type Histogram, type Registry } from 'prom-client'
import { type CounterCell, CounterCells } from './metrics/counterCells.ts'
import { HistogramSeries } from './metrics/histogramSeries.ts'

export type { CounterCell }

/** Closed set of values of each label. */
export type Labels = Readonly<Record<string, readonly string[]>>
export type Values<L extends Labels> = { readonly [K in keyof L]: L[K][number] }

type Spec<L extends Labels> = { readonly name: string; readonly help: string; readonly labels: L }
export type CounterSpec<L extends Labels> = Spec<L> & { readonly kind: 'counter' }
export type GaugeSpec<L extends Labels> = Spec<L> & { readonly kind: 'gauge' }
export type HistogramSpec<L extends Labels> = Spec<L> & { readonly kind: 'histogram'; readonly buckets: readonly number[] }
/** A counter of cells, for hot paths and large label sets. */
export type CellsSpec<L extends Labels> = Spec<L> & { readonly kind: 'cells' }
export type MetricSpec = CounterSpec<Labels> | CellsSpec<Labels> | GaugeSpec<Labels> | HistogramSpec<Labels>

/** Handle of a counter; `by` defaults to 1. */
export type CounterHandle<L extends Labels> = { inc(labels: Values<L>, by?: number): void }
export type GaugeHandle<L extends Labels> = { set(labels: Values<L>, value: number): void }
export type HistogramHandle<L extends Labels> = { observe(labels: Values<L>, value: number): void }

/** Handle of a counter whose series the caller keeps. */
export type CellsHandle<L extends Labels> = { cell(labels: Values<L>): CounterCell }

type HandleOf<S> =
  S extends CounterSpec<infer L>
    ? CounterHandle<L>
    : S extends GaugeSpec<infer L>
      ? GaugeHandle<L>
      : S extends HistogramSpec<infer L>
        ? HistogramHandle<L>
        : S extends CellsSpec<infer L>
          ? CellsHandle<L>
          : never
export type Handles<T extends Readonly<Record<string, MetricSpec>>> = { readonly [K in keyof T]: HandleOf<T[K]> }

/** The metrics of one module: the table for the reference docs, and `register`, which creates live handles (once per registry). */
export type MetricTable<T extends Readonly<Record<string, MetricSpec>>> = {
  readonly specs: T
  register(registry: Registry): Handles<T>
}

/** Declares a counter: events since start. The name ends in `_total`. */
export function counter<const L extends Labels = Record<never, never>>(name: string, help: string, labels?: L): CounterSpec<L> {
  return { kind: 'counter', name, help, labels: labels ?? ({} as L) }
}

/** Declares a counter whose series the caller finds once; series without a count are left out of a scrape. */
export function counterCells<const L extends Labels>(name: string, help: string, labels: L): CellsSpec<L> {
  return { kind: 'cells', name, help, labels }
}

/** Declares a gauge: a current value. */
export function gauge<const L extends Labels = Record<never, never>>(name: string, help: string, labels?: L): GaugeSpec<L> {
  return { kind: 'gauge', name, help, labels: labels ?? ({} as L) }
}

/** Declares a histogram; `buckets` are ascending upper bounds in the unit of the name. */
export function histogram<const L extends Labels = Record<never, never>>(
  name: string,
  help: string,
  buckets: readonly number[],
  labels?: L,
): HistogramSpec<L> {
  return { kind: 'histogram', name, help, buckets, labels: labels ?? ({} as L) }
}

/** Allowed endings of a name: the counted thing, or the unit of the value. */
const units = /_(seconds|bytes|ratio|blocks|block_number|transactions|gas|wei|info|state|connections|peers|entries|threads|tokens)$/

function checkName({ name, kind }: MetricSpec): void {
  const wellFormed = /^basalt(_[a-z0-9]+){2,}$/.test(name)
  const ending = kind === 'counter' || kind === 'cells' ? name.endsWith('_total') : units.test(name)
  if (!wellFormed || !ending) throw new RangeError(`metric ${name}: expected basalt_<module>_<subject>_<unit>; a counter ends in _total`)
}

/**
 * Declares the metrics of a module, in its `metrics.ts`.
 * @throws RangeError when a name has no unit or is defined twice
 */
export function defineMetrics<const T extends Readonly<Record<string, MetricSpec>>>(specs: T): MetricTable<T> {
  const names = new Set<string>()
  for (const spec of Object.values(specs)) {
    checkName(spec)
    if (names.has(spec.name)) throw new RangeError(`metric ${spec.name} is defined twice`)
    names.add(spec.name)
  }
  return {
    specs,
    register(registry): Handles<T> {
      const handles = Object.entries(specs).map(([key, spec]) => [key, createHandle(spec, registry)] as const)
      return Object.fromEntries(handles) as unknown as Handles<T>
    },
  }
}

/** Returns every combination of label values, so that each series exists with value zero before its first event. */
function combinations(labels: Labels): Record<string, string>[] {
  let all: Record<string, string>[] = [{}]
  for (const [label, values] of Object.entries(labels)) {
    all = all.flatMap((one) => values.map((value) => ({ ...one, [label]: value })))
  }
  return all
}

function checkLabels(spec: MetricSpec, given: Readonly<Record<string, string>>): void {
  for (const [label, values] of Object.entries(spec.labels)) {
    const value = given[label]
    if (value === undefined || !values.includes(value))
      throw new RangeError(`metric ${spec.name}: unknown value ${value} of label ${label}`)
  }
}

function createHandle(
  spec: MetricSpec,
  registry: Registry,
): CounterHandle<Labels> | GaugeHandle<Labels> | HistogramHandle<Labels> | CellsHandle<Labels> {
  const common = { name: spec.name, help: spec.help, labelNames: Object.keys(spec.labels), registers: [registry] }
  switch (spec.kind) {
    case 'counter': {
      const metric = new Counter(common)
      for (const labels of combinations(spec.labels)) metric.inc(labels, 0)
      return {
        inc(labels, by = 1): void {
          checkLabels(spec, labels)
          metric.inc(labels, by)
        },
      }
    }
    case 'gauge': {
      const metric = new Gauge(common)
      return {
        set(labels, value): void {
          checkLabels(spec, labels)
          metric.set(labels, value)
        },
      }
    }
    case 'histogram': {
      const series = new HistogramSeries(spec)
      // the typings require a class of prom-client; the registry uses `name` and `get` only
      registry.registerMetric(series as unknown as Histogram)
      return series
    }
    case 'cells': {
      const cells = new CounterCells(spec)
      registry.registerMetric(cells as unknown as Counter) // as above
      return cells
    }
  }
}
