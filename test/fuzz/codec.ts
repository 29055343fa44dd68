// npm run fuzz:codec -- [--seconds N] [--seed S]: checks the codec properties on random input. Prints the input of the first failure and exits with 1.
import fc from 'fast-check'
import { codecProperties } from '../harness/codecProperties.ts'
import { readFuzzOptions } from './fuzzOptions.ts'

const { seconds, seed } = readFuzzOptions('fuzz:codec')

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
