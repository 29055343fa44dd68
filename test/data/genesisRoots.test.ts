import { describe, expect, it } from 'vitest'
import { networkNames } from '#chainspec/networkNames'
import { networkOf } from '#chainspec/networks'
import { compareBytes, trimLeft } from '#lib/bytes'
import { fromHex, type Hex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp, rlpScalar } from '#lib/rlp'
import { latestStateRoot, writeGenesis } from '#state/chainState'
import { genesisState } from '#state/genesisState'
import { buildTrie } from '#test/harness/chain/buildTrie'
import { readSharedJson } from '#test/harness/sharedData'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { emptyRoot, type Hash } from '#types/ids'

type Genesis = {
  expected: { stateRoot: Hash }
  codes: Hex[]
  accounts: { address: Hex; balance?: string; nonce?: string; code?: number; storage?: Record<Hex, Hex> }[]
}

const byKey = (a: { key: Uint8Array }, b: { key: Uint8Array }): number => compareBytes(a.key, b.key)

function rootOf(storage: Record<Hex, Hex> = {}): Hash {
  const slots = Object.entries(storage)
    .filter(([, value]) => BigInt(value) !== 0n)
    .map(([slot, value]) => ({ key: keccak256(fromHex(slot)), value: encodeRlp(trimLeft(fromHex(value))) }))
  return slots.length === 0 ? emptyRoot : buildTrie(slots.sort(byKey)).root
}

describe('trie/buildTrie', () => {
  it.each(['mainnet', 'sepolia'])("trie/buildTrie: computes the state root of Base %s's genesis allocation", (network) => {
    const genesis = readSharedJson<Genesis>(`chain/base-${network}.genesis.json`)
    const entries = genesis.accounts.map(({ address, balance = '0', nonce = '0', code, storage }) => {
      const codeHash = keccak256(code === undefined ? new Uint8Array() : fromHex(genesis.codes[code] as Hex))
      const value = encodeRlp([rlpScalar(BigInt(nonce)), rlpScalar(BigInt(balance)), fromHex(rootOf(storage)), codeHash])
      return { key: keccak256(fromHex(address)), value }
    })
    expect(buildTrie(entries.sort(byKey)).root).toBe(genesis.expected.stateRoot)
  })
})

describe('state/genesisState', () => {
  it.each(networkNames)("state/genesisState: computes the state root of %s's allocation, in memory and in a store", async (name) => {
    const expected = readSharedJson<Genesis>(`chain/${name.replace(/^base$/, 'base-mainnet')}.genesis.json`).expected.stateRoot
    const { diff, result } = genesisState(networkOf(name).genesis().accounts)
    expect(result.root).toBe(expected)
    await using kv = createMemoryKv()
    kv.write((tx) => writeGenesis(tx, diff, result))
    using snapshot = kv.snapshot()
    expect(latestStateRoot(snapshot)).toBe(expected)
  })
})
