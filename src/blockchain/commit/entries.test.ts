import { expect, it } from 'vitest'
import { keccak256 } from '#lib/keccak'
import { storeFault } from '#store/faults'
import { tables } from '#store/tables'
import { Disk, genesisId, startCommitting } from '#test/harness/chain/committing'

const code = Uint8Array.of(0x60, 0x01)
const parts = { nodes: [], codes: [code] }

function hasCode(disk: Disk): boolean {
  using reader = disk.snapshot()
  return reader.get(tables.code.id, keccak256(code)) !== undefined
}

it('blockchain/commitBehind: parts of the state are stored at once, and a new record shows them to readers with old snapshots', async () => {
  const { execution, disk, clock, grow, setUnsafe, records, stored } = startCommitting()
  const [first] = await grow(genesisId, 1)
  await setUnsafe(first)
  const before = records.length
  const entered = execution.enter(parts)
  await clock.advanceMs(0)
  await entered
  expect(hasCode(disk)).toBe(true)
  expect(records.length).toBe(before + 1)
  expect(stored()[0]).toBe(0)
  await clock.advanceMs(2_000)
  expect(stored()[0]).toBe(1)
})

it('blockchain/commitBehind: parts wait for the blocks that another thread writes', async () => {
  const { execution, late, disk, clock, grow, setUnsafe, stored } = startCommitting(new Disk(), {}, new Map(), undefined, 'late')
  const [first] = await grow(genesisId, 1)
  await setUnsafe(first)
  await clock.advanceMs(2_000)
  const entered = execution.enter(parts)
  for (let i = 0; i < 2; i++) {
    await clock.advanceMs(0)
    expect(hasCode(disk)).toBe(false)
    late?.write()
    late?.deliver()
  }
  await entered
  expect(hasCode(disk)).toBe(true)
  expect(stored()[0]).toBe(1)
})

it('blockchain/commitBehind: parts that a full disk refuses are an error for their caller only (DISK_FULL)', async () => {
  const { execution, disk, clock, grow, setUnsafe, stored } = startCommitting()
  disk.fails = storeFault('DISK_FULL', { dir: 'chain', reason: 'ENOSPC' })
  const refused = expect(execution.enter(parts)).rejects.toMatchObject({ code: 'DISK_FULL' })
  await clock.advanceMs(0)
  await refused
  disk.fails = undefined
  const entered = execution.enter(parts)
  await clock.advanceMs(0)
  await entered
  const [first] = await grow(genesisId, 1)
  await setUnsafe(first)
  await clock.advanceMs(2_000)
  expect(stored()[0]).toBe(1)
})

it('blockchain/commitBehind: parts that wait are stored by the last commit', async () => {
  const { execution, disk } = startCommitting()
  const entered = execution.enter(parts)
  await execution.close()
  await entered
  expect(hasCode(disk)).toBe(true)
})
