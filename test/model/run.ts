// npm run test:model -- [--steps N] [--seeds N] [--seed S] [--replay 'KIND:SEED …']: random steps on the execution half over LMDB and a file journal,
// compared with a model in memory. Exit 1: a difference, with its seed and a minimised list of steps, which `--seed S --replay` repeats.
import { parseArgs } from 'node:util'
import { describe, minimise, type Outcome, parseSteps, runSteps, showSteps, stepsOf } from './runSeed.ts'

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '10000' },
    seeds: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    replay: { type: 'string' },
  },
})
const [count, seeds, first] = [values.steps, values.seeds, values.seed].map(Number) as [number, number, number]
if (![count, seeds].every((each) => Number.isInteger(each) && each > 0) || !Number.isInteger(first)) {
  process.stderr.write('test:model: --steps and --seeds take positive integers, --seed an integer\n')
  process.exit(2)
}
/** Time for the search of a shorter list. */
const shrinkMs = 120_000
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

async function reportFailure(seed: number, { failure }: Outcome): Promise<never> {
  const { step, error } = failure ?? { step: 0, error: undefined }
  process.stderr.write(`test:model: seed ${seed} fails at step ${step}\n${describe(error)}\nminimising for up to ${seconds(shrinkMs)} …\n`)
  const untilMs = performance.now() + shrinkMs
  const all = values.replay === undefined ? stepsOf(seed, count) : parseSteps(values.replay)
  const least = await minimise(seed, all.slice(0, step + 1), () => performance.now() > untilMs)
  process.stderr.write(
    `${least.steps.length} steps remain. ${least.error}\nnpm run test:model -- --seed ${seed} --replay '${showSteps(least.steps)}'\n`,
  )
  process.exit(1)
}

for (let seed = first; seed < first + (values.replay === undefined ? seeds : 1); seed++) {
  const startMs = performance.now()
  const steps = values.replay === undefined ? stepsOf(seed, count) : parseSteps(values.replay)
  const outcome = await runSteps(seed, steps)
  if (outcome.failure) await reportFailure(seed, outcome)
  const ms = performance.now() - startMs
  const {
    blocks,
    reorgs,
    deepestReorg,
    starts,
    killsInWrites,
    killsInPruning,
    oldestState,
    recorded,
    computed,
    proved,
    moved,
    logFiles,
    oldestBlock,
  } = outcome.counts
  process.stdout.write(
    `test:model: seed ${seed}: ${steps.length} steps, ${blocks} blocks, ${reorgs} reorgs (deepest ${deepestReorg}), ${starts} starts ` +
      `(${killsInWrites} after kills in a write, ${killsInPruning} of these in pruning), oldest state ${oldestState}, ` +
      `${moved} blocks moved to segments, ${logFiles} files of the log index, oldest block ${oldestBlock}, ` +
      `${recorded} blocks recorded, ${computed} computed, ${proved} recorded states compared, ${seconds(ms)}, ${Math.round((steps.length / ms) * 1_000)} steps/s, ` +
      `RSS ${Math.round(process.memoryUsage.rss() / 2 ** 20)} MB\n`,
  )
}
process.stdout.write('test:model: no difference\n')
