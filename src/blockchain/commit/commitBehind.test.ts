import { describe, expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { storeFault } from '#store/faults'
import { createMemoryJournal } from '#store/memoryJournal'
import { scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { committingConfig as config, Disk, genesisId, startCommitting } from '#test/harness/chain/committing'
import { createManualClock } from '#test/harness/clock'
import { testAddress } from '#test/harness/evm/sessions'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { BlockId, L2Ref } from '#types/blockRef'
import { hashHeader } from '#types/header'
import { createExecution } from '../execution.ts'
import type { HeadRecord } from '../heads/headRecord.ts'
import { createChainView } from '../view/chainView.ts'

describe('blockchain/commit/commitBehind: when', () => {
  it('commits all heads in one transaction two seconds after they were published, after their record', async () => {
    const { grow, setUnsafe, clock, events, committed } = startCommitting()
    const refs = await grow(genesisId, 3)
    await setUnsafe(refs[0])
    await clock.advanceMs(1_000)
    await setUnsafe(refs[2])
    await clock.advanceMs(999)
    expect(committed()).toBe(0)
    events.length = 0
    await clock.advanceMs(1)
    expect(events).toEqual(['begin', 'end', 'published 3 above 3'])
    expect(committed()).toBe(3)
    await clock.advanceMs(10_000)
    expect(events.length).toBe(3)
  })

  it('commits at once at 200 ms of execution, and always before the next block', async () => {
    const { grow, setUnsafe, clock, events, pace, committed } = startCommitting()
    pace.executionMs = 80
    const refs = await grow(genesisId, 3)
    await setUnsafe(refs[1])
    await clock.advanceMs(0)
    expect(committed()).toBe(0)
    await setUnsafe(refs[2])
    events.length = 0
    await grow(refs[2] as L2Ref, 1)
    expect(events).toEqual(['begin', 'end', 'published 3 above 3', 'executed 4'])
    const more = await grow(refs[2] as L2Ref, 4, 1)
    await setUnsafe(more[3])
    await clock.advanceMs(0)
    expect(committed()).toBe(7)
  })

  it('commits before uncommitted blocks exceed half the tree, so that no canonical block is dropped', async () => {
    const { grow, setUnsafe, execution } = startCommitting(new Disk(), { maxTreeBytes: 100_000 })
    let tip: BlockId = genesisId
    for (let i = 0; i < 40; i++) {
      const [next] = await grow(tip, 1)
      await setUnsafe(next)
      tip = next as L2Ref
      expect(execution.sizes().treeBytes).toBeLessThanOrEqual(110_000)
    }
    for (let number = 0; number <= 40; number++) expect((await execution.payload(number))?.blockNumber).toBe(number)
  })

  it('leaves blocks that are not under a head uncommitted, also at the bound', async () => {
    const { grow, setUnsafe, pace, committed } = startCommitting()
    pace.executionMs = 400
    const refs = await grow(genesisId, 5)
    expect(committed()).toBe(0)
    await setUnsafe(refs[4])
    await grow(refs[4] as L2Ref, 1)
    expect(committed()).toBe(5)
  })

  it('does not execute a known block again', async () => {
    const { grow, execution, setUnsafe, events } = startCommitting()
    const [first] = await grow(genesisId, 1)
    const payload = await execution.payload(first?.hash ?? genesisId.hash)
    if (!payload) throw new Error('no payload')
    events.length = 0
    expect(await execution.insert(payload)).toEqual({ kind: 'valid' })
    await setUnsafe(first)
    execution.commit()
    expect(await execution.insert(payload)).toEqual({ kind: 'valid' })
    expect(events.filter((event) => event.startsWith('executed'))).toEqual([])
  })
})

describe('blockchain/commit/commitBehind: no room', () => {
  it('refuses new blocks below the minimum of free space, serves heads and reads, and resumes with room again (DISK_LOW)', async () => {
    const { grow, setUnsafe, execution, disk, clock, committed } = startCommitting(new Disk(), { minFreeBytes: 500 })
    const refs = await grow(genesisId, 2)
    disk.free = 499
    await expect(grow(refs[1] as L2Ref, 1)).rejects.toMatchObject({ code: 'DISK_LOW', severity: 'retry' })
    const known = await execution.payload(refs[0]?.hash ?? genesisId.hash)
    expect(known && (await execution.insert(known))).toEqual({ kind: 'valid' })
    await setUnsafe(refs[1])
    await clock.advanceMs(5_000)
    expect(committed()).toBe(0)
    expect((await execution.payload(2))?.blockHash).toBe(refs[1]?.hash)
    disk.free = 500
    await clock.advanceMs(2_000)
    expect(committed()).toBe(2)
    expect((await grow(refs[1] as L2Ref, 1)).length).toBe(1)
  })

  it('changes nothing when a transaction finds no room, retries, and refuses blocks at the bound until then (DISK_FULL)', async () => {
    const { grow, setUnsafe, execution, disk, clock, pace, committed } = startCommitting()
    pace.executionMs = 300
    const refs = await grow(genesisId, 2)
    disk.fails = storeFault('DISK_FULL', { dir: 'dir', reason: 'No space left on device' })
    await setUnsafe(refs[1])
    await clock.advanceMs(10_000)
    expect(committed()).toBe(0)
    await expect(grow(refs[1] as L2Ref, 1)).rejects.toMatchObject({ code: 'DISK_FULL', severity: 'retry' })
    using view = execution.view()
    expect(view.canonicalHash(2)).toBe(refs[1]?.hash)
    expect(view.state(refs[1] as L2Ref)?.account(testAddress(0x77))).toBeUndefined()
    disk.fails = undefined
    await clock.advanceMs(2_000)
    expect(committed()).toBe(2)
    await grow(refs[1] as L2Ref, 1)
  })

  it('stops writing when the store failed, and reports it to callers that insert blocks (STORE_FAILED)', async () => {
    const { grow, setUnsafe, disk, clock, execution } = startCommitting()
    const refs = await grow(genesisId, 1)
    disk.fails = storeFault('STORE_FAILED', { dir: 'dir', reason: 'Input/output error' })
    await setUnsafe(refs[0])
    await clock.advanceMs(2_000)
    disk.fails = undefined
    await expect(grow(refs[0] as L2Ref, 1)).rejects.toMatchObject({ code: 'STORE_FAILED', severity: 'fatal' })
    expect((await execution.payload(1))?.blockHash).toBe(refs[0]?.hash)
  })

  it('leaves all blocks to the next start when close cannot commit', async () => {
    const { grow, setUnsafe, disk, execution, segments } = startCommitting()
    const refs = await grow(genesisId, 2)
    await setUnsafe(refs[1])
    disk.fails = storeFault('DISK_FULL', { dir: 'dir', reason: 'No space left on device' })
    await execution.close()
    disk.fails = undefined
    const again = startCommitting(disk, {}, segments)
    expect((await again.execution.heads()).unsafe).toEqual(refs[1])
    expect(again.events).toEqual(['executed 1', 'executed 2', 'published 2 above 0'])
    await again.execution.close()
    expect(again.execution.published).toMatchObject({ committed: { number: 2 }, overlays: [] })
    await expect(again.grow(refs[1] as L2Ref, 1)).rejects.toThrow('closed')
    await expect(again.setUnsafe(refs[0])).rejects.toThrow('closed')
  })
})

describe('blockchain/commit/commitBehind: journal', () => {
  it('removes committed blocks from the journal, keeps side blocks above the head, drops those below', async () => {
    const { grow, setUnsafe, execution, segments } = startCommitting()
    const main = await grow(genesisId, 2)
    const side = await grow(genesisId, 3, 1)
    const low = await grow(genesisId, 1, 2)
    await setUnsafe(main[1])
    expect(segments.size).toBe(1)
    execution.commit()
    expect(segments.size).toBe(1)
    const more = await grow(main[1] as L2Ref, 2)
    await setUnsafe(more[1])
    execution.commit()
    expect(segments.size).toBe(0)
    for (const { hash, number } of [side[2], low[0]] as L2Ref[])
      expect(await execution.payload(hash)).toMatchObject({ blockHash: hash, blockNumber: number })
  })

  it('stays short while side blocks arrive and no head is set', async () => {
    const { grow, setUnsafe, execution, disk, segments } = startCommitting(new Disk(), { maxTreeBytes: 200_000 }, new Map(), 10_000)
    const main = await grow(genesisId, 2)
    await setUnsafe(main[1])
    let most = 0
    for (let branch = 1; branch <= 120; branch++) {
      await grow(genesisId, 3, branch)
      most = Math.max(most, execution.sizes().journalBytes)
    }
    expect(most).toBeLessThan(100_000)
    const again = startCommitting(disk, {}, segments)
    expect((await again.execution.heads()).unsafe).toEqual(main[1])
    const last = await execution.payload((await grow(genesisId, 1, 120))[0]?.hash ?? genesisId.hash)
    expect(last && (await again.execution.payload(last.blockHash))).toEqual(last)
  })

  it('executes blocks of an earlier run only when a caller needs them', async () => {
    const first = startCommitting()
    const main = await first.grow(genesisId, 2)
    const side = await first.grow(genesisId, 3, 1)
    await first.setUnsafe(main[1])
    const { execution, events, setUnsafe } = startCommitting(first.disk, {}, first.segments)
    expect(events).toEqual(['executed 1', 'executed 2', 'published 2 above 0'])
    const known = await first.execution.payload(side[2]?.hash ?? genesisId.hash)
    expect(known && (await execution.insert(known))).toEqual({ kind: 'valid' })
    expect(events.length).toBe(3)
    await setUnsafe(side[2])
    expect(events.slice(3)).toEqual(['executed 1', 'executed 2', 'executed 3', 'published 3 above 0'])
  })

  it('bounds the uncommitted blocks of an earlier run too, which are executed one head after the other', async () => {
    const first = startCommitting()
    const refs = await first.grow(genesisId, 20)
    const payloads = await Promise.all(refs.map(({ hash }) => first.execution.payload(hash)))
    const { execution, events, pace, setUnsafe } = startCommitting(first.disk, { maxUncommittedMs: 200 }, first.segments)
    pace.executionMs = 80
    for (const [at, payload] of payloads.entries()) {
      expect(payload && (await execution.insert(payload))).toEqual({ kind: 'valid' })
      await setUnsafe(refs[at])
      expect(execution.published.overlays.length).toBeLessThanOrEqual(3)
    }
    expect(events.filter((event) => event.startsWith('executed'))).toHaveLength(20)
  })

  it('falls back to earlier heads when blocks of the last heads are damaged', async () => {
    const { grow, setUnsafe, disk, segments } = startCommitting()
    const refs = await grow(genesisId, 1)
    await setUnsafe(refs[0])
    const more = await grow(refs[0] as L2Ref, 2)
    await setUnsafe(more[1])
    const records = segments.get(1) ?? []
    const at = records.findLastIndex(({ kind }) => kind === 'block')
    records[at] = { kind: 'block', bytes: (records[at]?.bytes ?? new Uint8Array()).slice(0, 100) }
    const again = startCommitting(disk, {}, segments)
    expect((await again.execution.heads()).unsafe).toEqual(refs[0])
    await again.setUnsafe((await again.grow(refs[0] as L2Ref, 1))[0])
    const third = startCommitting(disk, {}, segments)
    expect((await third.execution.heads()).unsafe).toEqual(more[0])
  })

  it('ignores the journal of another chain', async () => {
    const other = smallChain(scheduleTo('granite'))
    const { grow, setUnsafe, segments } = startCommitting()
    await setUnsafe((await grow(genesisId, 1))[0])
    const deps = { kv: createMemoryKv(), evm: sharedEvm, clock: createManualClock(), log: silentLog }
    const journal = createMemoryJournal(segments)
    const execution = createExecution({ ...deps, journal, config: other.config, genesis: () => other.genesis })
    expect((await execution.heads()).unsafe).toMatchObject(other.config.genesis.l2)
  })
})

describe('blockchain/commit/commitBehind: readers', () => {
  it.each([
    ['large transactions', {}, 'here', 24],
    ['a transaction for each block', { commitSliceMs: 0 }, 'here', 40],
    ['large transactions in another thread', {}, 'late', 24],
    ['a transaction for each block in another thread', { commitSliceMs: 0 }, 'late', 30],
  ] as const)(
    'give one chain from the newest record and a fresh snapshot at every instant, also in reorgs and shorter chains: %s',
    async (_how, opts, committing, least) => {
      const started = startCommitting(new Disk(), opts, undefined, undefined, committing)
      const { grow, setUnsafe, execution, disk, records, late, clock } = started
      let expected: readonly string[] = []
      let looks = 0
      const look = (): void => {
        looks++
        const record = records.at(-1) as HeadRecord
        using view = createChainView(disk.snapshot(), config, record)
        expect(Array.from({ length: expected.length + 1 }, (_, number) => view?.canonicalHash(number))).toEqual([...expected, undefined])
        const { unsafe } = record.heads
        expect(view?.state(unsafe)?.account(testAddress(0x77))?.balance).toBe(balances.get(unsafe.hash))
        const header = view?.header(unsafe.hash)
        expect(header && hashHeader(header)).toBe(unsafe.hash)
      }
      const balances = new Map<string, bigint | undefined>()
      const main = await grow(genesisId, 5)
      const side = await grow(main[1] as L2Ref, 4, 1)
      for (const [index, { hash }] of side.entries()) balances.set(hash, BigInt(index + 1))
      const chainTo = (refs: readonly L2Ref[]): string[] => [genesisId.hash, ...refs.map(({ hash }) => hash)]
      disk.around = look
      // in another thread a transaction begins here, and the next heads are set before or after its end
      const commitSome = async (ends: boolean): Promise<void> => {
        if (late === undefined) return execution.commit()
        await clock.advanceToNext()
        look()
        if (ends) late.write()
        look()
      }
      for (const refs of [
        main.slice(0, 3),
        main,
        [...main.slice(0, 2), ...side],
        [...main.slice(0, 2), ...side.slice(0, 1)],
        main.slice(0, 1),
        main,
      ]) {
        for (const commits of [false, true, false]) {
          await setUnsafe(refs.at(-1))
          expected = chainTo(refs)
          look()
          if (commits) await commitSome(refs.length !== 5)
        }
      }
      expect(looks).toBeGreaterThan(least)
    },
  )

  it('a view does not wait for a transaction that readers see and the disk has not', async () => {
    const { execution, late, clock, grow, setUnsafe, stored } = startCommitting(new Disk(), {}, new Map(), undefined, 'late')
    const [first, second] = await grow(genesisId, 2)
    await setUnsafe(first)
    await clock.advanceMs(2_000)
    late?.show()
    expect(stored()[0]).toBe(1)
    {
      using before = execution.view()
      using again = execution.view()
      expect(execution.published.committed.number).toBe(0)
      expect([before, again].map((view) => view.header(first?.hash ?? genesisId.hash)?.number)).toEqual([1, 1])
      await setUnsafe(second)
      late?.deliver()
      expect(execution.published.committed.number).toBe(1)
      expect(before.header(genesisId.hash)?.number).toBe(0)
    }
    using after = execution.view()
    expect(after.header(second?.hash ?? genesisId.hash)?.number).toBe(2)
  })
})
