import { expect, it } from 'vitest'
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
