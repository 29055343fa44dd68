import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesFromBigint, compareBytes, trimLeft } from '#lib/bytes'
import { fromHex, type Hex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp } from '#lib/rlp'
import { decodeAccount, encodeAccount } from '#state/account'
import {
  latestState,
  latestStateRoot,
  oldestState,
  pruneChanges,
  stateAt,
  stateHead,
  unwindState,
  writeGenesis,
  writeState,
} from '#state/chainState'
import { indexHistory } from '#state/history'
import { computeStateRoot, noNodes, noState, type StateRoot } from '#state/stateRoot'
import type { WorldState } from '#state/worldState'
import { createMemoryKv } from '#store/memoryKv'
import type { Kv, KvReader } from '#store/ports'
import { tables } from '#store/tables'
import { buildTrie } from '#trie/buildTrie'
import { createProof, verifyProof } from '#trie/proof'
import { emptyCodeHash, emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import { createStateDiff, type StateDiff, type StateDiffParts } from '#types/stateDiff'

const key = (n: number): Uint8Array => keccak256(Uint8Array.of(n))
const noHash = (): undefined => undefined
const accountKeys = Array.from({ length: 12 }, (_, i) => key(i))
const slotKeys = Array.from({ length: 20 }, (_, i) => key(100 + i))
const codeOf = (n: number): Uint8Array => Uint8Array.of(0x60, n)

type ModelAccount = { nonce: bigint; balance: bigint; codeHash: Hash; slots: Map<Hex, bigint> }
/** All accounts with all slots, by hex of their keys. */
type Model = Map<Hex, ModelAccount>

const copyOf = (model: Model): Model => new Map([...model].map(([name, account]) => [name, { ...account, slots: new Map(account.slots) }]))

/** What a block does to one account: numbers are indices of the keys above. */
type Touch = {
  readonly account: number
  readonly kind: 'change' | 'remove' | 'wipe' | 'slots'
  readonly nonce: bigint
  readonly code: number
  readonly slots: readonly { readonly slot: number; readonly value: bigint }[]
}

const anySlots = fc.uniqueArray(
  fc.record({ slot: fc.nat(19), value: fc.oneof(fc.constant(0n), fc.bigInt(1n, 300n), fc.bigInt(0n, (1n << 256n) - 1n)) }),
  {
    selector: ({ slot }) => slot,
    maxLength: 12,
  },
)
const anyTouch: fc.Arbitrary<Touch> = fc.record({
  account: fc.nat(11),
  kind: fc.constantFrom('change', 'change', 'change', 'remove', 'wipe', 'slots'),
  nonce: fc.bigInt(0n, (1n << 64n) - 1n),
  code: fc.nat(3),
  slots: anySlots,
})
const anyBlock = fc.uniqueArray(anyTouch, { selector: ({ account }) => account, maxLength: 8 })

/** The diff of a block on a model, and the model after it. */
function play(model: Model, block: readonly Touch[]): { diff: StateDiff; after: Model } {
  const after = copyOf(model)
  const accounts: StateDiffParts['accounts'][number][] = []
  const slots: StateDiffParts['slots'][number][] = []
  const codes = new Map<Hash, Uint8Array>()
  for (const touch of block) {
    const addressKey = accountKeys[touch.account] ?? key(0)
    const name = toHex(addressKey)
    const before = after.get(name)
    if (touch.kind === 'remove') {
      if (before) accounts.push({ key: addressKey, change: null, wiped: true })
      after.delete(name)
      continue
    }
    if (touch.kind === 'slots' && !before) continue
    const wiped = touch.kind === 'wipe'
    const next: ModelAccount = { ...(before ?? { slots: new Map() }), ...changeOf(touch, before) }
    next.slots = new Map(wiped ? [] : next.slots)
    if (touch.kind !== 'slots') accounts.push({ key: addressKey, change: changeOf(touch, before), wiped })
    if (next.codeHash !== emptyCodeHash) codes.set(next.codeHash, codeOf(touch.code))
    slots.push(...applySlots(addressKey, next.slots, touch))
    after.set(name, next)
  }
  const parts = { accounts, slots, codes: touchedCodes(accounts, codes) }
  return { diff: createStateDiff(parts), after }
}

/** Sets the slots in a model. @returns them as a diff has them */
function applySlots(addressKey: Uint8Array, slots: Map<Hex, bigint>, touch: Touch): StateDiffParts['slots'] {
  return touch.slots.map(({ slot, value }) => {
    const slotKey = slotKeys[slot] ?? key(0)
    if (value === 0n) slots.delete(toHex(slotKey))
    else slots.set(toHex(slotKey), value)
    return { addressKey, slotKey, value: bytesFromBigint(value, 32) }
  })
}

function changeOf(touch: Touch, before: ModelAccount | undefined): { nonce: bigint; balance: bigint; codeHash: Hash } {
  if (touch.kind === 'slots' && before) return { nonce: before.nonce, balance: before.balance, codeHash: before.codeHash }
  const codeHash = touch.code === 0 ? emptyCodeHash : hashFromBytes(keccak256(codeOf(touch.code)))
  return { nonce: touch.nonce, balance: touch.nonce * 3n, codeHash }
}

const touchedCodes = (accounts: StateDiffParts['accounts'], codes: ReadonlyMap<Hash, Uint8Array>): StateDiffParts['codes'] => {
  const used = new Set(accounts.map(({ change }) => change?.codeHash))
  return [...codes].filter(([hash]) => used.has(hash)).map(([hash, code]) => ({ hash, code }))
}

/** The diff that makes a model of nothing. */
function wholeOf(model: Model): StateDiff {
  const accounts = [...model].map(([name, { nonce, balance, codeHash }]) => ({
    key: fromHex(name),
    change: { nonce, balance, codeHash },
    wiped: false,
  }))
  const slots = [...model].flatMap(([name, account]) =>
    [...account.slots].map(([slot, value]) => ({ addressKey: fromHex(name), slotKey: fromHex(slot), value: bytesFromBigint(value, 32) })),
  )
  return createStateDiff({ accounts, slots, codes: [] })
}

/** The latest rows of a store that was given the model as its genesis. */
function rebuilt(model: Model): Map<string, Hex> {
  const kv = createMemoryKv()
  const diff = wholeOf(model)
  const result = computeStateRoot(noNodes, emptyRoot, noState, diff)
  kv.write((tx) => writeGenesis(tx, diff, result))
  return readNow(kv, (reader) => dump(reader, latestTables))
}

const byKey = (a: { key: Uint8Array }, b: { key: Uint8Array }): number => compareBytes(a.key, b.key)

/** The root of a model, built from scratch. */
function rootOf(model: Model): Hash {
  const leaves = [...model].map(([name, account]) => ({
    key: fromHex(name),
    value: encodeAccount({ ...account, storageRoot: storageRootOf(account) }),
  }))
  return buildTrie(leaves.sort(byKey)).root
}

function storageRootOf({ slots }: ModelAccount): Hash {
  const leaves = [...slots].map(([name, value]) => ({ key: fromHex(name), value: encodeRlp(trimLeft(bytesFromBigint(value, 32))) }))
  return buildTrie(leaves.sort(byKey)).root
}

/** Everything the state says is what the model says: values, and for a few keys the proofs under the model's root. */
function expectModel({ view, nodes }: WorldState, model: Model, root: Hash): void {
  for (const addressKey of accountKeys) {
    const known = model.get(toHex(addressKey))
    const account = view.account(addressKey)
    expect(account).toEqual(
      known && { nonce: known.nonce, balance: known.balance, codeHash: known.codeHash, storageRoot: storageRootOf(known) },
    )
    const verdict = verifyProof(root, addressKey, createProof(nodes, undefined, root, addressKey))
    expect(verdict.kind).toBe(known ? 'present' : 'absent')
    if (verdict.kind === 'present') expect(decodeAccount(verdict.value)).toEqual(account)
    if (account && account.codeHash !== emptyCodeHash) expect(keccak256(view.code(account.codeHash))).toEqual(fromHex(account.codeHash))
    for (const slotKey of slotKeys) {
      const value = known?.slots.get(toHex(slotKey))
      expect(view.slot(addressKey, slotKey)).toEqual(value === undefined ? undefined : bytesFromBigint(value, 32))
      const storageRoot = account?.storageRoot ?? emptyRoot
      const proof = verifyProof(storageRoot, slotKey, createProof(nodes, addressKey, storageRoot, slotKey))
      expect(proof.kind).toBe(value === undefined ? 'absent' : 'present')
    }
  }
}

const latestTables = [tables.accounts, tables.storage, tables.accountNodes, tables.storageNodes]
const stateTables = [...latestTables, tables.changes]

/** All rows of the state's tables. */
function dump(reader: KvReader, from: readonly { id: number; name: string }[] = stateTables): Map<string, Hex> {
  const rows = new Map<string, Hex>()
  for (const { id, name } of from) for (const { key: at, value } of reader.range(id, {})) rows.set(`${name} ${toHex(at)}`, toHex(value))
  return rows
}

function readNow<T>(kv: Kv, read: (reader: KvReader) => T): T {
  using snapshot = kv.snapshot()
  return read(snapshot)
}

/** A chain of states in a store beside its models: `models[n]` is the state after block n. */
class Chain {
  readonly kv: Kv
  readonly models: Model[] = []
  readonly roots: Hash[] = []

  constructor(kv: Kv) {
    this.kv = kv
  }

  genesis(block: readonly Touch[]): void {
    const { diff, after } = play(new Map(), block)
    const result = computeStateRoot(noNodes, emptyRoot, noState, diff)
    this.kv.write((tx) => writeGenesis(tx, diff, result))
    this.#note(after, result)
  }

  append(block: readonly Touch[]): void {
    const number = this.models.length
    const { diff, after } = play(this.models[number - 1] ?? new Map(), block)
    const result = readNow(this.kv, (reader) => {
      const { view, nodes } = latestState(reader, noHash)
      return computeStateRoot(nodes, this.roots[number - 1] ?? emptyRoot, view, diff)
    })
    this.kv.write((tx) => writeState(tx, number, diff, result))
    this.#note(after, result)
  }

  unwind(): void {
    this.kv.write((tx) => unwindState(tx, this.models.length - 1))
    this.models.pop()
    this.roots.pop()
  }

  /** Values and proofs of every block from the oldest on. */
  check(): void {
    readNow(this.kv, (reader) => {
      expect(stateHead(reader)).toBe(this.models.length - 1)
      expect(latestStateRoot(reader)).toBe(this.roots.at(-1))
      expect(dump(reader, latestTables)).toEqual(rebuilt(this.models.at(-1) ?? new Map()))
      for (let number = oldestState(reader); number < this.models.length; number++) {
        expectModel(stateAt(reader, number, noHash), this.models[number] ?? new Map(), this.roots[number] ?? emptyRoot)
      }
    })
  }

  #note(after: Model, result: StateRoot): void {
    this.models.push(after)
    this.roots.push(result.root)
    expect(result.root).toBe(rootOf(after))
  }
}

