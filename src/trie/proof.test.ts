import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareBytes } from '#lib/bytes'
import { fromHex, type Hex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { decodeRlp, rlpBigint, rlpList } from '#lib/rlp'
import { buildTrie } from '#test/harness/chain/buildTrie'
import { decodeBlock } from '#types/block'
import { emptyRoot, type Hash } from '#types/ids'
import { orderedRoot } from './orderedRoot.ts'
import type { NodeSource } from './ports.ts'
import { createProof, verifyProof } from './proof.ts'

/** Proofs from another client, and a block of the same chain with 13 receipts. */
type Recorded = {
  stateRoot: Hash
  proofs: {
    address: Hex
    accountProof: Hex[]
    balance: Hex
    storageHash: Hash
    storageProof: { key: string; value: Hex; proof: Hex[] }[]
  }[]
  block: Hex
  receipts: Hex[]
}
const recorded: Recorded = JSON.parse(readFileSync('test/fixtures/trie.json', 'utf8'))

const absentAccount = '0x00000000000000000000000000000000000000ff'
const slotKey = (key: string): Uint8Array => keccak256(fromHex(`0x${key.slice(2).padStart(64, '0')}`))

function trieOf(size: number): { root: Hash; nodes: NodeSource; keys: Uint8Array[] } {
  const keys = Array.from({ length: size }, (_, i) => keccak256(Uint8Array.of(i >> 8, i & 255))).sort(compareBytes)
  const { root, changes } = buildTrie(keys.map((key) => ({ key, value: key.subarray(0, 20) })))
  const byHash = new Map(changes.map(({ node }) => [toHex(keccak256(node as Uint8Array)), node as Uint8Array]))
  return { root, nodes: { get: (_owner, _path, hash) => byHash.get(toHex(hash)) }, keys }
}

describe('trie/proof', () => {
  it.each(recorded.proofs)(
    "trie/proof: verifies another client's proof of $address against its values",
    ({ address, accountProof, balance, ...rest }) => {
      const verdict = verifyProof(recorded.stateRoot, keccak256(fromHex(address)), accountProof.map(fromHex))
      expect(verdict.kind).toBe(address === absentAccount ? 'absent' : 'present')
      if (verdict.kind === 'present') {
        const account = rlpList(decodeRlp(verdict.value), 'account')
        expect(rlpBigint(account[1], 'balance')).toBe(BigInt(balance))
        expect(toHex(account[2] as Uint8Array)).toBe(rest.storageHash)
      }
      for (const { key, value, proof } of rest.storageProof) {
        const slot = verifyProof(rest.storageHash, slotKey(key), proof.map(fromHex))
        expect(slot.kind).toBe(value === '0x0' ? 'absent' : 'present')
        if (slot.kind === 'present') expect(rlpBigint(decodeRlp(slot.value), 'slot')).toBe(BigInt(value))
      }
    },
  )

  it('trie/proof: proves each key of a trie, and the absence of neighbouring keys', () => {
    const { root, nodes, keys } = trieOf(300)
    for (const key of keys) {
      expect(verifyProof(root, key, createProof(nodes, undefined, root, key))).toEqual({ kind: 'present', value: key.subarray(0, 20) })
      const other = keccak256(key)
      expect(verifyProof(root, other, createProof(nodes, undefined, root, other))).toEqual({ kind: 'absent' })
    }
    expect(createProof(nodes, undefined, emptyRoot, keys[0] as Uint8Array)).toEqual([])
  })

  it('trie/proof: rejects a damaged, truncated or extended proof and a proof of another key', () => {
    const { root, nodes, keys } = trieOf(300)
    const edits = fc.record({ i: fc.nat(299), node: fc.nat(2), at: fc.nat(1000), bit: fc.nat(7) })
    fc.assert(
      fc.property(edits, ({ i, node, at, bit }) => {
        const key = keys[i] as Uint8Array
        const proof = createProof(nodes, undefined, root, key)
        const damaged = proof.map((rlp) => rlp.slice())
        const victim = damaged[node % damaged.length] as Uint8Array
        victim[at % victim.length] = (victim[at % victim.length] ?? 0) ^ (1 << bit)
        expect(verifyProof(root, key, damaged).kind).toBe('invalid')
        expect(verifyProof(root, key, proof.slice(0, -1)).kind).toBe('invalid')
        expect(verifyProof(root, key, [...proof, new Uint8Array(1)]).kind).toBe('invalid')
        expect(verifyProof(keccakRoot(root), key, proof).kind).toBe('invalid')
      }),
    )
  })
})

const keccakRoot = (root: Hash): Hash => toHex(keccak256(fromHex(root))) as Hash

describe('trie/orderedRoot', () => {
  it('trie/orderedRoot: computes the transactions and receipts root of a recorded block', () => {
    const { header, transactions } = decodeBlock(fromHex(recorded.block))
    expect(orderedRoot(transactions)).toBe(header.transactionsRoot)
    expect(orderedRoot(recorded.receipts.map(fromHex))).toBe(header.receiptsRoot)
  })

  it('trie/orderedRoot: returns the empty root for no items', () => {
    expect(orderedRoot([])).toBe(emptyRoot)
  })
})
