/** Samples of a scrape. */
export type MetricValues = {
  /** Returns the value of a series; undefined: it is absent, or not a number. @param labels all of its labels */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined
  /** Returns every series of a name with its labels. */
  series(name: string): readonly Sample[]
}

export type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: number }

/** Most lines of a scrape that are read; a node has about 1,000. */
const maxLines = 50_000
/** Length of a line above which it is skipped: the expressions below take time that is quadratic in it. */
const maxLineChars = 2_000

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\]|\\.)*",?)*)\})? (\S+)(?: -?\d+)?$/
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)",?/g

const unescaped = (text: string): string => text.replaceAll(/\\(.)/g, (_all, char: string) => (char === 'n' ? '\n' : char))
const infinities: Readonly<Record<string, number>> = { '+Inf': Number.POSITIVE_INFINITY, '-Inf': Number.NEGATIVE_INFINITY }

/**
 * Parses the text format of Prometheus. Lines that are not in the format are skipped.
 * @see Prometheus documentation, "Exposition formats", text-based format 0.0.4
 */
export function parseMetrics(text: string): MetricValues {
  const byName = new Map<string, Sample[]>()
  for (const line of text.split('\n', maxLines)) {
    if (line.length > maxLineChars) continue
    const [, name, labels = '', number = ''] = sampleLine.exec(line) ?? []
    if (name === undefined) continue
    const value = infinities[number] ?? Number(number)
    if (Number.isNaN(value)) continue
    const pairs = [...labels.matchAll(label)].map(([, key = '', quoted = '']) => [key, unescaped(quoted)] as const)
    const samples = byName.get(name) ?? []
    samples.push({ labels: Object.fromEntries(pairs), value })
    byName.set(name, samples)
  }
  const series = (name: string): readonly Sample[] => byName.get(name) ?? []
  return {
    series,
    value(name, labels = {}): number | undefined {
      const wanted = Object.entries(labels)
      return series(name).find(
        ({ labels: own }) => Object.keys(own).length === wanted.length && wanted.every(([key, value]) => own[key] === value),
      )?.value
    },
  }
}
