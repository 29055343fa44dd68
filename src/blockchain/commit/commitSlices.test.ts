import { describe, expect, it } from 'vitest'
import { storeFault } from '#store/faults'
import { committingConfig, Disk, genesisId, startCommitting } from '#test/harness/chain/committing'
import type { L2Ref } from '#types/blockRef'
import type { HeadRecord } from '../heads/headRecord.ts'
import { createChainView } from '../view/chainView.ts'

describe('blockchain/commit/commitBehind: a few blocks at a time', () => {
  const sliced = { commitSliceMs: 0 }
  const three = (refs: readonly L2Ref[], unsafe: number, safe: number, finalized: number) => {
    const [a, b, c] = [refs[unsafe - 1], refs[safe - 1], refs[finalized - 1]]
    return a && b && c ? { unsafe: a, safe: b, finalized: c } : expect.fail()
  }

  it('runs other work between transactions; stores labels of its own blocks, and the sequence of the heads with the last transaction only', async () => {
    const { execution, grow, clock, events, records, stored } = startCommitting(new Disk(), sliced)
    const refs = await grow(genesisId, 4)
    await execution.setHeads(three(refs, 4, 3, 2))
    await clock.advanceMs(1_999)
    events.length = 0
    const labels: number[][] = []
    while (await clock.advanceToNext()) labels.push(stored())
    expect(labels).toEqual([
      [1, 1, 1, 0],
      [2, 2, 2, 0],
      [3, 3, 2, 0],
      [4, 3, 2, 1],
    ])
    expect(events).toEqual([1, 2, 3, 4].flatMap((at) => ['begin', 'end', `published 4 above ${at}`]))
    const above = (record: HeadRecord): number[] => record.overlays.map(({ header }) => header.number)
    expect(records.slice(-4).map(above)).toEqual([[2, 3, 4], [3, 4], [4], []])
    expect(records.slice(-4).map(({ committed, base }) => [committed, base])).toEqual(
      refs.map(({ number, hash }) => [
        { number, hash },
        { number, hash },
      ]),
    )
  })

  it('answers calls between transactions; heads set meanwhile wait for the next round and stay in the journal', async () => {
    const { execution, grow, setUnsafe, clock, segments, disk, committed, stored } = startCommitting(new Disk(), sliced)
    const refs = await grow(genesisId, 3)
    await execution.setHeads(three(refs, 3, 1, 1))
    await clock.advanceMs(1_999)
    await clock.advanceToNext()
    const more = await grow(refs[2] as L2Ref, 2)
    await setUnsafe(more[1])
    await execution.setHeads({ ...three(refs, 1, 3, 2), unsafe: more[1] as L2Ref })
    expect(committed()).toBe(1)
    await clock.advanceToNext()
    await clock.advanceToNext()
    expect(stored()).toEqual([3, 1, 1, 1])
    const records = [...segments.values()].flat()
    expect(records.filter(({ kind }) => kind === 'heads').length).toBe(4)
    const again = startCommitting(disk, sliced, new Map(structuredClone([...segments])))
    expect(again.execution.published).toMatchObject({ heads: { unsafe: more[1], safe: refs[2], finalized: refs[1] }, base: { number: 3 } })
    await clock.advanceMs(1_999)
    expect(committed()).toBe(3)
    await clock.advanceMs(1)
    expect(stored()).toEqual([5, 3, 2, 3])
    expect([...segments.values()].flat()).toEqual([])
  })

  it('takes several transactions of two seconds in another thread, by the time of earlier ones, when many blocks become the head at once', async () => {
    const { late, grow, setUnsafe, clock, stored } = startCommitting(new Disk(), {}, undefined, undefined, 'late')
    let [head] = await grow(genesisId, 1)
    const heads: (number | undefined)[] = []
    const commitAll = async (): Promise<void> => {
      await setUnsafe(head)
      while (await clock.advanceToNext()) {
        late?.write(1_500)
        late?.deliver()
        heads.push(stored()[0])
      }
    }
    for (let block = 2; block <= 12; block++) {
      await commitAll()
      ;[head] = await grow(head as L2Ref, 1)
    }
    head = (await grow(head as L2Ref, 3)).at(-1)
    await commitAll()
    expect([...new Set(heads)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
  })

  it('keeps labels that move during a round when the segment that has them is removed', async () => {
    const { execution, grow, clock, segments, disk, stored } = startCommitting(new Disk(), sliced)
    const refs = await grow(genesisId, 2)
    await execution.setHeads(three(refs, 2, 1, 1))
    await clock.advanceMs(1_999)
    await clock.advanceToNext()
    await execution.setHeads(three(refs, 2, 2, 1))
    await clock.advanceToNext()
    expect(stored()).toEqual([2, 1, 1, 1])
    expect([...segments.values()].flat().map(({ kind }) => kind)).toEqual(['heads'])
    expect((await startCommitting(disk, sliced, segments).execution.heads()).safe).toEqual(refs[1])
  })

  it('unwinds a branch that is replaced half way, then writes the new one, and serves the new one meanwhile', async () => {
    const { execution, grow, clock, events, records, stored } = startCommitting(new Disk(), sliced)
    const refs = await grow(genesisId, 4)
    await execution.setHeads(three(refs, 4, 1, 1))
    await clock.advanceMs(1_999)
    for (let slice = 0; slice < 3; slice++) await clock.advanceToNext()
    expect(stored()).toEqual([3, 1, 1, 0])
    const side = await grow(refs[0] as L2Ref, 3, 1)
    await execution.setHeads({ unsafe: side[2] as L2Ref, safe: side[0] as L2Ref, finalized: refs[0] as L2Ref })
    const before = structuredClone(records.at(-1))
    events.length = 0
    const labels: number[][] = []
    while (await clock.advanceToNext()) {
      labels.push(stored())
      for (const [at, ref] of [refs[0], ...side].entries()) expect((await execution.payload(at + 1))?.blockHash).toBe(ref?.hash)
      for (const ref of refs) expect((await execution.payload(ref.hash))?.blockNumber).toBe(ref.number)
    }
    expect(labels).toEqual([
      [2, 1, 1, 0],
      [2, 2, 1, 0],
      [3, 2, 1, 0],
      [4, 2, 1, 2],
    ])
    expect(events).toEqual([1, 2, 3, 4].flatMap((at) => ['begin', 'end', `published 4 above ${at}`]))
    expect(records.slice(-4).map(({ committed }) => committed.hash)).toEqual([refs[1], ...side].map((ref) => ref?.hash))
    expect(before).toMatchObject({ committed: { number: 3 }, base: { number: 1 } })
  })

  it('a start in the middle of an unwind continues it', async () => {
    const { execution, grow, setUnsafe, clock, segments, disk, stored } = startCommitting(new Disk(), sliced)
    const refs = await grow(genesisId, 4)
    await setUnsafe(refs[3])
    execution.commit()
    const [side] = await grow(genesisId, 1, 1)
    await setUnsafe(side)
    await clock.advanceMs(1_999)
    await clock.advanceToNext()
    expect(stored()).toEqual([3, 0, 0, 1])
    const again = startCommitting(disk, sliced, new Map(structuredClone([...segments])))
    expect(again.execution.published).toMatchObject({ heads: { unsafe: side }, committed: { number: 3 }, base: genesisId })
    expect((await again.execution.payload(refs[3]?.hash ?? genesisId.hash))?.blockNumber).toBe(4)
    again.execution.commit()
    expect(again.stored()).toEqual([1, 0, 0, 2])
    expect((await again.execution.payload(1))?.blockHash).toBe(side?.hash)
  })

  it('heads that return to the old branch in the middle of its unwind keep the blocks that are left', async () => {
    const { execution, grow, setUnsafe, clock, events, stored } = startCommitting(new Disk(), sliced)
    const refs = await grow(genesisId, 4)
    await setUnsafe(refs[3])
    execution.commit()
    await setUnsafe((await grow(genesisId, 1, 1))[0])
    await clock.advanceMs(1_999)
    for (let slice = 0; slice < 2; slice++) await clock.advanceToNext()
    expect(stored()).toEqual([2, 0, 0, 1])
    events.length = 0
    await setUnsafe(refs[3])
    while (await clock.advanceToNext());
    expect(events).toEqual(['published 4 above 2', ...[3, 4].flatMap((at) => ['begin', 'end', `published 4 above ${at}`])])
    expect(stored()).toEqual([4, 0, 0, 3])
    expect((await execution.payload(4))?.blockHash).toBe(refs[3]?.hash)
  })

  it('heads that return to the old branch while its head, which only the store has, is being removed are set', async () => {
    const first = startCommitting(new Disk())
    const refs = await first.grow(genesisId, 4)
    await first.setUnsafe(refs[3])
    first.execution.commit()
    const again = startCommitting(first.disk, sliced, new Map(structuredClone([...first.segments])), undefined, 'late')
    const { execution, grow, setUnsafe, clock, stored } = again
    await setUnsafe((await grow(genesisId, 1, 1))[0])
    await clock.advanceMs(2_000)
    expect([execution.published.committed.number, stored()[0]]).toEqual([4, 4])
    await setUnsafe(refs[3])
    expect(execution.published.heads.unsafe).toEqual(refs[3])
    execution.commit()
    expect(stored()[0]).toBe(4)
    for (const ref of refs) expect((await execution.payload(ref.number))?.blockHash).toBe(ref.hash)
  })

  it('reads the new branch from a store in the middle of an unwind, before the record says so', async () => {
    const { execution, late, grow, setUnsafe, clock, disk, stored } = startCommitting(new Disk(), sliced, undefined, undefined, 'late')
    const refs = await grow(genesisId, 3)
    await setUnsafe(refs[2])
    execution.commit()
    const [side] = await grow(genesisId, 1, 1)
    await setUnsafe(side)
    const record = execution.published
    await clock.advanceMs(2_000)
    late?.write()
    expect(stored()[0]).toBe(2)
    using view = createChainView(disk.snapshot(), committingConfig, record)
    expect(view?.canonicalHash(1)).toBe(side?.hash)
    expect(view?.canonicalHash(2)).toBeUndefined()
    expect(view?.parent(genesisId.hash)?.header).toMatchObject({ number: 0, stateRoot: (await execution.payload(0))?.stateRoot })
    expect(view?.block(side?.hash ?? genesisId.hash)?.block.header.number).toBe(1)
    const other = { ...record, base: { number: 1, hash: side?.hash ?? genesisId.hash } }
    expect(createChainView(disk.snapshot(), committingConfig, other)).toBeUndefined()
  })

  it('writes no further block when the heads fall back to a stored one', async () => {
    const { grow, setUnsafe, clock, stored } = startCommitting(new Disk(), sliced)
    const refs = await grow(genesisId, 4)
    await setUnsafe(refs[3])
    await clock.advanceMs(1_999)
    for (let slice = 0; slice < 2; slice++) await clock.advanceToNext()
    await setUnsafe(refs[1])
    while (await clock.advanceToNext());
    expect(stored()).toEqual([2, 0, 0, 2])
  })

  it('writes before a block at the bound only as much as makes room for it', async () => {
    const { grow, setUnsafe, clock, pace, committed } = startCommitting(new Disk(), sliced)
    pace.executionMs = 80
    const refs = await grow(genesisId, 5)
    await setUnsafe(refs[4])
    const [next] = await grow(refs[4] as L2Ref, 1)
    expect(committed()).toBe(3)
    await setUnsafe(next)
    await grow(next as L2Ref, 1)
    expect(committed()).toBe(4)
    await clock.advanceMs(2_000)
    expect(committed()).toBe(6)
  })

  it('keeps the written blocks when the disk is full half way, and continues from there (DISK_FULL)', async () => {
    const { grow, setUnsafe, disk, clock, execution, stored } = startCommitting(new Disk(), sliced)
    const refs = await grow(genesisId, 3)
    await setUnsafe(refs[2])
    await clock.advanceMs(1_999)
    await clock.advanceToNext()
    disk.fails = storeFault('DISK_FULL', { dir: 'dir', reason: 'No space left on device' })
    await clock.advanceMs(10_000)
    expect(stored()).toEqual([1, 0, 0, 0])
    expect(() => execution.commit()).toThrow('No space left')
    disk.fails = undefined
    await clock.advanceMs(2_000)
    expect(stored()).toEqual([3, 0, 0, 1])
  })
})
