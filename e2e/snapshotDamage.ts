// npm run damage:snapshot -- [--count 2000] [--seed 1] [--kinds snapshot,archive,ranges,reth] [--progress 50]: damages snapshots (minimal, and archives), range proofs and snapshots of the
// other client at random (bits, cuts, swaps, older files, bombs, paths outside, lies of a signer or publisher). Each damage is refused with a fault of
// `refusals`, or changes nothing; no row that differs from the executed state is left in a store that a node would open; then a restore or an import of the
// sound files gives the rows of the executed state.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { dice } from '#test/harness/dice'
import { DamagedReth } from '#test/harness/snapshot/damagedReth'
import { DamagedSnapshots } from '#test/harness/snapshot/damagedSnapshots'
import { judgeRange, rangeTries } from '#test/harness/snapshot/rangeDamage'
import { must } from './crash/tally.ts'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    kinds: { type: 'string', default: 'snapshot,archive,ranges,reth' },
  },
})
const count = Number(values.count)
const first = Number(values.seed)
const kinds = values.kinds.split(',')

async function each(kind: string, share: number, judge: (seed: number) => Promise<string> | string): Promise<void> {
  if (!kinds.includes(kind)) return
  const outcomes: Record<string, number> = {}
  const total = Math.ceil(count * share)
  for (let index = 0; index < total; index++) {
    const seed = first + index
    try {
      const outcome = await judge(seed)
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    } catch (error) {
      console.error(`\n${kind}: --seed ${seed} --kinds ${kind} --count 1`)
      throw error
    }
    if (index % 20 === 0) process.stderr.write(`\r${kind}: ${index}/${total} `)
  }
  console.log(`\r${kind}: ${total} ${JSON.stringify(outcomes)}`)
}

for (const [kind, flavour, share] of [
  ['snapshot', 'minimal', 0.45],
  ['archive', 'archive', 0.2],
] as const) {
  if (!kinds.includes(kind)) continue
  using snapshots = await DamagedSnapshots.make(flavour)
  await each(kind, share, (seed) => snapshots.judge(seed))
}
const tries = rangeTries(2_000)
await each('ranges', 0.15, (seed) => {
  const outcome = judgeRange(tries, dice(seed))
  must(outcome !== 'wrong', 'leaves that are not those of the range were accepted')
  return outcome
})
if (kinds.includes('reth')) {
  const folder = resolve(import.meta.dirname, '../test/fixtures/reth')
  using reth = await DamagedReth.make((name) => readFileSync(resolve(folder, name)))
  await each('reth', 0.4, (seed) => reth.judge(seed))
}
