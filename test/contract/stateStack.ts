import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stateAt, writeGenesis, writeState } from '#state/chainState'
import { computeStateRoot } from '#state/stateRoot'
import { push, type StateStack, stackedState, trimStack } from '#state/stateStack'
import type { WorldState } from '#state/worldState'
import type { Kv, KvReader } from '#store/ports'
import { noNodes } from '#trie/ports'
import { emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import { anyBlock, expectModel, key, type Model, play, rootOf, type Touch } from '../harness/chain/stateModel.ts'

const noHash = (): undefined => undefined
const hashAt = (branch: number, number: number): Hash => hashFromBytes(key(branch * 1_000 + number))

/** Head of a stack, with the model and root to compare it with. */
type Tip = { readonly model: Model; readonly root: Hash; readonly stack: StateStack; readonly number: number }
type Played = { readonly tip: Tip; readonly write: (kv: Kv) => void }

/** Builds the next block on a tip whose stack is above `below`. */
function next(below: WorldState, tip: Tip, block: readonly Touch[], branch: number): Played {
  const { diff, after } = play(tip.model, block)
  const { nodes } = stackedState(below, tip.stack)
  const result = computeStateRoot(nodes, tip.root, diff)
  const root = rootOf(after)
  expect(result.root).toBe(root)
  const number = tip.number + 1
  const stack = push(tip.stack, { diff, result, block: { number, hash: hashAt(branch, number) } })
  return { tip: { model: after, root, stack, number }, write: (kv) => kv.write((tx) => writeState(tx, number, diff, result)) }
}

function withState<T>(kv: Kv, number: number, use: (state: WorldState) => T): T {
  using reader: KvReader & Disposable = kv.snapshot()
  return use(stateAt(reader, number, noHash))
}

function begin(kv: Kv, block: readonly Touch[]): Tip {
  const { diff, after: model } = play(new Map(), block)
  const result = computeStateRoot(noNodes, emptyRoot, diff)
  kv.write((tx) => writeGenesis(tx, diff, result))
  return { model, root: result.root, stack: [], number: 0 }
}

const anyTree = fc.record({
  genesis: anyBlock,
  committed: fc.array(anyBlock, { maxLength: 4 }),
  branches: fc.array(fc.record({ ancestor: fc.nat(4), blocks: fc.array(anyBlock, { minLength: 1, maxLength: 11 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
  commitLater: fc.nat(11),
})

type Tree = {
  readonly genesis: readonly Touch[]
  readonly committed: readonly (readonly Touch[])[]
  readonly branches: readonly { readonly ancestor: number; readonly blocks: readonly (readonly Touch[])[] }[]
  readonly commitLater: number
}

/** Commits genesis and the given blocks to the store. */
function commitAll(kv: Kv, { genesis, committed }: Tree): Tip[] {
  const chain = [begin(kv, genesis)]
  for (const block of committed) {
    const last = chain.at(-1) as Tip
    const { tip, write } = withState(kv, last.number, (state) => next(state, last, block, 0))
    write(kv)
    chain.push({ ...tip, stack: [] })
  }
  return chain
}

function checkBranches(kv: Kv, chain: readonly Tip[], { branches }: Tree): void {
  for (const [branch, { ancestor, blocks }] of branches.entries()) {
    const base = chain[Math.min(ancestor, chain.length - 1)] as Tip
    let tip = base
    for (const block of blocks) tip = withState(kv, base.number, (state) => next(state, tip, block, branch + 1).tip)
    withState(kv, base.number, (state) => expectModel(stackedState(state, tip.stack), tip.model, tip.root))
  }
}

/** Stacks blocks on the head, then commits some of them. The stack must stay correct above blocks that the store now has. */
function checkOvertaken(kv: Kv, head: Tip, { branches, commitLater }: Tree): void {
  let tip = head
  const played = (branches[0]?.blocks ?? []).map((block) => {
    const one = withState(kv, head.number, (state) => next(state, tip, block, 9))
    tip = one.tip
    return one
  })
  const late = played.slice(0, commitLater)
  for (const { write } of late) write(kv)
  const base = late.at(-1)?.tip ?? head
  for (const stack of [tip.stack, trimStack(tip.stack, base.number)]) {
    withState(kv, base.number, (state) => expectModel(stackedState(state, stack), tip.model, tip.root))
  }
}

/** Changes of the n-th block of a long chain. */
function longBlock(n: number): Touch[] {
  const kind = n % 37 === 0 ? 'wipe' : n % 41 === 0 ? 'remove' : n % 3 === 0 ? 'slots' : 'change'
  const slots = kind === 'remove' ? [] : [{ slot: n % 20, value: BigInt(n % 5) }]
  return [{ account: n % 12, kind, nonce: BigInt(n), code: n % 4, slots }]
}

/** Tests of the states of blocks in memory above any retained block, for every adapter of `Kv`. */
export function stateStackContract(adapter: string, open: () => Kv, numRuns: number): void {
  describe(`state/stateStack ${adapter}`, () => {
    it(`state/stateStack ${adapter}: has values, root and proofs as in a model, on any branch from any retained block`, async () => {
      await fc.assert(
        fc.asyncProperty(anyTree, async (tree) => {
          await using kv = open()
          const chain = commitAll(kv, tree)
          checkBranches(kv, chain, tree)
          checkOvertaken(kv, chain.at(-1) as Tip, tree)
        }),
        { numRuns },
      )
    })

    it(`state/stateStack ${adapter}: keeps 200 blocks in a few layers, reads block hashes of lower ones, and drops a prefix`, async () => {
      await using kv = open()
      let tip = begin(kv, [{ account: 0, kind: 'change', nonce: 1n, code: 0, slots: [] }])
      const tips = [tip]
      for (let n = 1; n <= 200; n++) {
        tip = withState(kv, 0, (state) => next(state, tip, longBlock(n), 1).tip)
        tips.push(tip)
      }
      expect(tip.stack.length).toBeLessThan(24)
      withState(kv, 0, (state) => {
        for (const n of [1, 7, 8, 9, 63, 64, 65, 128, 199, 200]) {
          const at = tips[n] as Tip
          const { view } = stackedState(state, at.stack)
          expectModel(stackedState(state, at.stack), at.model, at.root)
          const hashes = [0, 1, n, n + 1].map((number) => view.blockHash(number))
          expect(hashes).toEqual([undefined, hashAt(1, 1), hashAt(1, n), undefined])
        }
      })
      expect(trimStack(tip.stack, 0)).toBe(tip.stack)
      expect(trimStack(tip.stack, 200)).toEqual([])
      expect(trimStack(tip.stack, 63)[0]?.first).toBe(1)
      expect(trimStack(tip.stack, 64)[0]?.first).toBe(65)
    })
  })
}
