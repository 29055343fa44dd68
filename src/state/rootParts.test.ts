import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesFromBigint, compareBytes, concatBytes } from '#lib/bytes'
import { isFault } from '#lib/fault'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { anyBlock, key, type Model, play } from '#test/harness/chain/stateModel'
import { computeStateRoot as judged } from '#test/reference/trie/stateRoot'
import { type NodeSource, noNodes } from '#trie/ports'
import type { TrieNodeChange } from '#trie/trieDiff'
import { plainTries, Tries, type UpdatedState } from '#trie/tries'
import { emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import type { StateDiff, StateDiffParts } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'
import { emptyState } from './genesisState.ts'
import { isLarge, type RootThreads, type RootWork, rootInParts } from './rootParts.ts'
import { computeStateRoot } from './stateRoot.ts'
import { nodesAbove, overlay } from './stateStack.ts'

/** What another thread does with a part: it leaves it, computes it, fails, or does not end in time. */
type Deed = 'leaves' | 'computes' | 'fails'
const deeds: readonly Deed[] = ['leaves', 'computes', 'fails']

/** One thread that deals with its parts before the caller claims any. */
class OtherThread implements RootThreads {
  readonly minRows = 256
  offers = 0
  closed = 0
  computed = 0
  readonly #deeds: readonly Deed[]
  readonly #base: NodeSource

  constructor(deedsOfParts: readonly Deed[], base: NodeSource = noNodes) {
    this.#deeds = deedsOfParts
    this.#base = base
  }

  offer(work: RootWork): ReturnType<RootThreads['offer']> {
    this.offers++
    const { parts, parentRoot, diff, layers } = work
    const nodes = nodesAbove(this.#base, structuredClone(layers()))
    const results = parts.map(({ nibble, rows }): UpdatedState | Deed => {
      const deed = this.#deeds[nibble] ?? 'leaves'
      if (deed !== 'computes') return deed
      try {
        const result = new Tries().updateRows(nodes, parentRoot, diff, rows, 'nodes')
        this.computed++
        return result
      } catch {
        return 'fails'
      }
    })
    return {
      claim: (part) => results[part] === 'leaves',
      result(part) {
        const result = results[part]
        if (result === 'leaves') throw new Error('a part that is free')
        return typeof result === 'string' ? undefined : result
      },
      [Symbol.dispose]: () => {
        this.closed++
      },
    }
  }
}

const placeOf = ({ owner, path }: TrieNodeChange): Uint8Array => concatBytes(owner ?? new Uint8Array(33).fill(255), path)
const sorted = (nodes: Iterable<TrieNodeChange>): TrieNodeChange[] => [...nodes].sort((a, b) => compareBytes(placeOf(a), placeOf(b)))
const comparable = ({ root, nodes, storageRoots }: UpdatedState) => ({ root, nodes: sorted(nodes), storageRoots: [...storageRoots] })

const plainAccount = { nonce: 1n, balance: 2n, codeHash: emptyCodeHash }
type Account = StateDiffParts['accounts'][number]
const accountDiff = (accounts: readonly Account[], slots: StateDiffParts['slots'] = []): StateDiff =>
  createStateDiff({ accounts, slots, codes: [] })
const account = (n: number, nonce: bigint | undefined): Account => ({
  key: key(n),
  change: nonce === undefined ? null : { ...plainAccount, nonce },
  wiped: nonce === undefined,
})
const slot = (n: number, at: number, value: bigint): StateDiffParts['slots'][number] => ({
  addressKey: key(n),
  slotKey: keccak256(Uint8Array.of(at >> 8, at & 255)),
  value: bytesFromBigint(value, 32),
})
/** Returns nodes by their paths, of whatever hash, as a store has them. */
function byPath(changes: Iterable<TrieNodeChange>): NodeSource {
  const nodes = new Map([...changes].map((change) => [toHex(placeOf(change)), change.node]))
  return { get: (owner, path) => nodes.get(toHex(placeOf({ owner, path, node: null }))) ?? undefined }
}

/** State of accounts 0 to 39, each with slots. */
function wholeState(): UpdatedState & { diff: StateDiff } {
  const numbers = Array.from({ length: 40 }, (_, n) => n)
  const diff = accountDiff(
    numbers.map((n) => account(n, 1n)),
    numbers.flatMap((n) => [slot(n, 0, 1n), slot(n, 1, 2n)]),
  )
  return { ...computeStateRoot(noNodes, emptyRoot, diff), diff }
}
/** The same state as a layer above an empty one. */
function manyAccounts(): { root: Hash; nodes: NodeSource } {
  const { diff, ...result } = wholeState()
  return { root: result.root, nodes: overlay(emptyState, diff, result).nodes }
}
const all = (deed: Deed): Deed[] => new Array<Deed>(16).fill(deed)
const inTurn = Array.from({ length: 16 }, (_, n) => deeds[n % 3] ?? 'leaves')

describe('state/rootParts', () => {
  it('state/rootParts: a root in parts, its nodes and storage roots are those of one thread, whatever another thread does', () => {
    let joins = 0
    fc.assert(
      fc.property(
        fc.array(anyBlock, { minLength: 1, maxLength: 8 }),
        fc.array(fc.constantFrom(...deeds), { minLength: 16, maxLength: 16 }),
        (blocks, chosen) => {
          let state = emptyState
          let root: Hash = emptyRoot
          let model: Model = new Map()
          for (const block of blocks) {
            const { diff, after } = play(model, block)
            const alone = computeStateRoot(state.nodes, root, diff)
            expect(alone.nodes.size).toBe(judged(state.nodes, root, state.view, diff).nodes.length)
            for (const claim of [undefined, alone.root]) {
              const threads = new OtherThread(chosen)
              const joined = rootInParts(threads, state.nodes, root, diff, plainTries(), claim)
              expect(threads.closed).toBe(threads.offers)
              if (joined) {
                joins++
                expect(comparable(joined)).toEqual(comparable(alone))
                expect(joined.nodes.size).toBe(alone.nodes.size)
              }
            }
            state = overlay(state, diff, alone)
            root = alone.root
            model = after
          }
        },
      ),
      { numRuns: 100 },
    )
    expect(joins).toBeGreaterThan(100)
  })

  it.each([
    [
      'wipes, removals, new accounts and slots that become zero',
      accountDiff(
        [account(0, undefined), account(1, 5n), { ...account(2, 6n), wiped: true }, account(90, 1n), account(91, 1n), account(3, 2n)],
        [slot(1, 0, 0n), slot(1, 1, 0n), slot(2, 7, 9n), slot(4, 1, 0n), slot(90, 1, 1n), slot(5, 5, 5n)],
      ),
    ],
    [
      'one huge account beside others',
      accountDiff([account(8, 3n)], [...Array.from({ length: 900 }, (_, at) => slot(7, at, 7n)), slot(9, 1, 3n), slot(10, 1, 3n)]),
    ],
    ['values that do not change', accountDiff([account(1, 1n), account(2, 1n), account(3, 1n)], [slot(4, 0, 1n), slot(5, 1, 2n)])],
    ['half of the accounts removed', accountDiff(Array.from({ length: 20 }, (_, n) => account(n, undefined)))],
  ])('state/rootParts: %s', (_what, diff) => {
    const { root, nodes } = manyAccounts()
    const alone = computeStateRoot(nodes, root, diff)
    for (const chosen of [all('leaves'), all('computes'), all('fails'), inTurn]) {
      for (const claim of [undefined, alone.root]) {
        const joined = rootInParts(new OtherThread(chosen), nodes, root, diff, plainTries(), claim)
        expect(joined && comparable(joined)).toEqual(comparable(alone))
      }
    }
  })

  it('state/rootParts: no parts when the root is not a branch before or after, when one part has all rows, and when no thread takes part', () => {
    const threads = new OtherThread(all('computes'))
    const { root, nodes } = manyAccounts()
    const alone = (diff: StateDiff) => rootInParts(threads, nodes, root, diff, plainTries(), undefined)
    expect(alone(accountDiff(Array.from({ length: 40 }, (_, n) => account(n, undefined))))).toBeUndefined()
    expect(alone(accountDiff(Array.from({ length: 39 }, (_, n) => account(n, undefined))))).toBeUndefined()
    expect(threads.offers).toBe(2)
    expect(alone(accountDiff([account(1, 2n)]))).toBeUndefined()
    expect(rootInParts(threads, noNodes, emptyRoot, accountDiff([account(1, 2n), account(2, 2n)]), plainTries(), undefined)).toBeUndefined()
    expect(threads.offers).toBe(2)
    const none: RootThreads = { minRows: 256, offer: () => undefined }
    expect(rootInParts(none, nodes, root, accountDiff([account(1, 2n), account(2, 2n)]), plainTries(), undefined)).toBeUndefined()
  })

  /** 600 rows of accounts 0 to 39. */
  const large = accountDiff(
    [],
    Array.from({ length: 600 }, (_, at) => slot(at % 40, at, 3n)),
  )

  it('state/rootParts: computeStateRoot offers large diffs alone, and none whose nodes are cached', () => {
    const { root, nodes } = manyAccounts()
    const threads = new OtherThread(inTurn)
    const small = accountDiff(Array.from({ length: 40 }, (_, n) => account(n, 2n)))
    for (const diff of [small, large]) {
      const alone = computeStateRoot(nodes, root, diff)
      for (const claim of [undefined, alone.root, root])
        expect(comparable(computeStateRoot(nodes, root, diff, plainTries(), claim, threads))).toEqual(comparable(alone))
    }
    expect([threads.offers, threads.closed]).toEqual([3, 3])
    expect([1, 0.5, 0.4, 0].map((missShare) => isLarge(large, missShare, { minRows: 256 }))).toEqual([true, true, false, false])
    expect(isLarge(small, 1, { minRows: 256 })).toBe(false)
  })

  it('state/rootParts: the root is right when another thread has other nodes at some paths', () => {
    const { root, nodes } = manyAccounts()
    const alone = computeStateRoot(nodes, root, large)
    // as another branch of the chain commits it
    const other = computeStateRoot(
      nodes,
      root,
      accountDiff(
        [],
        Array.from({ length: 40 }, (_, n) => slot(n, 0, 77n)),
      ),
    )
    const base = byPath([...wholeState().nodes, ...other.nodes])
    /** Nodes without layers, so that the other thread reads its base alone. */
    const flat: NodeSource = { get: (...args) => nodes.get(...args) }
    for (const claim of [undefined, alone.root]) {
      const threads = new OtherThread(inTurn, base)
      expect(comparable(computeStateRoot(flat, root, large, plainTries(), claim, threads))).toEqual(comparable(alone))
      expect(threads.offers).toBe(1)
      // a root that is known proves no node
      expect(threads.computed).toBe(0)
    }
  })

  it('state/rootParts: a missing and a damaged node are the faults of one thread', () => {
    const { root, nodes: stored } = wholeState()
    const nodes = byPath(stored)
    const { root: after } = computeStateRoot(nodes, root, large)
    const ways = [
      ['MISSING_NODE', (): undefined => undefined],
      ['BAD_NODE', (rlp: Uint8Array): Uint8Array => rlp.map((byte, at) => (at === 20 ? byte ^ 1 : byte))],
    ] as const
    const places = [undefined, key(5)]
    for (const [code, change, place] of ways.flatMap(([...way]) => places.map((place) => [...way, place] as const))) {
      const source: NodeSource = {
        get(owner, path, hash): Uint8Array | undefined {
          const rlp = nodes.get(owner, path, hash)
          const isPlace = place ? owner && compareBytes(owner, place) === 0 : owner === undefined && path.length === 0
          return rlp && isPlace ? change(rlp) : rlp
        },
      }
      for (const claim of [undefined, after]) {
        const outcome = (threads?: RootThreads): string => {
          try {
            return computeStateRoot(source, root, large, plainTries(), claim, threads).root
          } catch (error) {
            return isFault(error) ? error.code : 'another error'
          }
        }
        // the reference in a damaged root node is replaced, so that the root is right if its nodes are not checked
        expect([code, after]).toContain(outcome())
        for (const chosen of [all('computes'), all('leaves'), inTurn]) expect(outcome(new OtherThread(chosen, source))).toBe(outcome())
      }
    }
  })

  it('state/rootParts: ends the work of other threads when this one fails', () => {
    const { root, nodes } = manyAccounts()
    const threads = new OtherThread(all('leaves'))
    const broken: NodeSource = {
      get(owner, path, hash): Uint8Array | undefined {
        if (owner) throw new Error('disk')
        return nodes.get(owner, path, hash)
      },
    }
    expect(() => computeStateRoot(broken, root, large, plainTries(), undefined, threads)).toThrow('disk')
    expect([threads.offers, threads.closed]).toEqual([1, 1])
  })

  it('state/rootParts: joined diffs find their nodes by hash', () => {
    const { root, nodes } = manyAccounts()
    const alone = computeStateRoot(nodes, root, large)
    const joined = rootInParts(new OtherThread(all('computes')), nodes, root, large, plainTries(), alone.root) ?? expect.fail()
    const above = overlay({ view: emptyState.view, nodes }, large, joined).nodes
    for (const { owner, path, node } of alone.nodes) if (node) expect(above.get(owner, path, keccak256(node))).toEqual(node)
    const top = above.get(undefined, new Uint8Array(), fromHex(alone.root)) ?? expect.fail()
    expect(keccak256(top)).toEqual(fromHex(alone.root))
  })
})
