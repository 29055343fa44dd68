import { parseArgs } from 'node:util'

/** Duration in seconds and seed of a run. */
export type FuzzOptions = { readonly seconds: number; readonly seed: number }

/** Parses `--seconds N --seed S`; the default seed is random. Exits with 2 for invalid values. @param name name of the npm script */
export function readFuzzOptions(name: string): FuzzOptions {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string' } } })
  const seconds = Number(values.seconds)
  const seed = values.seed === undefined ? Math.trunc(performance.timeOrigin) % 2 ** 31 : Number(values.seed)
  if (seconds > 0 && Number.isInteger(seed)) return { seconds, seed }
  process.stderr.write(`${name}: --seconds takes a positive number, --seed an integer\n`)
  process.exit(2)
}
