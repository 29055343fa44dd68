// npm run test:devnet -- [--seed S] [--faults N] [--case NAME]... : runs `basalt devnet` as a process, with anvil and in memory: a user's
// actions, times, restarts and kills on a kept chain, a changed byte, and N faults at random times, after which the verifier must agree.
import { parseArgs } from 'node:util'
import { corrupted, people, randomFaults, restart, startAndStop } from './devnet/cases.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    faults: { type: 'string', default: '200' },
    pause: { type: 'string', default: '2000' },
    case: { type: 'string', multiple: true, default: [] },
  },
})
const [seed, count, pauseMs] = [Number(values.seed), Number(values.faults), Number(values.pause)]

const cases: Readonly<Record<string, () => Promise<string>>> = {
  'start-memory': () => startAndStop('memory'),
  'start-anvil': () => startAndStop('anvil'),
  'people-memory': () => people('memory'),
  'people-anvil': () => people('anvil'),
  restart: () => restart(['SIGINT', 'SIGKILL', 'SIGTERM']),
  corrupted: () => corrupted(),
  'faults-memory': () => randomFaults('memory', seed, count, pauseMs),
  'faults-anvil': () => randomFaults('anvil', seed, count, pauseMs),
}
const wanted = values.case.length > 0 ? values.case : Object.keys(cases)

let failed = 0
for (const name of wanted) {
  const run = cases[name]
  if (run === undefined) throw new Error(`--case: ${name} is not one of ${Object.keys(cases).join(', ')}`)
  const beganMs = performance.now()
  const told = await run().catch((error: unknown) => {
    failed++
    return `FAILED: ${error instanceof Error ? error.stack : error}`
  })
  console.log(`${name.padEnd(14)} ${((performance.now() - beganMs) / 1_000).toFixed(0).padStart(4)} s  ${told}`)
}
console.log(`${wanted.length - failed} passed, ${failed} failed (seed ${seed})`)
process.exitCode = failed === 0 ? 0 : 1
