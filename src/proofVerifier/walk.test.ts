import { keccak_256 as keccak256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { buildTrie } from '#test/harness/chain/buildTrie'
import type { NodeSource } from '#trie/ports'
import { createProof, verifyProof } from '#trie/proof'
import type { Hash } from '#types/ids'
import { maxNodeBytes } from './node.ts'
import { problemOr } from './refusal.ts'
import { emptyRoot, provedValue } from './walk.ts'

type Found = { readonly value: Uint8Array | undefined } | { readonly code: string; readonly at: string }

function find(root: Uint8Array, key: Uint8Array, nodes: readonly unknown[]): Found {
  const read = problemOr(() => provedValue({ root, key, nodes, at: 'p', otherRoot: 'ROOT_DIFFERS' }))
  return 'problem' in read ? { code: read.problem.code, at: read.problem.at } : read
}

/** Keys of one length with values. Short keys and values make tries whose nodes are embedded in their parents. */
const anyTrie = fc.integer({ min: 1, max: 4 }).chain((keyBytes) => {
  const key = fc.uint8Array({ minLength: keyBytes, maxLength: keyBytes })
  const near = fc.oneof(
    key,
    key.map((bytes) => bytes.map((byte) => byte & 0x11)),
  )
  const value = fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 3 }), fc.uint8Array({ minLength: 30, maxLength: 80 }))
  const entries = fc.uniqueArray(fc.record({ key: near, value }), { selector: (entry) => toHex(entry.key), maxLength: 40 })
  return fc.record({
    entries,
    others: fc.array(near, { maxLength: 10 }),
    damage: fc.record({ node: fc.nat(), at: fc.nat(), bit: fc.nat(7) }),
  })
})

function nodesByHash(entries: readonly { key: Uint8Array; value: Uint8Array }[]): { root: Hash; nodes: NodeSource } {
  const { root, changes } = buildTrie(entries.toSorted((a, b) => compareBytes(a.key, b.key)))
  const byHash = new Map(changes.flatMap(({ node }) => (node ? [[toHex(keccak256(node)), node] as const] : [])))
  return { root, nodes: { get: (_owner, _path, hash) => byHash.get(toHex(hash)) } }
}

it("proofVerifier/walk: finds each key of random tries by the node's proofs, and that other keys are absent", () => {
  fc.assert(
    fc.property(anyTrie, ({ entries, others, damage }) => {
      const { root, nodes } = nodesByHash(entries)
      const values = new Map(entries.map(({ key, value }) => [toHex(key), value]))
      for (const key of [...entries.map((entry) => entry.key), ...others]) {
        const proof = createProof(nodes, undefined, root, key)
        expect(find(fromHex(root), key, proof.map(toHex))).toEqual({ value: values.get(toHex(key)) })
        const wrong = proof.map((rlp) => rlp.slice())
        const victim = wrong[damage.node % wrong.length]
        if (victim === undefined) continue
        victim[damage.at % victim.length] = (victim[damage.at % victim.length] ?? 0) ^ (1 << damage.bit)
        expect(verifyProof(root, key, wrong).kind).toBe('invalid')
        expect(find(fromHex(root), key, wrong.map(toHex))).toHaveProperty('code')
      }
    }),
    { numRuns: 30 },
  )
})

it('proofVerifier/walk: accepts for an empty trie no node or the RLP of no bytes, and nothing else', () => {
  const key = new Uint8Array(32)
  for (const nodes of [[], ['0x80']]) expect(find(emptyRoot, key, nodes)).toEqual({ value: undefined })
  for (const nodes of [['0x80', '0x80'], ['0x'], ['0xc0'], [null]]) expect(find(emptyRoot, key, nodes)).toHaveProperty('code')
})

const hash = '11'.repeat(32)
/** Path of a leaf at the root, for a key of 32 zeros. */
const zeroPath = `a120${'00'.repeat(32)}`
const child = `a0${hash}`
const list = (...items: string[]): string => {
  const content = items.join('')
  const size = content.length / 2
  if (size < 56) return (0xc0 + size).toString(16) + content
  const width = size < 256 ? 1 : 2
  return (0xf7 + width).toString(16) + size.toString(16).padStart(2 * width, '0') + content
}
const branch = (...children: string[]): string => list(...children, ...Array<string>(16 - children.length).fill('80'), '80')

