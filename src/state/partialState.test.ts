import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MissingState, type WantedState } from '#evm/ports'
import { bytesFromBigint, concatBytes, emptyBytes } from '#lib/bytes'
import { type Hex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { shareBytes, unpackBytes } from '#lib/packedBytes'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import { dump, readNow } from '#test/harness/chain/olderSchemas'
import { provedPart } from '#test/harness/state/provedParts'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { withSameDigests } from '#test/harness/store/sameDigests'
import { encodeBranch } from '#trie/node'
import { noNodes } from '#trie/ports'
import { createProof } from '#trie/proof'
import { emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'
import type { BlockWitness } from './blockWitness.ts'
import { latestState, latestStateRoot, markLoadedState, stateAt, unwindState, writeGenesis, writeState } from './chainState.ts'
import { beginPartialState, enterFetched, type FetchedState, placeNodes } from './fetchedState.ts'
import { computeStateRoot } from './stateRoot.ts'

const noHash = (): undefined => undefined

/** First bytes of keys that form a branch, below it an extension of one nibble to another branch, and a key that leaves the trie at the extension. */
const forked = [
  [0x01, 0x20],
  [0x01, 0x30],
  [0xf0, 0],
  [0x05, 0],
]

/** Keys of which half share all but their last nibbles, so that tries have extensions and embedded leaves. */
function keysOf(seed: number): readonly Uint8Array[] {
  return Array.from({ length: 24 }, (_, at) => {
    const first = forked[at]
    if (first) return Uint8Array.from({ length: 32 }, (_byte, i) => first[i] ?? seed)
    if (at % 2 === 0) return keccak256(Uint8Array.of(seed, at))
    const key = new Uint8Array(32).fill(seed)
    key[31] = at * 9
    if (at % 3 === 0) key[16] = at
    if (at % 5 === 0) key[0] = at
    return key
  })
}
const accountKeys = keysOf(1)
const slotKeys = keysOf(2)
const code = Uint8Array.of(0x60, 1)
const codeHash = hashFromBytes(keccak256(code))

/** `create` makes an absent account, `remove` an account without slots absent. Whatever does not apply is left out. */
type Touch = {
  readonly account: number
  readonly kind: 'create' | 'change' | 'remove'
  readonly balance: bigint
  readonly slots: readonly { readonly slot: number; readonly value: bigint }[]
}
const anySlots = fc.uniqueArray(fc.record({ slot: fc.nat(23), value: fc.oneof(fc.constant(0n), fc.bigInt(1n, 300n)) }), {
  selector: ({ slot }) => slot,
  maxLength: 8,
})
const anyTouch: fc.Arbitrary<Touch> = fc.record({
  account: fc.nat(23),
  kind: fc.constantFrom('create', 'change', 'change', 'remove'),
  balance: fc.bigInt(1n, 1_000n),
  slots: anySlots,
})
const anyBlock = fc.uniqueArray(anyTouch, { selector: ({ account }) => account, maxLength: 6 })
/** All accounts, so that a partial state begins with unknown parts. */
const anyGenesis = fc
  .array(fc.tuple(fc.boolean(), fc.bigInt(1n, 99n), anySlots), { minLength: 24, maxLength: 24 })
  .map((all) =>
    all.flatMap(([is, balance, slots], account): Touch[] => (is || account === 0 ? [{ account, kind: 'create', balance, slots }] : [])),
  )

type Model = ReadonlyMap<number, { readonly balance: bigint; readonly slots: ReadonlyMap<number, bigint> }>
type Played = { readonly diff: StateDiff; readonly after: Model; readonly touched: readonly Touch[] }

function play(model: Model, block: readonly Touch[]): Played {
  const after = new Map(model)
  const touched = block.filter(({ account, kind }) => {
    const slots = model.get(account)?.slots
    return kind === 'create' ? slots === undefined : kind === 'remove' ? slots?.size === 0 : slots !== undefined
  })
  const parts = { accounts: [] as unknown[], slots: [] as unknown[] }
  for (const { account, kind, balance, slots } of touched) {
    const key = accountKeys[account] as Uint8Array
    if (kind === 'remove') {
      after.delete(account)
      parts.accounts.push({ key, change: null, wiped: true })
      continue
    }
    parts.accounts.push({ key, change: { nonce: 1n, balance, codeHash }, wiped: kind === 'create' })
    const own = new Map(model.get(account)?.slots)
    for (const { slot, value } of slots) {
      if ((own.get(slot) ?? 0n) === value) continue
      if (value === 0n) own.delete(slot)
      else own.set(slot, value)
      parts.slots.push({ addressKey: key, slotKey: slotKeys[slot], value: bytesFromBigint(value, 32) })
    }
    after.set(account, { balance, slots: own })
  }
  return { diff: createStateDiff({ ...parts, codes: [] } as never), after, touched }
}

const everySlot = slotKeys.map((_key, slot) => ({ slot, value: 0n }))
const everything = accountKeys.map((_key, account) => ({ account, slots: everySlot }))

const stateTables = [tables.accounts, tables.storage, tables.accountNodes, tables.storageNodes, tables.code]
const allTables = [...stateTables, tables.changes, tables.nodeHistory, tables.historyIndex]

/** A whole state, and a partial state that begins with the root node of a block and then executes the same blocks. */
class Pair {
  readonly whole = withSameDigests(createMemoryKv())
  readonly part = withSameDigests(createMemoryKv())
  readonly models: Model[] = []
  readonly roots: Hash[] = []
  fetched = 0
  /** parts of an older state, which arrive late */
  #late: FetchedState | undefined

  readonly #isWitnessed: boolean

  constructor(genesis: readonly Touch[], isWitnessed = false) {
    this.#isWitnessed = isWitnessed
    const { diff, after } = play(new Map(), genesis)
    const result = computeStateRoot(noNodes, emptyRoot, diff)
    this.whole.write((tx) => {
      writeGenesis(tx, diff, result)
      tx.put(tables.code.id, keccak256(code), code)
    })
    this.models.push(after)
    this.roots.push(result.root)
    const [top = emptyBytes] = readNow(this.whole, (reader) =>
      createProof(latestState(reader, noHash).nodes, undefined, result.root, new Uint8Array(32)),
    )
    this.part.write((tx) => {
      beginPartialState(tx, 0, top)
      markLoadedState(tx, 0)
    })
  }

  get root(): Hash {
    return this.roots.at(-1) ?? emptyRoot
  }

  /** Runs something that reads the partial state, again and again until it lacks nothing. */
  withState<T>(run: (kv: Kv) => T): T {
    for (let tries = 0; tries < 500; tries++) {
      try {
        return run(this.part)
      } catch (error) {
        if (!(error instanceof MissingState)) throw error
        const { wanted } = error
        this.fetched++
        const parts = readNow(this.whole, (reader) => provedPart(latestState(reader, noHash), this.root, wanted))
        this.part.write((tx) => enterFetched(tx, parts))
      }
    }
    throw new Error('the same part is wanted without end')
  }

  append(block: readonly Touch[]): void {
    const { diff, after, touched } = play(this.models.at(-1) ?? new Map(), block)
    const number = this.models.length
    const late = this.#someParts(number)
    if (this.#isWitnessed && number % 2 === 0) this.enterWitness(this.witness(touched))
    const result = this.withState((kv) =>
      readNow(kv, (reader) => {
        const { view, nodes } = latestState(reader, noHash)
        for (const { account, kind, slots } of touched) {
          const key = accountKeys[account] as Uint8Array
          expect(view.account(key)?.balance).toBe(this.models.at(-1)?.get(account)?.balance)
          if (kind === 'change') for (const { slot } of slots) view.slot(key, slotKeys[slot] as Uint8Array)
        }
        return computeStateRoot(nodes, this.root, diff)
      }),
    )
    const expected = readNow(this.whole, (reader) => computeStateRoot(latestState(reader, noHash).nodes, this.root, diff))
    expect(result.root).toBe(expected.root)
    this.whole.write((tx) => writeState(tx, number, diff, expected))
    this.roots.push(result.root)
    // of the state after the block, which is not stored yet
    if (this.#isWitnessed && number % 3 === 0) this.enterWitness(this.witness(everything))
    this.part.write((tx) => writeState(tx, number, diff, result))
    this.models.push(after)
    this.#enterLate()
    this.#late = late
  }

  #someParts(seed: number): FetchedState {
    const [addressKey, slotKey] = [accountKeys[(seed * 7) % 24] as Uint8Array, slotKeys[(seed * 5) % 24] as Uint8Array]
    return readNow(this.whole, (reader) => provedPart(latestState(reader, noHash), this.root, { kind: 'slot', addressKey, slotKey }))
  }

  /** Returns the witness of a block that reads keys of the whole state. */
  witness(touched: readonly Pick<Touch, 'account' | 'slots'>[]): BlockWitness {
    const parts = readNow(this.whole, (reader) =>
      touched.flatMap(({ account, slots }) =>
        slots.map(({ slot }) => {
          const [addressKey, slotKey] = [accountKeys[account] as Uint8Array, slotKeys[slot] as Uint8Array]
          return provedPart(latestState(reader, noHash), this.root, { kind: 'slot', addressKey, slotKey })
        }),
      ),
    )
    const nodes = new Map(parts.flatMap((part) => part.nodes.map(({ rlp }) => [toHex(rlp), rlp])))
    return { stateRoot: this.root, nodes: shareBytes([...nodes.values()]), codes: shareBytes([code]) }
  }

  enterWitness(witness: BlockWitness): void {
    this.part.write((tx) => enterFetched(tx, { nodes: [], codes: [], witness }))
  }

  #enterLate(): void {
    const late = this.#late
    if (late) this.part.write((tx) => enterFetched(tx, late))
  }

  /** Removes the last block. The partial state needs nothing for it. */
  unwind(): void {
    for (const kv of [this.whole, this.part]) kv.write((tx) => unwindState(tx, this.models.length - 1))
    this.models.pop()
    this.roots.pop()
    this.#enterLate()
  }

  /** Expects each row of the partial state to be that of the whole one. */
  expectPart(): void {
    const [whole, part] = [this.whole, this.part].map((kv) => readNow(kv, (reader) => dump(reader, allTables)))
    for (const [row, value] of part as Map<string, Hex>) expect([row, value]).toEqual([row, whole?.get(row)])
    expect(readNow(this.part, latestStateRoot)).toBe(this.root)
  }

  /** Reads every key at every retained block, newest first, and fetches what is unknown. */
  readAll(): void {
    for (let number = this.models.length - 1; number >= 0; number--) {
      const model = this.models[number] as Model
      for (const [account, addressKey] of accountKeys.entries()) {
        const known = model.get(account)
        const found = this.withState((kv) => readNow(kv, (reader) => stateAt(reader, number, noHash).view.account(addressKey)))
        expect(found?.balance).toBe(known?.balance)
        for (const [slot, slotKey] of slotKeys.entries()) {
          const value = this.withState((kv) => readNow(kv, (reader) => stateAt(reader, number, noHash).view.slot(addressKey, slotKey)))
          expect(value && BigInt(toHex(value))).toBe(known?.slots.get(slot))
        }
        if (found)
          expect(this.withState((kv) => readNow(kv, (reader) => latestState(reader, noHash).view.code(found.codeHash)))).toEqual(code)
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.whole[Symbol.asyncDispose]()
    await this.part[Symbol.asyncDispose]()
  }
}

describe('state/partialState', () => {
  it.each<[string, boolean, number]>([
    ['parts that come one by one', false, 300],
    ['witnesses of some blocks, and of states that are not stored yet', true, 50],
  ])(
    'state/partialState: blocks on a state that knows nothing at first have the roots and rows of a whole one, also after unwinds: %s',
    async (_way, isWitnessed, least) => {
      let fetched = 0
      await fc.assert(
        fc.asyncProperty(
          anyGenesis,
          fc.array(anyBlock, { minLength: 1, maxLength: 6 }),
          fc.nat(4),
          fc.array(anyBlock, { maxLength: 3 }),
          async (genesis, blocks, unwound, again) => {
            await using pair = new Pair(genesis, isWitnessed)
            for (const block of blocks) pair.append(block)
            pair.expectPart()
            for (let i = 0; i < Math.min(unwound, blocks.length); i++) pair.unwind()
            pair.expectPart()
            for (const block of again) pair.append(block)
            pair.expectPart()
            pair.readAll()
            const [whole, part] = [pair.whole, pair.part].map((kv) => readNow(kv, (reader) => dump(reader, allTables)))
            expect(part).toEqual(whole)
            fetched += pair.fetched
          },
        ),
        { numRuns: 24 },
      )
      expect(fetched).toBeGreaterThan(least)
    },
  )

  it('state/partialState: a key that is inserted at an extension needs the node below it, so that an unwind needs nothing', async () => {
    const slots = [0, 1, 2].map((slot) => ({ slot, value: 7n }))
    await using pair = new Pair([0, 5, 6].map((account) => ({ account, kind: 'create', balance: 1n, slots })))
    pair.append([{ account: 0, kind: 'change', balance: 2n, slots: [{ slot: 3, value: 8n }] }])
    pair.unwind()
    pair.expectPart()
  })

  const creations = (balance: bigint): Touch[] =>
    accountKeys.map((_key, account) => ({ account, kind: 'create', balance, slots: [{ slot: account, value: balance }] }))

  it('state/blockWitness: a block lacks nothing of its witness, nor of that of the next block where both states are the same', async () => {
    await using pair = new Pair(creations(3n))
    const change = (account: number): Touch => ({ account, kind: 'change', balance: 9n, slots: [{ slot: account, value: 8n }] })
    pair.enterWitness(pair.witness([change(4)]))
    pair.append([change(4)])
    expect(pair.fetched).toBe(0)
    // the next block's witness is of a state with this change, which the stored state does not have
    await using ahead = new Pair(creations(3n))
    ahead.enterWitness(ahead.witness([change(4)]))
    ahead.enterWitness(pair.witness([change(4), change(8)]))
    ahead.append([change(4)])
    ahead.append([change(8)])
    expect(ahead.fetched).toBe(0)
    ahead.expectPart()
    expect(readNow(ahead.part, (reader) => dump(reader, [tables.code])).size).toBe(1)
  })

  it('state/blockWitness: nodes and codes that no hash ties to the stored state are left out, however many places they have', async () => {
    await using pair = new Pair(creations(3n))
    await using other = new Pair(creations(4n))
    const before = readNow(pair.part, (reader) => dump(reader, stateTables))
    const own = pair.witness(everything)
    // each branch is at sixteen places of the one above
    const branches = [keccak256(code)]
    const nodes = Array.from({ length: 40 }, () => {
      const rlp = encodeBranch(Array.from({ length: 16 }, () => branches.at(-1)))
      branches.push(keccak256(rlp))
      return rlp
    })
    const bomb = hashFromBytes(branches.at(-1) as Uint8Array)
    const stray = shareBytes([Uint8Array.of(0x60, 2)])
    const damaged = unpackBytes(own.nodes).map((rlp) => rlp.map((byte, at) => (at === rlp.length - 3 ? byte ^ 1 : byte)))
    const wrong: readonly BlockWitness[] = [
      other.witness(everything),
      { ...own, stateRoot: other.root },
      { ...own, nodes: shareBytes(damaged), codes: stray },
      { stateRoot: bomb, nodes: shareBytes(nodes), codes: stray },
      { ...own, nodes: shareBytes([]) },
    ]
    for (const witness of wrong) pair.enterWitness(witness)
    expect(readNow(pair.part, (reader) => dump(reader, stateTables))).toEqual(before)
    pair.enterWitness({ ...own, codes: stray })
    pair.expectPart()
    pair.readAll()
    expect(pair.fetched).toBeLessThan(5)
  })

  it('state/fetchedState: nodes of another state, nodes at a wrong place and damaged nodes are left out', async () => {
    await using pair = new Pair(creations(3n))
    await using other = new Pair(creations(4n))
    const before = readNow(pair.part, (reader) => dump(reader, stateTables))
    const wanted: WantedState = { kind: 'slot', addressKey: accountKeys[5] as Uint8Array, slotKey: slotKeys[5] as Uint8Array }
    const partsOf = ({ whole, root }: Pair): FetchedState =>
      readNow(whole, (reader) => provedPart(latestState(reader, noHash), root, wanted))
    const own = partsOf(pair)
    const wrong: readonly FetchedState[] = [
      partsOf(other),
      { ...own, nodes: own.nodes.map((node) => ({ ...node, path: concatBytes(node.path, Uint8Array.of(1)) })) },
      { ...own, nodes: own.nodes.map((node) => ({ ...node, owner: accountKeys[6] })) },
      {
        ...own,
        nodes: own.nodes.map((node) => ({ ...node, rlp: node.rlp.map((byte, at) => (at === node.rlp.length - 3 ? byte ^ 1 : byte)) })),
      },
      { ...own, nodes: own.nodes.slice(2) },
    ]
    for (const parts of wrong) pair.part.write((tx) => enterFetched(tx, parts))
    expect(readNow(pair.part, (reader) => dump(reader, stateTables))).toEqual(before)
    const bag = new Map(own.nodes.map(({ rlp }) => [toHex(keccak256(rlp)), rlp]))
    expect(placeNodes(bag, other.root)).toEqual([])
    pair.part.write((tx) => enterFetched(tx, own))
    expect(readNow(pair.part, (reader) => dump(reader, stateTables)).size).toBeGreaterThan(before.size)
    pair.expectPart()
  })
})