const anyChain = fc.record({
  genesis: anyBlock,
  blocks: fc.array(anyBlock, { minLength: 1, maxLength: 7 }),
  indexAfter: fc.nat(7),
  unwound: fc.nat(7),
  again: fc.array(anyBlock, { maxLength: 3 }),
})

/** What the state of a chain keeps, on any adapter of `Kv`. */
export function stateContract(adapter: string, open: () => Kv, numRuns: number): void {
  describe(`state/chainState ${adapter}`, () => {
    it(`state/chainState ${adapter}: every block's values, root and proofs are those of a model, the latest rows those of a rebuild, before and after a reorg`, async () => {
      await fc.assert(
        fc.asyncProperty(anyChain, async ({ genesis, blocks, indexAfter, unwound, again }) => {
          await using kv = open()
          const chain = new Chain(kv)
          chain.genesis(genesis)
          for (const [i, block] of blocks.entries()) {
            chain.append(block)
            if (i === indexAfter) kv.write((tx) => indexHistory(tx, i + 1))
          }
          chain.check()
          for (let i = 0; i < Math.min(unwound, blocks.length); i++) chain.unwind()
          for (const block of again) chain.append(block)
          chain.check()
        }),
        { numRuns },
      )
    })

    it(`state/chainState ${adapter}: an unwind leaves every row as it was, byte for byte`, async () => {
      await fc.assert(
        fc.asyncProperty(anyChain, async ({ genesis, blocks, indexAfter }) => {
          await using kv = open()
          const chain = new Chain(kv)
          chain.genesis(genesis)
          const dumps: Map<string, Hex>[] = []
          for (const block of blocks) {
            dumps.push(readNow(kv, (reader) => dump(reader)))
            chain.append(block)
          }
          kv.write((tx) => indexHistory(tx, Math.min(indexAfter, blocks.length)))
          while (dumps.length > 0) {
            chain.unwind()
            expect(readNow(kv, (reader) => dump(reader))).toEqual(dumps.pop())
          }
          expect(readNow(kv, (reader) => [...reader.range(tables.historyIndex.id, {})])).toEqual([])
        }),
        { numRuns },
      )
    })

    it(`state/chainState ${adapter}: what is pruned is refused, what is kept stays right (HISTORY_PRUNED)`, async () => {
      await fc.assert(
        fc.asyncProperty(anyChain, fc.nat(7), async ({ genesis, blocks, again }, oldest) => {
          await using kv = open()
          const chain = new Chain(kv)
          chain.genesis(genesis)
          for (const block of blocks) chain.append(block)
          const kept = kv.write((tx) => pruneChanges(tx, oldest))
          expect(kept).toBe(Math.min(oldest, blocks.length))
          for (const block of again) chain.append(block)
          chain.check()
          readNow(kv, (reader) => {
            const changed = [...reader.range(tables.changes.id, {})].map((row) => row.key[7] ?? 0)
            expect(changed.every((number) => number > kept)).toBe(true)
            if (kept > 0) expect(() => stateAt(reader, kept - 1, noHash)).toThrow(expect.objectContaining({ code: 'HISTORY_PRUNED' }))
          })
          while (chain.models.length - 1 > kept) chain.unwind()
          if (kept > 0) expect(() => chain.unwind()).toThrow(expect.objectContaining({ code: 'HISTORY_PRUNED' }))
        }),
        { numRuns },
      )
    })

    it(`state/chainState ${adapter}: a long chain is indexed in chunks and searched where it is not yet`, async () => {
      await using kv = open()
      const chain = new Chain(kv)
      const block = (n: number): Touch[] => [
        { account: 1, kind: 'change', nonce: BigInt(n), code: 0, slots: [{ slot: 1, value: BigInt(n) }] },
      ]
      chain.genesis(block(0))
      for (let n = 1; n <= 240; n++) chain.append(block(n))
      const check = (numbers: readonly number[]): void =>
        readNow(kv, (reader) => {
          for (const n of numbers) expectModel(stateAt(reader, n, noHash), chain.models[n] ?? new Map(), chain.roots[n] ?? emptyRoot)
        })
      check([0, 1, 31, 32, 33, 199, 200, 201, 223, 224, 225, 239, 240])
      for (let n = 240; n > 190; n--) chain.unwind()
      check([0, 189, 190])
      for (let n = 191; n <= 210; n++) chain.append(block(n * 7))
      kv.write((tx) => pruneChanges(tx, 100))
      check([100, 101, 190, 191, 200, 201, 209, 210])
    })

    it(`state/chainState ${adapter}: hashes of blocks are the caller's, a code that is not there is named (CODE_MISSING)`, async () => {
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

    it(`state/chainState ${adapter}: blocks are written and undone in order (RangeError)`, async () => {
      await using kv = open()
      const chain = new Chain(kv)
      chain.genesis([])
      chain.append([])
      const nothing = createStateDiff({ accounts: [], slots: [], codes: [] })
      const result: StateRoot = { root: emptyRoot, nodes: [], storageRoots: new Map() }
      expect(() => kv.write((tx) => writeState(tx, 3, nothing, result))).toThrow(RangeError)
      expect(() => kv.write((tx) => unwindState(tx, 2))).toThrow(RangeError)
      expect(() => kv.write((tx) => writeGenesis(tx, nothing, result))).toThrow(RangeError)
      expect(() => readNow(kv, (reader) => stateAt(reader, 2, noHash))).toThrow(RangeError)
    })
  })
}
