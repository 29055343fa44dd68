import { expect, it } from 'vitest'
import { storeFault } from '#store/faults'
import { Disk, genesisId, startCommitting } from '#test/harness/chain/committing'
import { scriptedMemory } from '#test/harness/rpc/memoryPressure'
import type { BlockId } from '#types/blockRef'

const maxTreeBytes = 1_000_000

it('blockchain/commit: short memory commits published blocks at once, drops committed ones, and new blocks wait for commits', async () => {
  const memory = scriptedMemory()
  const { grow, setUnsafe, execution, clock, committed } = startCommitting(
    new Disk(),
    { maxTreeBytes },
    undefined,
    undefined,
    'here',
    memory,
  )
  const treeBytes = (): number => execution.sizes().treeBytes
  let tip: BlockId = genesisId
  const growTo = async (number: number): Promise<void> => {
    const refs = await grow(tip, number - tip.number)
    await setUnsafe(refs.at(-1))
    tip = refs.at(-1) ?? tip
  }
  await growTo(30)
  const before = treeBytes()
  expect([before > maxTreeBytes / 8, committed()]).toEqual([true, 0])
  memory.set('high')
  await clock.advanceMs(0)
  expect(committed()).toBe(30)
  expect(treeBytes()).toBeLessThanOrEqual(maxTreeBytes / 4)
  memory.set('full')
  const bytesOfBlock = before / 30
  for (let number = 31; number < 60; number++) {
    await growTo(number)
    expect(treeBytes()).toBeLessThanOrEqual(maxTreeBytes / 10 + bytesOfBlock)
  }
  expect(execution.published.heads.unsafe.number).toBe(59)
  memory.set('normal')
  await growTo(80)
  expect(treeBytes()).toBeGreaterThan(maxTreeBytes / 10 + bytesOfBlock)
})

it('blockchain/commit: while memory is short, blocks that no head names yet stay, so that their last one can become the head', async () => {
  const memory = scriptedMemory()
  const { grow, setUnsafe, execution } = startCommitting(new Disk(), { maxTreeBytes: 100_000 }, undefined, undefined, 'here', memory)
  memory.set('full')
  const refs = await grow(genesisId, 12)
  expect(execution.sizes().treeBytes).toBeGreaterThan(20_000)
  await setUnsafe(refs.at(-1))
  expect(execution.published.heads.unsafe).toEqual(refs.at(-1))
  await grow(refs[3] as BlockId, 12, 1)
  expect(execution.sizes().treeBytes).toBeLessThan(100_000)
})

it('blockchain/commit: after an error of the store, and after the end, a change of the memory level begins no commit', async () => {
  const memory = scriptedMemory()
  const disk = new Disk()
  const { grow, setUnsafe, execution, clock, committed, events } = startCommitting(disk, {}, undefined, undefined, 'here', memory)
  await setUnsafe((await grow(genesisId, 1))[0])
  disk.fails = storeFault('STORE_FAILED', { dir: 'dir', reason: 'Input/output error' })
  await clock.advanceMs(2_000)
  disk.fails = undefined
  const begun = events.filter((event) => event === 'begin').length
  memory.set('full')
  await clock.advanceMs(10_000)
  expect([committed(), events.filter((event) => event === 'begin').length]).toEqual([0, begun])
  await execution.close()
  memory.set('normal')
  expect(memory.listeners()).toBe(0)
})
