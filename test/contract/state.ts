import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concatBytes, u64Bytes, u64FromBytes } from '#lib/bytes'
import { fromHex, type Hex } from '#lib/hex'
import { Lru } from '#lib/lru'
import { latestState, latestStateRoot, oldestProof, oldestState, stateAt, unwindState, writeGenesis, writeState } from '#state/chainState'
import { createHistoryCaches, HistoryCache } from '#state/historyCache'
import { moveNodeChanges, unmovedBlocks } from '#state/moveNodeChanges'
import { pruneHistory } from '#state/pruneHistory'
import { computeStateRoot } from '#state/stateRoot'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import { emptyTrieDiff } from '#test/harness/chain/emptyTrieDiff'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { noNodes } from '#trie/ports'
import type { UpdatedState } from '#trie/tries'
import { emptyCodeHash, emptyRoot, type Hash, hashFromBytes, zeroHash } from '#types/ids'
import { createStateDiff } from '#types/stateDiffTable'
import { appendAsSchema3, appendAsSchema5, dump, readNow } from '../harness/chain/olderSchemas.ts'
import { anyBlock, expectModel, expectValues, key, type Model, play, rootOf, type Touch, wholeOf } from '../harness/chain/stateModel.ts'

const noHash = (): undefined => undefined

/** Latest rows of a store whose genesis is the model. */
function rebuilt(model: Model): Map<string, Hex> {
  const kv = createMemoryKv()
  const diff = wholeOf(model)
  const result = computeStateRoot(noNodes, emptyRoot, diff)
  kv.write((tx) => writeGenesis(tx, diff, result))
  return readNow(kv, (reader) => dump(reader, latestTables))
}

const latestTables = [tables.accounts, tables.storage, tables.accountNodes, tables.storageNodes]
const stateTables = [...latestTables, tables.changes, tables.nodeHistory]

/** Chain of states in a store, with its models: `models[n]` is the state after block n. */
class Chain {
  readonly kv: Kv
  readonly models: Model[] = []
  readonly roots: Hash[] = []
  /** instead of block hashes: each written block has another one */
  readonly #hashes: Hash[] = []
  #written = 0
  /** of all snapshots, before and after unwinds */
  readonly #caches = createHistoryCaches((share) => new Lru(2 ** 20 * share))

  constructor(kv: Kv) {
    this.kv = kv
  }

  genesis(block: readonly Touch[]): void {
    const { diff, after } = play(new Map(), block)
    const result = computeStateRoot(noNodes, emptyRoot, diff)
    this.kv.write((tx) => writeGenesis(tx, diff, result))
    this.#note(after, result)
  }

  append(block: readonly Touch[]): void {
    const number = this.models.length
    const { diff, after } = play(this.models[number - 1] ?? new Map(), block)
    const result = readNow(this.kv, (reader) => {
      const { nodes } = latestState(reader, noHash)
      return computeStateRoot(nodes, this.roots[number - 1] ?? emptyRoot, diff)
    })
    this.kv.write((tx) => writeState(tx, number, diff, result))
    this.#note(after, result)
  }

  appendAll(blocks: readonly (readonly Touch[])[]): void {
    for (const block of blocks) this.append(block)
  }

  get oldest(): number {
    return readNow(this.kv, oldestState)
  }

  read(number: number): unknown {
    return readNow(this.kv, (reader) => stateAt(reader, number, noHash))
  }

  /** @param nodes the oldest block whose trie nodes are kept */
  prune(oldest: number, hasTime: () => boolean, nodes = oldest): boolean {
    return this.kv.write((tx) => pruneHistory(tx, { values: oldest, nodes }, hasTime))
  }

  unwind(): void {
    this.kv.write((tx) => unwindState(tx, this.models.length - 1))
    this.models.pop()
    this.roots.pop()
    this.#hashes.pop()
  }

  /** Checks values and proofs of every block, oldest first. */
  check(): void {
    readNow(this.kv, (reader) => {
      expect(latestStateRoot(reader)).toBe(this.roots.at(-1))
      expect(dump(reader, latestTables)).toEqual(rebuilt(this.models.at(-1) ?? new Map()))
      const hashAt = (number: number): Hash | undefined => this.#hashes[number]
      const cache = new HistoryCache(this.#caches, {
        head: { number: this.models.length - 1, hash: this.#hashes.at(-1) ?? zeroHash },
        hashAt,
      })
      for (let number = oldestState(reader); number < this.models.length; number++) {
        expectModel(stateAt(reader, number, noHash, cache), this.models[number] ?? new Map(), this.roots[number] ?? emptyRoot)
      }
    })
  }

