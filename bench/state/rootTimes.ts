import { join } from 'node:path'
import { padLeft } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import { latestState, latestStateRoot } from '#state/chainState'
import { computeStateRoot } from '#state/stateRoot'
import { openLmdbKv } from '#store/lmdbKv'
import { tables } from '#store/tables'
import { dice } from '#test/harness/dice'
import { Tries } from '#trie/tries'
import type { Hash } from '#types/ids'
import type { StateDiff, StateDiffParts } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'
import { distribution, type Row } from '../format.ts'
import type { StateModel } from './model.ts'
import { dropFromPageCache } from './pageCache.ts'
import type { StateWorld } from './world.ts'

export type Roll = (below: number) => number
type Slot = StateDiffParts['slots'][number]

function changedSlot(model: StateModel, rank: number, at: number, roll: Roll): Slot {
  const value = new Uint8Array(32)
  for (let byte = 20; byte < 32; byte++) value[byte] = 1 + roll(255)
  const before = padLeft(model.slotValue(rank, at), 32)
  return { addressKey: keccak256(model.addressOf(rank)), slotKey: keccak256(model.slotNumber(rank, at)), value, before }
}

/** Slots of each account of `slotsOfAccounts`. */
const perAccount = 10

/** Changes ten slots of each of `accounts` contracts, chosen by their slots. */
export function slotsOfAccounts(model: StateModel, accounts: number, roll: Roll): StateDiff {
  const chosen = new Set<number>()
  for (let tries = 0; chosen.size < accounts && tries < accounts * 100; tries++) {
    const { rank } = model.locate(roll(model.spec.slots))
    if (model.slotsOf(rank) >= perAccount) chosen.add(rank)
  }
  const slots = [...chosen].flatMap((rank) => {
    const at = new Set<number>()
    while (at.size < perAccount) at.add(roll(model.slotsOf(rank)))
    return [...at].map((index) => changedSlot(model, rank, index, roll))
  })
  return createStateDiff({ accounts: [], slots, codes: [] })
}

/** Changes slots that are uniformly random among all slots. */
export function anySlots(model: StateModel, count: number, roll: Roll): StateDiff {
  const chosen = new Set<number>()
  while (chosen.size < count) chosen.add(roll(model.spec.slots))
  const slots = [...chosen].map((n) => {
    const { rank, at } = model.locate(n)
    return changedSlot(model, rank, at, roll)
  })
  return createStateDiff({ accounts: [], slots, codes: [] })
}

const rounds = 5
const kinds = ['warm', 'cached', 'cold'] as const
type Kind = (typeof kinds)[number]
/** Duration of a computation, and the processor time of its thread. */
type Times = { readonly ms: number; readonly processorMs: number }
const changes = [
  { name: '20,000 slots over 2,000 accounts', of: (model: StateModel, roll: Roll) => slotsOfAccounts(model, 2_000, roll) },
  { name: '3,000 slots', of: (model: StateModel, roll: Roll) => anySlots(model, 3_000, roll) },
] as const

/** As in a node's execution thread by default. */
const cacheBytes = 64 * 2 ** 20

/**
 * Measures the root of a changed state in this process. Each round has another change, whose values before are known, as after an execution. Cold: the
 * database is not in the page cache. Warm: the same change again. Both without cached nodes. Cached: the same change with the nodes that the roots of
 * earlier rounds have made. Warm and cached know the root, as that of a block with a header.
 */
export async function rootTimes({ dir, model }: StateWorld): Promise<readonly Row[]> {
  const folder = join(dir, 'chain')
  const roll = dice(20_261_124)
  const rows: Row[] = []
  const tries = new Tries(cacheBytes)
  for (const { name, of } of changes) {
    const times: Readonly<Record<Kind, Times[]>> = { cold: [], warm: [], cached: [] }
    for (let round = 0; round <= rounds; round++) {
      const diff = of(model, roll)
      dropFromPageCache(join(folder, 'data.mdb'))
      await using kv = openLmdbKv(folder, Object.values(tables))
      using reader = kv.snapshot()
      const measure = (cached?: Tries, expected?: Hash): Times & { root: Hash } => {
        const { nodes } = latestState(reader, () => undefined)
        const [startMs, startCpu] = [performance.now(), process.threadCpuUsage()]
        const { root } = computeStateRoot(nodes, latestStateRoot(reader), diff, cached, expected)
        const { user, system } = process.threadCpuUsage(startCpu)
        return { root, ms: performance.now() - startMs, processorMs: (user + system) / 1_000 }
      }
      const cold = measure()
      const measured = { cold, warm: measure(undefined, cold.root), cached: measure(tries, cold.root) }
      if (round === 0) continue // the first round compiles
      for (const kind of kinds) times[kind].push(measured[kind])
    }
    for (const kind of kinds) {
      const of = (value: keyof Times): number[] => times[kind].map((each) => each[value])
      rows.push(distribution(`root after ${name}, ${kind}`, 'ms, less is better', of('ms')))
      rows.push(distribution(`root after ${name}, ${kind}: processor time`, 'ms, less is better', of('processorMs')))
    }
  }
  return rows
}
