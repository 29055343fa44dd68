import { describe, expect, it } from 'vitest'
import { bytesFromBigint } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { readTrie } from '#trie/readTrie'
import type { Account } from '#types/account'
import { emptyCodeHash, emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import type { StateDiffParts } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'
import { decodeAccount, decodeAccountRow, encodeAccount, encodeAccountRow } from './account.ts'
import { emptyState } from './genesisState.ts'
import { computeStateRoot } from './stateRoot.ts'
import { overlay } from './stateStack.ts'
import { witnessState } from './witnessState.ts'
import type { WorldState } from './worldState.ts'

const key = (n: number): Uint8Array => keccak256(Uint8Array.of(n))
const word = (n: number): Uint8Array => bytesFromBigint(BigInt(n), 32)
const has = (n: number): { nonce: bigint; balance: bigint; codeHash: Hash } => ({
  nonce: BigInt(n),
  balance: 1000n,
  codeHash: emptyCodeHash,
})
const none: StateDiffParts = { accounts: [], slots: [], codes: [] }
const slot = (owner: number, n: number, value: number): StateDiffParts['slots'][number] => ({
  addressKey: key(owner),
  slotKey: key(n),
  value: word(value),
})

/** A chain of overlays with the root of the newest state. */
class Chain {
  state: WorldState = emptyState
  root: Hash = emptyRoot
  nodes = new Map<Hash, Uint8Array>()

  apply(parts: Partial<StateDiffParts>): void {
    const diff = createStateDiff({ ...none, ...parts })
    const result = computeStateRoot(this.state.nodes, this.root, diff)
    this.state = overlay(this.state, diff, result, { number: 7, hash: hashFromBytes(key(7)) })
    this.root = result.root
    for (const { node } of result.nodes) if (node) this.nodes.set(toHex(keccak256(node)) as Hash, node)
  }
}

function threeAccounts(): Chain {
  const chain = new Chain()
  chain.apply({
    accounts: [1, 2, 3].map((n) => ({ key: key(n), change: has(n), wiped: false })),
    slots: [1, 2, 3, 4, 5, 6].map((n) => slot(1, n, n * 10)),
  })
  return chain
}

const account = (n: number, storageRoot: Hash): Account => ({ ...has(n), storageRoot })

describe('state/worldState', () => {
  it("state/worldState: reads unchanged entries from the state below, with the newest layer's storage root", () => {
    const chain = threeAccounts()
    const before = chain.state.view.account(key(1))?.storageRoot
    chain.apply({ slots: [slot(1, 2, 0), slot(1, 3, 31)] })
    const { view } = chain.state
    expect(view.account(key(1))?.storageRoot).not.toBe(before)
    expect(view.account(key(2))).toEqual(account(2, emptyRoot))
    expect(view.slot(key(1), key(1))).toEqual(word(10))
    expect(view.slot(key(1), key(2))).toBeUndefined()
    expect(view.slot(key(1), key(3))).toEqual(word(31))
    expect(view.blockHash(7)).toBe(hashFromBytes(key(7)))
    expect(view.blockHash(6)).toBeUndefined()
  })

  it("state/worldState: the trie leaf equals the view's account", () => {
    const chain = threeAccounts()
    chain.apply({ accounts: [{ key: key(2), change: null, wiped: true }], slots: [slot(1, 2, 21)] })
    const leaf = readTrie(chain.state.nodes, undefined, chain.root, key(1))
    expect(leaf && decodeAccount(leaf)).toEqual(chain.state.view.account(key(1)))
    expect(readTrie(chain.state.nodes, undefined, chain.root, key(2))).toBeUndefined()
    expect(chain.state.view.account(key(2))).toBeUndefined()
  })

  it('state/worldState: a wiped account loses all slots, and new slots start from an empty trie', () => {
    const chain = threeAccounts()
    chain.apply({ accounts: [{ key: key(1), change: has(9), wiped: true }], slots: [slot(1, 8, 80)] })
    const alone = new Chain()
    alone.apply({ accounts: [{ key: key(1), change: has(9), wiped: false }], slots: [slot(1, 8, 80)] })
    expect(chain.state.view.slot(key(1), key(1))).toBeUndefined()
    expect(chain.state.view.slot(key(1), key(8))).toEqual(word(80))
    expect(chain.state.view.account(key(1))).toEqual(alone.state.view.account(key(1)))
    chain.apply({ accounts: [2, 3].map((n) => ({ key: key(n), change: null, wiped: false })) })
    expect(chain.root).toBe(alone.root)
  })

  it('state/worldState: rejects slots of an account that does not exist (RangeError)', () => {
    expect(() => new Chain().apply({ slots: [slot(1, 1, 1)] })).toThrow(RangeError)
  })
})

describe('state/witnessState', () => {
  it('state/witnessState: reads the preimages and computes the next root from them alone', () => {
    const chain = threeAccounts()
    const { view, nodes } = witnessState(chain.nodes, chain.root, () => undefined)
    expect(view.account(key(1))).toEqual(chain.state.view.account(key(1)))
    expect(view.account(key(9))).toBeUndefined()
    expect(view.slot(key(1), key(4))).toEqual(word(40))
    expect(view.slot(key(1), key(9))).toBeUndefined()
    expect(view.slot(key(2), key(1))).toBeUndefined()
    expect(view.code(emptyCodeHash)).toHaveLength(0)
    const diff = createStateDiff({ ...none, slots: [slot(1, 1, 0), slot(1, 9, 9)] })
    const root = chain.root
    chain.apply({ slots: [slot(1, 1, 0), slot(1, 9, 9)] })
    expect(computeStateRoot(nodes, root, diff).root).toBe(chain.root)
  })

  it('state/witnessState: names a missing hash (WITNESS_INCOMPLETE)', () => {
    const chain = threeAccounts()
    for (const hash of chain.nodes.keys()) {
      const rest = new Map([...chain.nodes].filter(([other]) => other !== hash))
      const { view } = witnessState(rest, chain.root, () => undefined)
      const readAll = (): void => {
        for (const n of [1, 2, 3]) view.account(key(n))
        for (const n of [1, 2, 3, 4, 5, 6]) view.slot(key(1), key(n))
      }
      expect(readAll).toThrow(expect.objectContaining({ code: 'WITNESS_INCOMPLETE', data: { hash } }))
    }
  })

  it('state/witnessState: rejects bytes with another hash (WITNESS_INVALID)', () => {
    const chain = threeAccounts()
    const code = Uint8Array.of(1, 2, 3)
    const codeHash = hashFromBytes(keccak256(code))
    const root = chain.nodes.get(chain.root)?.slice() ?? word(0)
    root[10] = (root[10] ?? 0) ^ 1
    const damaged = witnessState(new Map([...chain.nodes, [chain.root, root], [codeHash, word(1)]]), chain.root, () => undefined).view
    expect(() => damaged.account(key(1))).toThrow(expect.objectContaining({ code: 'WITNESS_INVALID', data: { hash: chain.root } }))
    expect(() => damaged.code(codeHash)).toThrow(expect.objectContaining({ code: 'WITNESS_INVALID' }))
    expect(witnessState(new Map([[codeHash, code]]), chain.root, () => undefined).view.code(codeHash)).toEqual(code)
  })
})

describe('state/account', () => {
  it.each<Account>([
    account(0, emptyRoot),
    { nonce: (1n << 64n) - 1n, balance: (1n << 256n) - 1n, storageRoot: hashFromBytes(key(1)), codeHash: hashFromBytes(key(2)) },
  ])('state/account: leaf and row encode the whole account', (one) => {
    expect(decodeAccount(encodeAccount(one))).toEqual(one)
    expect(decodeAccountRow(encodeAccountRow(one))).toEqual(one)
  })
})
