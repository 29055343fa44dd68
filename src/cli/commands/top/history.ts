import type { NodeSample } from '#monitor/sample'

/** Values of a row over time. */
export type Course = 'blocksPerSec' | 'gasPerSec' | 'transactionsPerSec' | 'callsPerSec'
const courses: readonly Course[] = ['blocksPerSec', 'gasPerSec', 'transactionsPerSec', 'callsPerSec']

/** Longest course that is kept: one value for each column of a wide terminal. */
const maxValues = 500

export const callsPerSec = ({ rates }: NodeSample): number | null =>
  rates === null || rates.calls.length === 0 ? null : rates.calls.reduce((sum, { perSec }) => sum + perSec, 0)

/** The last values of some rates. */
export class History {
  readonly #values: Readonly<Record<Course, number[]>> = { blocksPerSec: [], gasPerSec: [], transactionsPerSec: [], callsPerSec: [] }

  add(sample: NodeSample): void {
    if (sample.rates === null) return
    for (const course of courses) {
      const values = this.#values[course]
      values.push((course === 'callsPerSec' ? callsPerSec(sample) : sample.rates[course]) ?? 0)
      if (values.length > maxValues) values.shift()
    }
  }

  /** Returns the last values, the newest one last. */
  last(course: Course, most: number): readonly number[] {
    return most <= 0 ? [] : this.#values[course].slice(-most)
  }
}

const steps = '▁▂▃▄▅▆▇█'

/** Draws values as bars of one character, in proportion to the largest. */
export function sparkline(values: readonly number[]): string {
  const top = Math.max(...values, 0)
  return values.map((value) => steps[top === 0 ? 0 : Math.round((Math.max(0, value) / top) * (steps.length - 1))] ?? '').join('')
}

/** Draws a part of a whole as a bar of `columns`. @param part from 0 to 1; more is drawn as 1 */
export function bar(part: number, columns: number): string {
  const filled = Number.isNaN(part) ? 0 : Math.round(Math.min(1, Math.max(0, part)) * columns)
  return '█'.repeat(filled) + '░'.repeat(columns - filled)
}
