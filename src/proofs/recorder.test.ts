import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { putHeads, readHeads, readHeadsSequence } from '#blockchain/chainStore'
import { HistoryCache } from '#state/historyCache'
import { pruneHistory } from '#state/pruneHistory'
import { writeMark } from '#state/rows'
import type { KvReader, SnapshotSource } from '#store/ports'
import { proofsTables, tables } from '#store/tables'
import { ModelChain } from '#test/harness/chain/modelChain'
import { anyBlock, expectModel } from '#test/harness/chain/stateModel'
import { createManualClock } from '#test/harness/clock'
import { dice } from '#test/harness/dice'
import { beginAt } from '#test/harness/proofs/recordedChain'
import { sampleOf } from '#test/harness/sample'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { ChainDistance } from '#types/chainDistance'
import { recordedStates } from './olderStates.ts'
import { dropNewest, pruneBlocks } from './proofStore.ts'
import { Recorder } from './recorder.ts'
import { readRegions } from './regions.ts'
import { writeWanted } from './wanted.ts'

/** The reads of a reader, except `get`. */
const delegated = (reader: KvReader): Omit<KvReader, 'get'> => ({
  look: (...of) => reader.look(...of),
  peek: (...of) => reader.peek(...of),
  range: (...of) => reader.range(...of),
  keys: (...of) => reader.keys(...of),
})

/** A chain of states from a model, and a recorder of it. */
function start(seed: number, window: ChainDistance | 'all' = 'all') {
  const blocks = fc.sample(anyBlock, { seed, numRuns: 200 })
  const chain = new ModelChain(createMemoryKv())
  const kv = createMemoryKv()
  const recorder = new Recorder({ kv, chain: chain.kv, clock: createManualClock() }, window)
  const roll = dice(seed)
  let made = 0
  return {
    ...{ chain, kv, recorder },
    append(count: number): void {
      for (let i = 0; i < count; i++) chain.append(blocks[made++ % blocks.length] ?? [])
    },
    /** Runs the recorder until it has nothing to do. */
    settle(): void {
      for (let steps = 0; recorder.step(100).isBehind; steps++) if (steps > 1_000) throw new Error('the recorder does not end')
    },
    /** Removes the recorded blocks above a number. */
    dropTo(to: number): void {
      kv.write((tx) => {
        while ((readRegions(tx).at(-1)?.last ?? 0) > to) dropNewest(tx)
      })
    },
    /** Expects states of the window to equal the model: the first, the last, and some between. @returns the window */
    check(between = 8): readonly [number, number] | undefined {
      using proofs = kv.snapshot()
      using reader = chain.kv.snapshot()
      const states = recordedStates(proofs, reader, chain.head, new HistoryCache())
      if (!states.window) return undefined
      const { earliest, latest } = states.window
      const chosen = [earliest, latest, ...Array.from({ length: between }, () => earliest + roll(latest - earliest + 1))]
      for (const number of new Set(chosen)) {
        const [model, root] = [chain.models[number], chain.roots[number]]
        if (!model || !root) throw new Error(`no model of block ${number}`)
        expectModel(
          states.at(number, () => undefined),
          model,
          root,
        )
      }
      return [earliest, latest]
    },
  }
}

