import { parseArgs } from 'node:util'

/** How long to go on, and what the draws depend on. */
export type FuzzOptions = { readonly seconds: number; readonly seed: number }

/** `--seconds N --seed S`; without a seed another one each time. Ends the process with 2 when they make no sense. @param name of the npm script */
export function readFuzzOptions(name: string): FuzzOptions {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string' } } })
  const seconds = Number(values.seconds)
  const seed = values.seed === undefined ? Math.trunc(performance.timeOrigin) % 2 ** 31 : Number(values.seed)
  if (seconds > 0 && Number.isInteger(seed)) return { seconds, seed }
  process.stderr.write(`${name}: --seconds takes a positive number, --seed an integer\n`)
  process.exit(2)
}
