import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { lastL1, recordedProcessChain } from '#test/harness/process/chain'
import { killRound } from '../../e2e/halves/round.ts'
import { setups } from '../../e2e/halves/setups.ts'
import { watchHead } from '../../e2e/halves/watch.ts'
import { eventually } from '../../e2e/nodeProcess.ts'

const folder = mkdtempSync(join(tmpdir(), 'basalt-halves-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const chain = recordedProcessChain('op-bedrock-to-holocene')
/** Random numbers of a round, in order: L1 blocks to show, instant of the kill, process to kill, no pause before the restart, no second kill. */
function drawsOf(instant: number, victim: number): () => number {
  const draws = [0.3, instant, victim, 0.9, 0.9]
  return () => draws.shift() ?? 0.9
}
const instants = [0.5, 0.3, 0.8]

it('process/halves: keeps the recorded heads through kills of one half, the other and both while L1 advances, without losing a served block or a long re-execution', async () => {
  await using setup = await setups.apart(chain, join(folder, 'apart'))
  for (const node of setup.nodes) node.spawn()
  await Promise.all(setup.nodes.map((node) => node.up()))
  await using watches = new AsyncDisposableStack()
  const watched = setup.holders.map((node) => watches.use(watchHead(node, chain, setup.halves)))
  const victims: string[] = []
  for (const [round, instant] of instants.entries()) {
    const { hits } = await killRound(setup, watched, drawsOf(instant, (round + 0.5) / instants.length))
    victims.push(...hits.map(({ victim }) => victim))
  }
  setup.l1.l1.reveal(lastL1(chain))
  await eventually('whole chain derived', 60_000, setup.together)
  expect(victims).toEqual(['execution', 'consensus', 'both'])
  // the watches poll every few milliseconds, so they may be behind the nodes
  const seen = (): readonly number[] => watched.map(({ head }) => head)
  await eventually(
    'whole chain seen by the watches',
    10_000,
    async () => seen().every((head) => head === chain.safeHeads.at(-1)) || String(seen()),
  )
  for (const watch of watched) watch.check()
}, 240_000)