  #note(after: Model, result: UpdatedState): void {
    this.models.push(after)
    this.roots.push(result.root)
    this.#hashes.push(hashFromBytes(concatBytes(new Uint8Array(24), u64Bytes(++this.#written))))
    expect(result.root).toBe(rootOf(after))
  }
}

/** Has time for a number of looks. */
const timeFor = (looks: number): (() => boolean) => {
  let left = looks
  return () => left-- > 0
}

const anyChain = fc.record({
  genesis: anyBlock,
  blocks: fc.array(anyBlock, { minLength: 1, maxLength: 7 }),
  /** The first blocks are those of a store of schema 5, indexed up to a block. */
  old: fc.nat(7),
  indexAfter: fc.nat(7),
  unwound: fc.nat(7),
  again: fc.array(anyBlock, { maxLength: 3 }),
})

/** Tests of a chain's state that every adapter of `Kv` must pass. */
export function stateContract(adapter: string, open: () => Kv, numRuns: number): void {
  describe(`state/chainState ${adapter}`, () => {
    it(`state/chainState ${adapter}: has every block's values, root and proofs as in a model and the latest rows as in a rebuild, before and after a reorg`, async () => {
      await fc.assert(
        fc.asyncProperty(anyChain, async ({ genesis, blocks, old, indexAfter, unwound, again }) => {
          await using kv = open()
          const chain = new Chain(kv)
          chain.genesis(genesis)
          for (const [i, block] of blocks.entries()) {
            if (i < old) appendAsSchema5(chain, block, i <= indexAfter)
            else chain.append(block)
          }
          chain.check()
          for (let i = 0; i < Math.min(unwound, blocks.length); i++) chain.unwind()
          for (const block of again) chain.append(block)
          chain.check()
        }),
        { numRuns },
      )
    })

    it(`state/chainState ${adapter}: restores every row byte for byte on an unwind`, async () => {
      await fc.assert(
        fc.asyncProperty(anyChain, async ({ genesis, blocks, old, indexAfter }) => {
          await using kv = open()
          const chain = new Chain(kv)
          chain.genesis(genesis)
          const dumps: Map<string, Hex>[] = []
          for (const [i, block] of blocks.entries()) {
            dumps.push(readNow(kv, (reader) => dump(reader, stateTables)))
            if (i < old) appendAsSchema5(chain, block, i <= indexAfter)
            else chain.append(block)
          }
          while (dumps.length > 0) {
            chain.unwind()
            expect(readNow(kv, (reader) => dump(reader, stateTables))).toEqual(dumps.pop())
          }
          expect(readNow(kv, (reader) => [...reader.range(tables.historyIndex.id, {})])).toEqual([])
        }),
        { numRuns },
      )
    })

    it(`state/chainState ${adapter}: rejects reads and unwinds below the oldest state (HISTORY_PRUNED)`, async () => {
      await using kv = open()
      const { diff } = play(new Map(), [])
      const result = computeStateRoot(noNodes, emptyRoot, diff)
      kv.write((tx) => writeGenesis(tx, diff, result, 5))
      readNow(kv, (reader) => {
        expect(oldestState(reader)).toBe(5)
        expectModel(stateAt(reader, 5, noHash), new Map(), emptyRoot)
        expect(() => stateAt(reader, 4, noHash)).toThrow(expect.objectContaining({ code: 'HISTORY_PRUNED' }))
      })
      expect(() => kv.write((tx) => unwindState(tx, 5))).toThrow(expect.objectContaining({ code: 'HISTORY_PRUNED' }))
    })

    it(`state/chainState ${adapter}: reads every block from the oldest kept on after pruning, in steps, between new blocks and before a reorg`, async () => {
      const step = fc.record({ keep: fc.nat({ max: 12 }), rows: fc.nat({ max: 3 }), blocks: fc.array(anyBlock, { maxLength: 4 }) })
      await fc.assert(
        fc.asyncProperty(anyChain, fc.array(step, { maxLength: 5 }), async ({ genesis, blocks, unwound, again }, steps) => {
          await using kv = open()
          const chain = new Chain(kv)
          chain.genesis(genesis)
          chain.appendAll(blocks)
          for (const { keep, rows, blocks: more } of steps) {
            chain.prune(chain.models.length - 1 - keep, timeFor(rows))
            chain.check()
            chain.appendAll(more)
          }
          const unwindable = chain.models.length - 1 - chain.oldest
          for (let i = 0; i < Math.min(unwound, unwindable); i++) chain.unwind()
          chain.appendAll(again)
          chain.check()
          expect(() => chain.read(chain.oldest - 1)).toThrow()
        }),
        { numRuns },
      )
    })

    it(`state/chainState ${adapter}: leaves no row of pruned blocks, and continues an interrupted pruning`, async () => {
      await using kv = open()
      const chain = new Chain(kv)
      const blocks = fc.sample(anyBlock, { seed: 5, numRuns: 150 })
      chain.genesis(blocks[0] ?? [])
      for (const block of blocks.slice(1)) chain.append(block)
      let calls = 0
      while (!chain.prune(140, () => false)) calls++
      expect(calls).toBeGreaterThan(10)
      expect(chain.oldest).toBe(140)
      chain.check()
      readNow(kv, (reader) => {
        const of = (number: number): Uint8Array => u64Bytes(number)
        expect([...reader.keys(tables.changes.id, { to: of(141) })]).toEqual([])
        expect([...reader.keys(tables.nodeHistory.id, { to: concatBytes(Uint8Array.of(0), of(141)) })]).toEqual([])
        for (const at of reader.keys(tables.historyIndex.id, {})) {
          const level = (at[0] ?? 0) - 0x40
          if (level < 0x20) expect(u64FromBytes(at.subarray(1, 9)) + 4 ** level).toBeGreaterThan(141)
          else expect(u64FromBytes(at.subarray(-8))).toBeGreaterThan(140)
        }
      })
      expect(chain.prune(10, () => true)).toBe(true)
      expect(chain.oldest).toBe(140)
    })

    it(`state/chainState ${adapter}: indexes a long chain in runs of several levels, after blocks of schema 5, also after a reorg`, async () => {
      await using kv = open()
      const chain = new Chain(kv)
      const block = (n: number): Touch[] => [
        { account: 1, kind: 'change', nonce: BigInt(n), code: 0, slots: [{ slot: n % 3, value: BigInt(n % 2) }] },
      ]
      chain.genesis(block(0))
      for (let n = 1; n <= 40; n++) appendAsSchema5(chain, block(n), n <= 35)
      for (let n = 41; n <= 240; n++) chain.append(block(n))
      const check = (numbers: readonly number[]): void =>
        readNow(kv, (reader) => {
          for (const n of numbers) expectModel(stateAt(reader, n, noHash), chain.models[n] ?? new Map(), chain.roots[n] ?? emptyRoot)
        })
      check([0, 1, 31, 32, 33, 199, 200, 201, 223, 224, 225, 239, 240])
      for (let n = 240; n > 190; n--) chain.unwind()
      check([0, 189, 190])
      for (let n = 191; n <= 210; n++) chain.append(block(n * 7))
      check([100, 101, 190, 191, 200, 201, 209, 210])
    })

    it(`state/chainState ${adapter}: takes block hashes from the caller, and reports a missing code by its hash (CODE_MISSING)`, async () => {
      await using kv = open()
      new Chain(kv).genesis([])
      readNow(kv, (reader) => {
        const hash = hashFromBytes(key(7))
        const { view } = latestState(reader, (number) => (number === 7 ? hash : undefined))
        expect([view.blockHash(7), view.blockHash(8)]).toEqual([hash, undefined])
        expect(view.code(emptyCodeHash)).toHaveLength(0)
        expect(() => view.code(hash)).toThrow(expect.objectContaining({ code: 'CODE_MISSING', data: { hash } }))
      })
    })

    it(`state/chainState ${adapter}: requires blocks to be written and unwound in order (RangeError)`, async () => {
      await using kv = open()
      const chain = new Chain(kv)
      chain.genesis([])
      chain.append([])
      const nothing = createStateDiff({ accounts: [], slots: [], codes: [] })
      const result: UpdatedState = { root: emptyRoot, nodes: emptyTrieDiff, storageRoots: new Map() }
      expect(() => kv.write((tx) => writeState(tx, 3, nothing, result))).toThrow(RangeError)
      expect(() => kv.write((tx) => unwindState(tx, 2))).toThrow(RangeError)
      expect(() => kv.write((tx) => writeGenesis(tx, nothing, result))).toThrow(RangeError)
      expect(() => readNow(kv, (reader) => stateAt(reader, 2, noHash))).toThrow(RangeError)
    })
  })
}

