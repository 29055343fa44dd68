import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareBytes, concatBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { anyBlock, key, type Model, play, rootOf } from '#test/harness/chain/stateModel'
import { computeStateRoot as judged } from '#test/reference/trie/stateRoot'
import { isLeafRlp } from '#trie/node'
import type { NodeSource } from '#trie/ports'
import type { TrieNodeChange } from '#trie/trieDiff'
import { Tries } from '#trie/tries'
import { emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import { createStateDiff } from '#types/stateDiffTable'
import { emptyState } from './genesisState.ts'
import { computeStateRoot } from './stateRoot.ts'
import { overlay } from './stateStack.ts'

const plainAccount = { nonce: 1n, balance: 2n, codeHash: emptyCodeHash }
const placeOf = ({ owner, path }: TrieNodeChange): Uint8Array => concatBytes(owner ?? new Uint8Array(33).fill(255), path)
const ordered = (nodes: Iterable<TrieNodeChange>): TrieNodeChange[] => [...nodes].sort((a, b) => compareBytes(placeOf(a), placeOf(b)))

describe('state/stateRoot', () => {
  it('state/stateRoot: root, nodes and storage roots are those of the judge, with and without a cache and an expected root', () => {
    const tries = new Tries(400_000)
    fc.assert(
      fc.property(fc.array(anyBlock, { minLength: 1, maxLength: 8 }), (blocks) => {
        let state = emptyState
        let root: Hash = emptyRoot
        let model: Model = new Map()
        for (const block of blocks) {
          const { diff, after } = play(model, block)
          const expected = judged(state.nodes, root, state.view, diff)
          expect(expected.root).toBe(rootOf(after))
          const result = computeStateRoot(state.nodes, root, diff)
          const others = [undefined, expected.root, root].map((claim) => computeStateRoot(state.nodes, root, diff, tries, claim))
          for (const { nodes, ...rest } of [result, ...others]) {
            expect({ ...rest, nodes: ordered(nodes) }).toEqual({ ...expected, nodes: ordered(expected.nodes) })
            expect(nodes.size).toBe(expected.nodes.length)
          }
          state = overlay(state, diff, result)
          root = result.root
          model = after
        }
      }),
      { numRuns: 80 },
    )
  })

  it('state/stateRoot: a node with a damaged byte gives a fault, also when the root is known', () => {
    const account = (n: number, nonce: bigint) => ({ key: key(n), change: { ...plainAccount, nonce }, wiped: false })
    const parent = computeStateRoot(
      emptyState.nodes,
      emptyRoot,
      createStateDiff({ accounts: Array.from({ length: 12 }, (_, n) => account(n, 1n)), slots: [], codes: [] }),
    )
    const { nodes } = overlay(emptyState, createStateDiff({ accounts: [], slots: [], codes: [] }), parent)
    const diff = createStateDiff({ accounts: [account(1, 2n)], slots: [], codes: [] })
    const { root } = computeStateRoot(nodes, parent.root, diff)
    const top = nodes.get(undefined, new Uint8Array(0), fromHex(parent.root)) ?? expect.fail()
    for (let at = 0; at < top.length; at++) {
      const damaged = {
        get: ((_, path, hash) => (path.length > 0 ? nodes.get(_, path, hash) : top.with(at, (top[at] ?? 0) ^ 1))) as typeof nodes.get,
      }
      for (const claim of [undefined, root]) {
        const code = expect.stringMatching(claim === undefined ? /^BAD_NODE$/ : /^(BAD|MISSING)_NODE$/)
        expect(() => computeStateRoot(damaged, parent.root, diff, new Tries(), claim)).toThrow(expect.objectContaining({ code }))
      }
    }
  })

  it('state/stateRoot: reads no leaf of a slot whose value before is known', () => {
    const [known, unknown] = [true, false].map((isKnown) => {
      const slots = (value: number, before?: number) =>
        Array.from({ length: 20 }, (_, n) => ({
          addressKey: key(1),
          slotKey: key(100 + n),
          value: new Uint8Array(32).fill(value),
          ...(before !== undefined && { before: new Uint8Array(32).fill(before) }),
        }))
      const first = createStateDiff({ accounts: [{ key: key(1), change: plainAccount, wiped: false }], slots: slots(1), codes: [] })
      const parent = computeStateRoot(emptyState.nodes, emptyRoot, first)
      const { nodes } = overlay(emptyState, first, parent)
      let leaves = 0
      const counted: NodeSource = {
        get(owner, path, hash) {
          const rlp = nodes.get(owner, path, hash)
          if (owner && rlp && isLeafRlp(rlp)) leaves++
          return rlp
        },
      }
      const { root } = computeStateRoot(
        counted,
        parent.root,
        createStateDiff({ accounts: [], slots: slots(2, isKnown ? 1 : undefined), codes: [] }),
      )
      return { leaves, root }
    })
    expect(known).toEqual({ leaves: 0, root: unknown?.root })
    expect(unknown?.leaves).toBe(20)
  })

  it('state/stateRoot: removing an absent account changes nothing', () => {
    const diff = createStateDiff({ accounts: [{ key: key(1), change: null, wiped: true }], slots: [], codes: [] })
    const { root, nodes, storageRoots } = computeStateRoot(emptyState.nodes, emptyRoot, diff)
    expect({ root, nodes: [...nodes], storageRoots }).toEqual({ root: emptyRoot, nodes: [], storageRoots: new Map() })
  })

  it('state/stateRoot: rejects slots of an account that does not exist (RangeError)', () => {
    const slot = { addressKey: key(2), slotKey: key(3), value: new Uint8Array(32).fill(1) }
    const diff = createStateDiff({ accounts: [{ key: key(1), change: plainAccount, wiped: false }], slots: [slot], codes: [] })
    expect(() => computeStateRoot(emptyState.nodes, emptyRoot, diff)).toThrow(RangeError)
    expect(() => computeStateRoot(emptyState.nodes, emptyRoot, diff)).toThrow(toHex(key(2)))
  })

  it('state/stateRoot: rejects a leaf that is no account (BAD_NODE)', () => {
    const tries = new Tries()
    const leaf = tries.update(emptyState.nodes, undefined, emptyRoot, [{ key: key(1), value: Uint8Array.of(0xc2, 1, 2) }])
    const [change] = leaf.changes
    const nodes = { get: (): Uint8Array | undefined => change?.node ?? undefined }
    const diff = createStateDiff({ accounts: [{ key: key(1), change: plainAccount, wiped: false }], slots: [], codes: [] })
    expect(() => computeStateRoot(nodes, leaf.root, diff)).toThrow(expect.objectContaining({ code: 'BAD_NODE' }))
  })
})
