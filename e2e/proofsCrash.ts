// npm run crash:proofs -- --kills N --seed S [--kinds NAME,NAME]: kills (SIGKILL) a node that records proofs while its chain grows and is reorganised, and
// the commands init, prune, unwind and verify of `basalt proofs`, each N times, in and between transactions. The work goes on after each kill until it is
// whole. Then every block of the window verifies, and its rows are those of a work that was not killed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { kinds } from './proofsCrash/kinds.ts'
import { type Tally, torment } from './proofsCrash/torment.ts'
import { randomOf } from './random.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    kinds: { type: 'string' },
  },
})
const wanted = Number(values.kills)
/** A start that takes more processor time fails the run. */
const mostStartCpuMs = 3_000
const chosen = kinds.filter(({ name }) => values.kinds === undefined || values.kinds.split(',').includes(name))
const random = randomOf(Number(values.seed))
const folder = mkdtempSync(join(tmpdir(), 'basalt-proofs-crash-'))
const tallies: Record<string, Tally> = {}
try {
  for (const kind of chosen) {
    const tally = await torment(kind, folder, random, wanted)
    tallies[kind.name] = tally
    console.log(`${kind.name}: ${JSON.stringify(tally)}`)
  }
} catch (error) {
  console.error(`\n--seed ${values.seed}, data kept in ${folder}`)
  throw error
}
rmSync(folder, { recursive: true })
if (Object.values(tallies).some((tally) => tally.mostStartCpuMs >= mostStartCpuMs)) {
  console.error(`a start took ${mostStartCpuMs} ms of processor time or more`)
  process.exitCode = 1
}
if (chosen.length === 0) throw new Error(`--kinds: none of ${kinds.map(({ name }) => name).join(', ')}`)
