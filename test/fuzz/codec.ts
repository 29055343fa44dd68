// npm run fuzz:codec -- [--seconds N] [--seed S]: the codec properties on ever new input; exit 1 and the input on the first failure.
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { codecProperties } from '../harness/codecProperties.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string' } } })
const seconds = Number(values.seconds)
const seed = values.seed === undefined ? Math.trunc(performance.timeOrigin) % 2 ** 31 : Number(values.seed)
if (!(seconds > 0) || !Number.isInteger(seed)) {
  process.stderr.write('fuzz:codec: --seconds takes a positive number, --seed an integer\n')
  process.exit(2)
}

const runsPerRound = 50
const endMs = performance.now() + seconds * 1000
let rounds = 0
for (; performance.now() < endMs; rounds++) {
  for (const { name, property } of codecProperties) {
    const result = fc.check(property, { seed: seed + rounds, numRuns: runsPerRound })
    if (!result.failed) continue
    process.stderr.write(`fuzz:codec: ${name} fails, seed ${seed + rounds}\n${fc.defaultReportMessage(result)}\n`)
    process.exit(1)
  }
}
process.stdout.write(
  `fuzz:codec: ${codecProperties.length} properties, ${rounds} rounds of ${runsPerRound} inputs each, seed ${seed}: no failure\n`,
)
