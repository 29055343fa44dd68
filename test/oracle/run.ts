// npm run test:oracle -- [--cases N] [--seed S] [--case I] [--into DIR] [--write-sample]: runs random and targeted blocks on Basalt and on op-revm, the
// core of Base's client. Exit 1: they differ; the cases are minimised and stored in test/fixtures/oracle-cases. Exit 77: no Rust toolchain.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readCorpus } from '../fuzz/evm/corpus.ts'
import { exclusionNames } from './exclusions.ts'
import { keptFolder, writeSample } from './kept.ts'
import { OracleLoop } from './loop.ts'
import { buildOracle, hasRust } from './program.ts'
import { isInSample } from './targeted.ts'

const exitWithoutRust = 77
const everyMs = 15_000
const mostFound = 10

const print = (text: string): void => void process.stdout.write(`${text}\n`)

function fail(text: string, code: number): never {
  process.stderr.write(`test:oracle: ${text}\n`)
  process.exit(code)
}

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    case: { type: 'string' },
    into: { type: 'string', default: keptFolder },
    'write-sample': { type: 'boolean' },
  },
})
const [cases, seed] = [Number(values.cases), Number(values.seed)]
const only = values.case === undefined ? undefined : Number(values.case)
if (!(Number.isInteger(cases) && cases >= 0 && Number.isInteger(seed) && (only === undefined || Number.isInteger(only)))) {
  fail('--cases, --seed and --case take integers', 2)
}
if (!hasRust()) fail('Rust toolchain (cargo) not found: nothing was compared', exitWithoutRust)
const startMs = performance.now()
const program = buildOracle() ?? fail('build of the oracle failed', 1)
print(`test:oracle: ${program} built in ${Math.round((performance.now() - startMs) / 1000)} s, seed ${seed}`)

using loop = new OracleLoop(program, resolve(values.into), (text) => print(`DIFFERENT ${text}`))
const { counts } = loop
const corpus = readCorpus('committed')
const begunMs = performance.now()

const list = (map: ReadonlyMap<string, number>): string => [...map].map(([name, number]) => `${name} ${number}`).join(', ')
const progress = (): string =>
  `${counts.cases} blocks, ${counts.transactions} transactions (${counts.refused} refused), ${counts.calls} calls, ${counts.found} differences, ${Math.round((performance.now() - begunMs) / 1000)} s`

if (only === undefined) {
  const targeted = await loop.runTargeted(corpus)
  print(`targeted: ${progress()}`)
  if (values['write-sample']) writeSample(targeted.filter(isInSample).map(({ kept }) => kept))
  const step = 256
  let printedMs = begunMs
  for (let at = 0; at < cases && counts.found < mostFound; at += step) {
    await loop.runRandom(seed, at, Math.min(at + step, cases), corpus)
    if (performance.now() - printedMs < everyMs) continue
    printedMs = performance.now()
    print(progress())
  }
} else await loop.runRandom(seed, only, only + 1, corpus)

const gone = only === undefined ? exclusionNames.filter((name) => !counts.excluded.has(name)) : []
for (const name of gone) print(`known difference did not occur: ${name}; remove it from exclusions.ts`)
print(`by fork: ${list(counts.forks)}`)
print(`known differences: ${list(counts.excluded)}`)
print(`test:oracle: ${progress()}, seed ${seed}`)
process.exitCode = counts.found + gone.length > 0 ? 1 : 0
