import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { lastL1, recordedProcessChain } from '#test/harness/processChain'
import { killRound, type Round } from '../../e2e/halvesRound.ts'
import { type SetupName, setups } from '../../e2e/halvesSetups.ts'
import { watchHead } from '../../e2e/halvesWatch.ts'
import { eventually } from '../../e2e/nodeProcess.ts'

const folder = mkdtempSync(join(tmpdir(), 'basalt-halves-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const chain = recordedProcessChain('op-bedrock-to-holocene')
/** What a round draws, in order: how far L1 moves, the instant, the victim, no pause before the restart, no second hit. */
function drawsOf(instant: number, victim: number): () => number {
  const draws = [0.3, instant, victim, 0.9, 0.9]
  return () => draws.shift() ?? 0.9
}
const instants = [0.5, 0.3, 0.8]

it.each<[string, SetupName, number]>([
  ['halves, killed one after the other', 'apart', 3],
  ['a node and its follower, killed one after the other', 'follow', 2],
])(
  'process/halves: %s while L1 moves on: the recorded heads, nothing shown is lost, nothing old is executed again',
  async (_what, name, kills) => {
    await using setup = await setups[name](chain, join(folder, name))
    for (const node of setup.nodes) node.spawn()
    await Promise.all(setup.nodes.map((node) => node.up()))
    await using watches = new AsyncDisposableStack()
    const watched = setup.holders.map((node) => watches.use(watchHead(node, chain, setup.halves)))
    const rounds: Round[] = []
    for (let round = 0; round < kills; round++) {
      const random = drawsOf(instants[round] ?? 0.5, (round + 0.5) / setup.victims.length)
      rounds.push(await killRound(setup, watched, random))
    }
    setup.l1.l1.reveal(lastL1(chain))
    await eventually('the whole chain', 30_000, setup.together)
    expect(rounds.flatMap(({ hits }) => hits.map(({ victim }) => victim))).toEqual(
      setup.victims.slice(0, kills).map(({ name: victim }) => victim),
    )
    for (const watch of watched) watch.check()
    expect(watched.map(({ head }) => head)).toEqual(setup.holders.map(() => chain.safeHeads.at(-1)))
  },
  60_000,
)
