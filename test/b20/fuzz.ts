// npm run fuzz:b20 -- [--sequences N] [--seed S]: random calls of native contracts on the wasm interpreter and the reference, with properties that
// hold on any implementation. Exit 1: a failure, with the seed that repeats it.
import { parseArgs } from 'node:util'
import { type FuzzCounts, runSequence } from './fuzzSequence.ts'

const everySequences = 10_000
const { values } = parseArgs({ options: { sequences: { type: 'string', default: '10000' }, seed: { type: 'string' } } })
const sequences = Number(values.sequences)
const seed = values.seed === undefined ? Math.trunc(performance.timeOrigin) % 2 ** 31 : Number(values.seed)
if (!(Number.isInteger(sequences) && sequences > 0 && Number.isInteger(seed))) {
  process.stderr.write('fuzz:b20: --sequences takes a positive integer, --seed an integer\n')
  process.exit(2)
}

const counts: FuzzCounts = { messages: 0, succeeded: 0 }
const report = (done: number) =>
  process.stdout.write(`fuzz:b20: ${done} sequences, ${counts.messages} calls, ${counts.succeeded} succeeded\n`)
for (let i = 0; i < sequences; i++) {
  const failure = runSequence((seed + i) | 0, counts)
  if (failure !== undefined) {
    process.stderr.write(
      `fuzz:b20: seed ${failure.seed} (--sequences 1), ${failure.fork}, call ${failure.index}: ${failure.reason}\n${failure.message}\n`,
    )
    process.exit(1)
  }
  if ((i + 1) % everySequences === 0) report(i + 1)
}
report(sequences)
process.stdout.write(`fuzz:b20: no difference and no violation, seed ${seed}\n`)
