import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { shareBytes } from '#lib/packedBytes'
import { latestState, latestStateRoot } from '#state/chainState'
import { computeStateRoot } from '#state/stateRoot'
import { push, type StateStack, stackedState } from '#state/stateStack'
import type { WorldState } from '#state/worldState'
import { openLmdbKv } from '#store/lmdbKv'
import type { KvReader } from '#store/ports'
import { tables } from '#store/tables'
import { dice } from '#test/harness/dice'
import { Tries, type UpdatedState } from '#trie/tries'
import type { Hash } from '#types/ids'
import { LinkedRootThreads } from '../../src/executionThread/roots/rootThreads.ts'
import { minTransactions } from '../../src/executionThread/senderTable.ts'
import { SenderThreads } from '../../src/executionThread/senderThreads.ts'
import { distribution, type Row } from '../format.ts'
import type { StateModel } from './model.ts'
import { anySlots, type Roll, slotsOfAccounts } from './rootTimes.ts'
import type { StateWorld } from './world.ts'

const rounds = 15
const changes = [
  { name: '700 slots', of: (model: StateModel, roll: Roll) => anySlots(model, 700, roll) },
  { name: '3,000 slots', of: (model: StateModel, roll: Roll) => anySlots(model, 3_000, roll) },
  { name: '20,000 slots over 2,000 accounts', of: (model: StateModel, roll: Roll) => slotsOfAccounts(model, 2_000, roll) },
] as const

const cacheBytes = 64 * 2 ** 20
/** Blocks above the committed state, and the slots that each of them changes. */
const [layers, slotsOfLayer] = [12, 700]

/** Returns the state after blocks that are not committed. */
function uncommitted(reader: KvReader, model: StateModel, roll: Roll, caches: readonly Tries[]): { state: WorldState; root: Hash } {
  const below = latestState(reader, () => undefined)
  let stack: StateStack = []
  let [state, root] = [below, latestStateRoot(reader)]
  for (let number = 1; number <= layers; number++) {
    const diff = anySlots(model, slotsOfLayer, roll)
    const [result] = caches.map((tries) => computeStateRoot(state.nodes, root, diff, tries)) as [UpdatedState]
    stack = push(stack, { diff, result, block: { number, hash: result.root } })
    ;[state, root] = [stackedState(below, stack), result.root]
  }
  return { state, root }
}

/**
 * Measures roots with and without a thread that computes parts of them, in turn, as an execution thread computes them: with a header's root, a cache,
 * and blocks that are not committed.
 */
export async function sharedRootTimes({ dir, model }: StateWorld): Promise<readonly Row[]> {
  const folder = join(dir, 'chain')
  const roll = dice(20_261_130)
  await using kv = openLmdbKv(folder, Object.values(tables))
  await using senders = new SenderThreads({ clock: systemClock, log: silentLog }, { count: 1, dir: folder })
  const threads = new LinkedRootThreads(senders.roots, 1)
  // a thread starts with its first work
  senders.post(shareBytes(Array.from({ length: minTransactions }, () => new Uint8Array(1))))
  await sleep(1_000)
  using reader = kv.snapshot()
  const rows: Row[] = []
  for (const { name, of } of changes) {
    const [alone, together] = [new Tries(cacheBytes), new Tries(cacheBytes)] as const
    const { state, root } = uncommitted(reader, model, roll, [alone, together])
    const times: { one: number[]; two: number[] } = { one: [], two: [] }
    for (let round = -2; round < rounds; round++) {
      const diff = of(model, roll)
      const expected = computeStateRoot(state.nodes, root, diff).root
      for (const kind of round % 2 === 0 ? (['one', 'two'] as const) : (['two', 'one'] as const)) {
        const startMs = performance.now()
        if (kind === 'one') computeStateRoot(state.nodes, root, diff, alone, expected)
        else computeStateRoot(state.nodes, root, diff, together, expected, threads)
        const ms = performance.now() - startMs
        if (round >= 0) times[kind].push(ms)
        // threads take the next work
        await sleep(1)
      }
    }
    rows.push(distribution(`root after ${name}, one thread`, 'ms, less is better', times.one))
    rows.push(distribution(`root after ${name}, with a second thread`, 'ms, less is better', times.two))
  }
  return rows
}
