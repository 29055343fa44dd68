import { expect, it } from 'vitest'
import { engineFault } from '#engine/faults'
import { follow, genesisOnly, grow } from '#test/harness/consensus/follow'
import type { MemoryEngine } from '#test/harness/engine/engine'
import type { Hash } from '#types/ids'

/** Makes an engine drop the oldest blocks of a branch beyond a number, as a bounded block tree does. @returns the largest number at a new head */
function holdOnly(engine: MemoryEngine, most: number): { readonly most: number } {
  const { insert, setHeads } = engine
  const held = new Map<Hash, Hash>()
  let canonical = new Set(engine.hashes())
  let largest = 0
  engine.insert = async (payload) => {
    const { parentHash, blockNumber, blockHash } = payload
    let below: Hash | undefined = parentHash
    while (below !== undefined && !canonical.has(below)) below = held.get(below)
    if (below === undefined) throw engineFault('UNKNOWN_PARENT', { hash: parentHash, number: blockNumber - 1 })
    held.delete(blockHash)
    held.set(blockHash, parentHash)
    for (const [hash] of held) if (held.size > most) held.delete(hash)
    return await insert(payload)
  }
  engine.setHeads = async (heads) => {
    largest = Math.max(largest, held.size)
    held.clear()
    await setHeads(heads)
    canonical = new Set(engine.hashes())
  }
  return {
    get most() {
      return largest
    },
  }
}

it.each([
  ['its blocks fit into the bounds of an insert', 1_200],
  ['it holds fewer than these bounds', 200],
])('consensus/branchBounds: follows a reorg that is larger than the memory of the execution half when %s', async (_when, held) => {
  const common = grow(genesisOnly, 10)
  await using world = await follow(grow(common, 1_510, 1), { ours: grow(common, 1_500) })
  const branch = holdOnly(world.engine, held)
  const reasons = new Set<string>()
  await world.until(() => {
    for (const reason of world.reasons()) reasons.add(reason)
    return world.engine.durable.heads.unsafe.number === 1_510
  })
  expect(world.engine.hashes()).toEqual(world.source.chain.map(({ blockHash }) => blockHash))
  expect([...reasons]).toEqual([])
  expect(branch.most).toBeLessThanOrEqual(held)
})