it.each([
  ['no bytes', ''],
  ['a single byte', '00'],
  ['a byte string', '83010203'],
  ['a list that ends early', 'c3010203'.slice(0, 6)],
  ['bytes after the list', 'c20102ff'],
  ['a length of 8 bytes', `ff${'ff'.repeat(8)}`],
  ['a length of 4 bytes', 'fbffffffff'],
  ['a length without its bytes', 'f9ff'],
  ['a length with a leading zero', `f900${list('80', '80')}`],
  ['a long length for a short list', 'f801c0'],
  ['an item that exceeds its list', 'c283ffff'],
  ['a byte below 0x80 with a length', list('8120', '8101')],
  ['an empty list', 'c0'],
  ['lists in lists', 'c7c6c5c4c3c2c1c0'],
  ['three items', list('20', '01', '01')],
  ['16 items', list(...Array<string>(16).fill('80'))],
  ['18 items', list(...Array<string>(18).fill('80'))],
  ['a branch with a value', list(...Array<string>(16).fill('80'), '01')],
  ['a child of one byte', branch('01')],
  ['a child of 31 bytes', branch(`9f${hash.slice(2)}`)],
  ['an embedded node of 32 bytes', branch(list('20', `9d${'22'.repeat(29)}`))],
  ['an embedded node that is empty', branch('c0')],
  ['an extension without a path', list('8100', child)],
  ['an extension without a child', list('11', '80')],
  ['embedded extensions that lead nowhere', list('10', list('10', list('10', '80')))],
  ['a path without flags', list('80', '01')],
  ['a path with unknown flags', list('40', '01')],
  ['a path with wrong padding', list('2f', '01')],
  ['a path that is a list', list('c120', '01')],
  ['a leaf without a value', list(zeroPath, '80')],
  ['a leaf whose value is a list', list(zeroPath, 'c101')],
  ['a leaf whose value exceeds the node', list(zeroPath, '83aabb')],
  ['a leaf that is shorter than its length', `e4${list(zeroPath, '01').slice(2)}`],
  ['bytes after a leaf', `${list(zeroPath, '01')}01`],
  ['a leaf whose path is too short', list('20', '01')],
  ['a leaf whose path is too long', list(`a220${'00'.repeat(33)}`, '01')],
  ['an extension that is as long as the key', list(`a100${'00'.repeat(32)}`, child)],
])('proofVerifier/walk: refuses %s, although its hash is the root (NODES_WRONG)', (_what, hex) => {
  const root = keccak256(fromHex(`0x${hex}`))
  expect(find(root, new Uint8Array(32), [`0x${hex}`])).toEqual({ code: 'NODES_WRONG', at: 'p[0]' })
})

it('proofVerifier/walk: refuses a branch below the end of the key, nodes after the end, and a node that is too long', () => {
  const empty = branch()
  const root = keccak256(fromHex(`0x${empty}`))
  expect(find(root, new Uint8Array(0), [`0x${empty}`])).toEqual({ code: 'NODES_WRONG', at: 'p[0]' })
  expect(find(root, new Uint8Array(32), [`0x${empty}`, `0x${empty}`])).toEqual({ code: 'NODES_WRONG', at: 'p[1]' })
  const full = `0x${branch(...Array<string>(16).fill(child))}`
  expect(full.length).toBe(2 + 2 * maxNodeBytes)
  expect(find(keccak256(fromHex(full as `0x${string}`)), new Uint8Array(32), [full])).toEqual({ code: 'NODES_WRONG', at: 'p[1]' })
  expect(find(root, new Uint8Array(32), [`${full}00`])).toEqual({ code: 'MALFORMED', at: 'p[0]' })
  expect(find(root, new Uint8Array(32), [])).toEqual({ code: 'NODES_WRONG', at: 'p[0]' })
})

it('proofVerifier/walk: returns a value or a problem for any bytes as the root node, and never throws', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 540 }),
    fc.array(fc.constantFrom(0xc0, 0xc1, 0xc8, 0xf8, 0xf9, 0x80, 0x20, 0), { maxLength: 60 }),
  )
  fc.assert(
    fc.property(bytes, (raw) => {
      const rlp = Uint8Array.from(raw)
      const found = find(keccak256(rlp), new Uint8Array(2), [toHex(rlp)])
      expect('code' in found ? found.code : 'value').toMatch(/^(MALFORMED|NODES_WRONG|value)$/)
    }),
    { numRuns: 300 },
  )
})