describe('proofs/recorder', () => {
  it('begins at the head, and has each later state while the chain forgets its own', () => {
    const { chain, append, settle, check } = start(1)
    append(10)
    settle()
    expect(check()).toEqual([10, 10])
    append(40)
    settle()
    chain.kv.write((tx) => pruneHistory(tx, { values: 45, nodes: 48 }, () => true))
    expect(check()).toEqual([10, 50])
    // the chain goes on, and the states end at the last recorded block
    append(5)
    expect(check()).toEqual([10, 50])
  })

  it('follows reorgs, also those below its first block', () => {
    const { chain, append, settle, check } = start(2)
    append(10)
    settle()
    append(10)
    settle()
    chain.unwind(6)
    append(3)
    expect(check()).toEqual([10, 14])
    settle()
    expect(check()).toEqual([10, 17])
    chain.unwind(12)
    append(7)
    expect(check()).toBeUndefined()
    settle()
    expect(check()).toEqual([12, 12])
    append(2)
    settle()
    expect(check()).toEqual([12, 14])
  })

  it('keeps recorded blocks when the chain begins after them, and refuses them at the start of a whole state (PROOFS_BELOW)', () => {
    const { chain, kv, append, recorder, settle, check } = start(13)
    append(10)
    settle()
    append(30)
    settle()
    append(60)
    beginAt(chain, 90)
    expect(() => recorder.check('proofs')).toThrow(/end at block 40, and the chain begins at block 90/)
    expect(check()).toBeUndefined()
    for (;;) {
      const { unwound, isBehind } = recorder.step(100)
      expect(unwound).toBe(0)
      if (!isBehind) break
    }
    expect(check()).toEqual([90, 100])
    expect(readRegions(kv.snapshot())[0]).toMatchObject({ first: 11, last: 40 })
  })

  it('accepts recorded blocks before a partial state, which a node begins anew by itself', () => {
    const { chain, append, recorder, settle, check } = start(14)
    append(10)
    settle()
    append(20)
    beginAt(chain, 20)
    chain.kv.write((tx) => writeMark(tx, 'partial', 20))
    recorder.check('proofs')
    settle()
    expect(check()).toEqual([20, 30])
  })

  it('records the deletions in blocks that schema 7 wrote', () => {
    const marksOf = (schema: 7 | 8): Uint8Array[] => {
      const { chain, kv, append, settle, check } = start(10)
      settle()
      append(40)
      chain.kv.write((tx) => {
        for (const { key, value } of [...tx.range(tables.changes.id, {})])
          if (schema === 7 && (value[0] ?? 0) > 1) tx.put(tables.changes.id, key, Uint8Array.of(1, ...value.subarray(1)))
      })
      settle()
      expect(check()).toEqual([0, 40])
      using proofs = kv.snapshot()
      return [...proofs.keys(tables.historyIndex.id, { from: Uint8Array.of(0x60), to: Uint8Array.of(0x61) })]
    }
    expect(marksOf(7).length).toBeGreaterThan(0)
    expect(marksOf(8)).toEqual(marksOf(7))
  })

  it('computes older states from values, up to the oldest that the chain has', () => {
    const { chain, kv, append, settle, check } = start(3)
    append(60)
    chain.kv.write((tx) => pruneHistory(tx, { values: 5, nodes: 50 }, () => true))
    settle()
    append(20)
    settle()
    kv.write((tx) => writeWanted(tx, 30))
    settle()
    expect(check()).toEqual([30, 80])
    kv.write((tx) => writeWanted(tx, 0))
    settle()
    expect(check()).toEqual([5, 80])
  })

  it('fills a gap that it can no longer copy', () => {
    const { chain, append, settle, check, recorder } = start(4)
    append(20)
    settle()
    append(10)
    settle()
    append(40)
    chain.kv.write((tx) => pruneHistory(tx, { values: 3, nodes: 50 }, () => true))
    recorder.step(100)
    expect(check()?.[0]).toBe(50)
    settle()
    expect(check()).toEqual([20, 70])
  })

  it('keeps each state readable when blocks are removed down to any one, whose indices were merged', () => {
    const { chain, append, settle, dropTo, check } = start(6)
    settle()
    append(320)
    settle()
    for (const to of [300, 272, 258, 255, 250, 100, 31, 15, 3]) {
      dropTo(to)
      expect(check(to === 250 ? 40 : 8)).toEqual([0, to])
    }
    settle()
    expect(check()).toEqual([0, chain.head])
  })

  it('keeps computed states readable when older ones were removed, also when more are computed later', () => {
    const { chain, kv, append, settle, check } = start(7)
    append(320)
    settle()
    kv.write((tx) => writeWanted(tx, 0))
    settle()
    expect(check()).toEqual([0, 320])
    for (const oldest of [3, 40, 70, 150]) {
      kv.write((tx) => {
        while (!pruneBlocks(tx, oldest, () => true).isDone);
      })
      kv.write((tx) => writeWanted(tx, oldest))
      settle()
      expect(check(40)).toEqual([oldest, chain.head])
    }
    kv.write((tx) => writeWanted(tx, 10))
    append(40)
    settle()
    expect(check(40)).toEqual([10, 360])
  })

  it('keeps each state readable around a gap that begins and ends inside of runs', () => {
    const { chain, append, settle, dropTo, check } = start(8)
    settle()
    append(30)
    settle()
    for (const length of sampleOf([25, 21], [25, 21, 200])) {
      append(length)
      chain.kv.write((tx) => pruneHistory(tx, { values: 0, nodes: chain.head - 5 }, () => true))
      settle()
      append(25)
      settle()
      expect(check(40)).toEqual([0, chain.head])
    }
    for (const to of sampleOf([80, 31], [290, 240, 80, 57, 31])) {
      dropTo(to)
      settle()
      expect(check(40)).toEqual([0, chain.head])
    }
  })

  it('reads no header in a step at a head without work, and begins again with a request', () => {
    const { chain, kv, append, recorder, settle } = start(9, { sec: 1_000_000 })
    append(20)
    settle()
    append(5)
    settle()
    let headers = 0
    const source: SnapshotSource = {
      snapshot() {
        const reader = chain.kv.snapshot()
        const get: KvReader['get'] = (table, key) => {
          if (table === tables.headers.id) headers++
          return reader.get(table, key)
        }
        return { ...delegated(reader), get, [Symbol.dispose]: () => reader[Symbol.dispose]() }
      },
      [Symbol.asyncDispose]: () => chain.kv[Symbol.asyncDispose](),
    }
    const idle = new Recorder({ kv, chain: source, clock: createManualClock() }, { sec: 1_000_000 })
    idle.step(100)
    expect(headers).toBeGreaterThan(0)
    headers = 0
    idle.step(100)
    expect(headers).toBe(0)
    kv.write((tx) => writeWanted(tx, 15))
    while (idle.step(100).isBehind);
    expect(readRegions(kv.snapshot())[0]?.first).toBe(16)
    expect(recorder.step(100).isBehind).toBe(false)
  })

  it('copies the row of a block once when a caller reads many nodes of the state before it', () => {
    const { chain, kv, append, settle } = start(6)
    append(2)
    settle()
    append(60)
    settle()
    using proofs = kv.snapshot()
    using reader = chain.kv.snapshot()
    let [looks, copies] = [0, 0]
    const isNodes = (table: number): boolean => table === proofsTables.nodeHistory.id
    const counting: KvReader = {
      ...delegated(proofs),
      get(table, key) {
        if (isNodes(table)) copies++
        return proofs.get(table, key)
      },
      look(table, key, use) {
        if (isNodes(table)) looks++
        return proofs.look(table, key, use)
      },
    }
    const state = recordedStates(counting, reader, chain.head, new HistoryCache()).at(4, () => undefined)
    const check = (): void => expectModel(state, chain.models[4] ?? expect.fail(), chain.roots[4] ?? expect.fail())
    while (copies === 0) check()
    const before = looks
    for (let round = 0; round < 5; round++) check()
    expect(looks).toBe(before)
    expect(copies).toBeLessThanOrEqual(60)
  })

  it('removes blocks that leave the window, and nothing else', () => {
    const { kv, append, settle, check } = start(5, { blocks: 12 })
    const rows = (): number => {
      using reader = kv.snapshot()
      return [14, 16, 5, 18, 19].reduce((sum, table) => sum + [...reader.keys(table, {})].length, 0)
    }
    append(5)
    settle()
    append(30)
    settle()
    expect(check()).toEqual([23, 35])
    const before = rows()
    append(64)
    settle()
    expect(check()).toEqual([87, 99])
    expect(rows()).toBeLessThan(2 * before)
  })

  it('removes no block while the chain removes replaced ones', () => {
    const { chain, append, settle, check } = start(5, { blocks: 12 })
    append(30)
    settle()
    append(20)
    const replaceFrom = (base: number | undefined): void =>
      chain.kv.write((tx) => {
        const { base: _before, ...heads } = readHeads(tx) ?? expect.fail()
        putHeads(tx, { ...heads, ...(base !== undefined && { base }) }, readHeadsSequence(tx))
      })
    replaceFrom(45)
    settle()
    expect(check()).toEqual([30, 50])
    replaceFrom(undefined)
    append(1)
    settle()
    expect(check()).toEqual([39, 51])
  })

  it('computes no states that leave the window at once', () => {
    const { kv, append, settle, check, recorder } = start(6, { blocks: 12 })
    append(30)
    settle()
    kv.write((tx) => writeWanted(tx, 0))
    for (let i = 0; i < 20; i++) settle()
    expect(check()).toEqual([18, 30])
    expect(recorder.step(100)).toMatchObject({ computed: 0, pruned: 0, isBehind: false })
    append(1)
    settle()
    expect(check()).toEqual([19, 31])
    expect(recorder.step(100)).toMatchObject({ computed: 0, pruned: 0, isBehind: false })
  })

  it.each([11, 12])('agrees with the model under random blocks, reorgs, pruning and gaps (seed %i)', (seed) => {
    const roll = dice(seed)
    const { chain, kv, append, settle, check, recorder } = start(seed, { blocks: 60 })
    append(5)
    for (let i = 0; i < 50; i++) {
      const kind = roll(8)
      if (kind < 3) append(1 + roll(25))
      else if (kind === 3) chain.unwind(Math.min(1 + roll(6), chain.head - Math.max(chain.oldest, chain.finalized)))
      else if (kind === 4) {
        const nodes = Math.max(0, chain.head - roll(20))
        chain.kv.write((tx) => pruneHistory(tx, { values: Math.max(0, nodes - roll(30)), nodes }, () => true))
      } else if (kind === 5) kv.write((tx) => writeWanted(tx, roll(chain.head)))
      else if (kind === 6) recorder.step(0)
      else settle()
      if (roll(3) === 0) check()
    }
    settle()
    expect(check()?.[1]).toBe(chain.head)
  })
})
