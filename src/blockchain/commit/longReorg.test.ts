import { describe, expect, it } from 'vitest'
import { Disk, genesisId, startCommitting } from '#test/harness/chain/committing'
import type { L2Ref } from '#types/blockRef'
import type { Payload } from '#types/payload'

const sliced = { commitSliceMs: 0 }

/** Starts with `count` committed blocks, which another branch of one block replaces. */
async function replaced(count: number, ...options: Parameters<typeof startCommitting>) {
  const started = startCommitting(...options)
  const { grow, setUnsafe, execution } = started
  const refs = await grow(genesisId, count)
  await setUnsafe(refs.at(-1))
  execution.commit()
  const [side] = await grow(genesisId, 1, 1)
  if (side === undefined) return expect.fail()
  return { ...started, refs, side }
}

describe('blockchain/commit: a long reorg', () => {
  it('a new block waits a second for the removal of replaced blocks, then is refused and may be offered again (REORG_UNFINISHED)', async () => {
    const { grow, setUnsafe, pace, side, stored, clock, execution } = await replaced(6, new Disk(), sliced)
    pace.executionMs = 300
    const [heavy] = await grow(side, 1)
    await setUnsafe(heavy)
    pace.commitMs = 600
    const refused = { code: 'REORG_UNFINISHED', severity: 'retry', message: expect.stringContaining('4 replaced blocks') }
    await expect(grow(heavy as L2Ref, 1)).rejects.toMatchObject(refused)
    expect(stored()[0]).toBe(4)
    expect(await execution.payload(side.hash)).toMatchObject({ blockNumber: 1 })
    while (await clock.advanceToNext());
    expect(stored()[0]).toBe(2)
    expect((await grow(heavy as L2Ref, 1)).length).toBe(1)
  })

  it('a block on a state far below the head of the store waits until few replaced blocks are left', async () => {
    const started = startCommitting(new Disk(), sliced)
    const { grow, setUnsafe, execution, stored, pace } = started
    await setUnsafe((await grow(genesisId, 70)).at(-1))
    execution.commit()
    const { finalized } = await execution.heads()
    await setUnsafe(finalized)
    pace.commitMs = 600
    await expect(grow(genesisId, 1, 1)).rejects.toMatchObject({ code: 'REORG_UNFINISHED' })
    expect(stored()[0]).toBe(68)
    pace.commitMs = 0
    expect((await grow(genesisId, 1, 1)).length).toBe(1)
    expect(stored()[0]).toBe(64)
  })

  it('closing leaves the rest to the next start after ten seconds', async () => {
    const segments = new Map()
    const { setUnsafe, pace, side, stored, execution, disk } = await replaced(6, new Disk(), sliced, segments)
    await setUnsafe(side)
    pace.commitMs = 4_000
    await execution.close()
    expect(stored()).toEqual([3, 0, 0, 1])
    const again = startCommitting(disk, sliced, segments)
    expect(again.execution.published).toMatchObject({ heads: { unsafe: side }, committed: { number: 3 }, base: genesisId })
    again.execution.commit()
    expect(again.stored()).toEqual([1, 0, 0, 2])
  })

  it('heads that extend the new branch do not wait for the transaction that unwinds', async () => {
    const { grow, setUnsafe, side, stored, late, clock, execution } = await replaced(4, new Disk(), sliced, undefined, undefined, 'late')
    await setUnsafe(side)
    await clock.advanceMs(2_000)
    const [next] = await grow(side, 1)
    await setUnsafe(next)
    expect([stored()[0], execution.published.committed.number]).toEqual([4, 4])
    late?.write()
    expect(execution.published.committed.number).toBe(4)
    expect((await execution.payload(2))?.blockHash).toBe(next?.hash)
    execution.commit()
    expect(stored().slice(0, 1)).toEqual([2])
    expect((await execution.payload(1))?.blockHash).toBe(side.hash)
  })

  /** Starts with 12 committed blocks and a tree that holds a few of them. */
  async function startSmall() {
    const started = startCommitting(new Disk(), { ...sliced, maxTreeBytes: 20_000 })
    const refs: L2Ref[] = []
    const payloads: Payload[] = []
    while (refs.length < 12) {
      const [ref] = await started.grow(refs.at(-1) ?? genesisId, 1)
      if (ref === undefined) return expect.fail()
      await started.setUnsafe(ref)
      started.execution.commit()
      refs.push(ref)
      payloads.push((await started.execution.payload(ref.hash)) ?? expect.fail())
    }
    return { ...started, refs, payloads }
  }

  it('knows unwound blocks that the tree dropped, on the way back and forward again', async () => {
    const { setUnsafe, execution, events, refs } = await startSmall()
    for (const ref of refs.slice(0, -1).reverse()) {
      await setUnsafe(ref)
      execution.commit()
    }
    events.length = 0
    for (const ref of refs) expect((await execution.payload(ref.hash))?.blockNumber).toBe(ref.number)
    expect(events).toEqual([])
    for (const ref of refs.slice(1)) await setUnsafe(ref)
    execution.commit()
    expect((await execution.payload(12))?.blockHash).toBe(refs[11]?.hash)
    expect(events.filter((event) => event.startsWith('executed')).length).toBeGreaterThan(5)
  })

  it('a head on an unwound branch that is larger than the tree is refused, and its blocks can be offered again', async () => {
    const { setUnsafe, execution, refs, payloads } = await startSmall()
    await execution.setHeads({ ...(await execution.heads()), unsafe: refs[0] as L2Ref })
    execution.commit()
    await expect(setUnsafe(refs[11])).rejects.toMatchObject({ code: 'INVALID_FORKCHOICE' })
    expect((await execution.payload(refs[1]?.hash ?? genesisId.hash))?.blockNumber).toBe(2)
    expect(await execution.payload(refs[11]?.hash ?? genesisId.hash)).toBeUndefined()
    for (const [at, payload] of payloads.entries()) {
      expect(await execution.insert(payload)).toEqual({ kind: 'valid' })
      await setUnsafe(refs[at])
    }
    execution.commit()
    expect((await execution.payload(12))?.blockHash).toBe(refs[11]?.hash)
  })
})