/** Tests of long chains, and of chains that an earlier version wrote. */
export function longStateContract(adapter: string, open: () => Kv): void {
  describe(`state/chainState ${adapter}, long chains`, () => {
    it(`state/chainState ${adapter}: reads values of blocks whose trie nodes are pruned, refuses their proofs (HISTORY_PRUNED), and unwinds`, async () => {
      await using kv = open()
      const chain = new Chain(kv)
      const blocks = fc.sample(anyBlock, { seed: 13, numRuns: 140 })
      chain.genesis(blocks[0] ?? [])
      chain.appendAll(blocks.slice(1, 130))
      expect(chain.prune(20, () => true, 100)).toBe(true)
      const check = (): void =>
        readNow(kv, (reader) => {
          expect([oldestState(reader), oldestProof(reader)]).toEqual([20, 100])
          for (const number of [20, 21, 64, 99]) {
            const { view, nodes } = stateAt(reader, number, noHash)
            expectValues(view, chain.models[number] ?? new Map())
            const pruned = expect.objectContaining({ code: 'HISTORY_PRUNED', data: { number, oldest: 100, what: 'trie nodes' } })
            expect(() => nodes.get(undefined, new Uint8Array(), fromHex(chain.roots[number] ?? emptyRoot))).toThrow(pruned)
          }
          for (let number = 100; number < chain.models.length; number++) {
            expectModel(stateAt(reader, number, noHash), chain.models[number] ?? new Map(), chain.roots[number] ?? emptyRoot)
          }
        })
      check()
      while (chain.models.length > 105) chain.unwind()
      chain.appendAll(blocks.slice(130))
      check()
    })

    it(`state/chainState ${adapter}: has proofs of every block of a long chain, in and after segments of node changes, also after a reorg into a segment`, async () => {
      await using kv = open()
      const chain = new Chain(kv)
      const blocks = fc.sample(anyBlock, { seed: 7, numRuns: 230 })
      chain.genesis(blocks[0] ?? [])
      for (const block of blocks.slice(1, 200)) chain.append(block)
      const check = (numbers: readonly number[]): void =>
        readNow(kv, (reader) => {
          for (const n of numbers) expectModel(stateAt(reader, n, noHash), chain.models[n] ?? new Map(), chain.roots[n] ?? emptyRoot)
        })
      check([0, 1, 15, 62, 63, 64, 65, 100, 126, 127, 128, 190, 191, 192, 198, 199])
      while (chain.models.length > 121) chain.unwind()
      check([0, 62, 64, 119, 120])
      for (const block of blocks.slice(200)) chain.append(block)
      check([0, 63, 119, 120, 121, 126, 127, 128, 149, 150])
    })

    it(`state/chainState ${adapter}: moves the node changes of an earlier version, a block at a time, with every proof as before`, async () => {
      await using kv = open()
      const chain = new Chain(kv)
      const [first = [], ...blocks] = fc.sample(anyBlock, { seed: 17, numRuns: 150 })
      chain.genesis(first)
      for (const block of blocks.slice(0, 70)) appendAsSchema3(chain, block)
      chain.appendAll(blocks.slice(70, 130))
      const left = (): number => readNow(kv, unmovedBlocks)
      const check = (): void =>
        readNow(kv, (reader) => {
          for (const n of [0, 1, 30, 62, 63, 64, 69, 70, 90]) {
            if (n < chain.models.length) expectModel(stateAt(reader, n, noHash), chain.models[n] ?? new Map(), chain.roots[n] ?? emptyRoot)
          }
        })
      expect(left()).toBe(70)
      for (let moved = 1; left() > 0; moved++) {
        // between two transactions of the move
        kv.write((tx) => moveNodeChanges(tx, () => false))
        expect(left()).toBe(70 - moved)
        if ([6, 8, 70].includes(moved)) check()
      }
      expect(kv.write((tx) => moveNodeChanges(tx, () => true))).toBe(true)
      readNow(kv, (reader) => {
        const isNode = (key: Uint8Array): boolean => key[8] === tables.accountNodes.id || key[8] === tables.storageNodes.id
        expect([...reader.keys(tables.changes.id, {})].filter(isNode)).toEqual([])
        const isNodeIndex = (key: Uint8Array): boolean => key[0] === tables.accountNodes.id || key[0] === tables.storageNodes.id
        expect([...reader.keys(tables.historyIndex.id, {})].filter(isNodeIndex)).toEqual([])
        const segments = [...reader.keys(tables.nodeHistory.id, { from: Uint8Array.of(1) })]
        expect(segments.map((key) => key.at(-1))).toEqual([0, 1])
      })
      while (chain.models.length > 40) chain.unwind()
      chain.appendAll(blocks.slice(130))
      check()
    })

    it(`state/chainState ${adapter}: reads and unwinds blocks whose node changes an earlier version wrote`, async () => {
      await using kv = open()
      const chain = new Chain(kv)
      const [first = [], ...blocks] = fc.sample(anyBlock, { seed: 11, numRuns: 45 })
      chain.genesis(first)
      for (const block of blocks.slice(0, 20)) appendAsSchema3(chain, block)
      chain.check()
      for (const block of blocks.slice(20)) chain.append(block)
      chain.check()
      while (chain.models.length > 15) chain.unwind()
      chain.check()
      for (const block of blocks.slice(30)) chain.append(block)
      chain.check()
    })
  })
}
