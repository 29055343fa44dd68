import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fromHex, type Hex, toHex } from '#lib/hex'
import { factory, type Proposal, proposalsOnL1, registry } from '#test/harness/trust/proposals'
import { emptyCodeHash, parseAddress, zeroHash } from '#types/ids'
import { gameCountSlot, gameSlot, slotAt } from './contracts/gameList.ts'
import { provedAccount } from './provedAccount.ts'

const proposals = Array.from({ length: 30 }, (_, i): Proposal => {
  const address = parseAddress(`0x${(i + 1).toString(16).padStart(40, '0')}`)
  return { address, startBlock: 6_000 * i, block: 6_000 * (i + 1), roots: {} }
})
const state = proposalsOnL1({ proposals, timestamp: 1_796_000_000 })
const { stateRoot } = state.block
const request = { address: factory, slots: [gameCountSlot, gameSlot(3), gameSlot(30), slotAt(9n)] }
type Answer = { readonly accountProof: readonly Hex[]; readonly storageProof: readonly { readonly proof: readonly Hex[] }[] }
const honest = state.proof(request) as Answer
const expected = provedAccount(stateRoot, request, honest)

it('trust/provedAccount: returns proved values, 0 for slots that the trie does not have', () => {
  expect(expected).toMatchObject({ kind: 'proved', values: [30n, expect.any(BigInt), 0n, 0n] })
})

it('trust/provedAccount: an absent account has no code and no slots', () => {
  const absent = { address: parseAddress(`0x${'99'.repeat(20)}`), slots: [slotAt(0n)] }
  expect(provedAccount(stateRoot, absent, state.proof(absent))).toEqual({ kind: 'proved', codeHash: emptyCodeHash, values: [0n] })
})

it('trust/provedAccount: ignores the values that an endpoint claims beside its proofs', () => {
  const claims = {
    ...honest,
    balance: '0x1',
    storageHash: zeroHash,
    storageProof: honest.storageProof.map((one) => ({ ...one, value: '0x7' })),
  }
  expect(provedAccount(stateRoot, request, claims)).toEqual(expected)
})

/** Flips a bit of one node of the answer. */
function damaged(answer: Answer, proofAt: number, nodeAt: number, bit: number): Answer {
  const lists = [answer.accountProof, ...answer.storageProof.map(({ proof }) => proof)]
  const list = lists[proofAt % lists.length] ?? []
  const at = nodeAt % list.length
  const bytes = fromHex(list[at] ?? '0x00')
  const index = (bit >> 3) % bytes.length
  const node = toHex(bytes.with(index, (bytes[index] ?? 0) ^ (1 << (bit & 7))))
  const [accountProof = [], ...slots] = lists.map((each) => (each === list ? list.with(at, node) : each))
  return { accountProof, storageProof: slots.map((proof) => ({ proof })) }
}

it('trust/provedAccount: refuses 500 answers with a flipped bit', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.nat(8_000), (proofAt, nodeAt, bit) => {
      expect(provedAccount(stateRoot, request, damaged(honest, proofAt, nodeAt, bit)).kind).toBe('invalid')
    }),
    { numRuns: 500 },
  )
})

it.each<[string, unknown]>([
  ['nothing', undefined],
  ['a text', 'proof'],
  ['no account proof', { ...honest, accountProof: undefined }],
  ['an empty account proof', { ...honest, accountProof: [] }],
  ['nodes that are no hex', { ...honest, accountProof: ['0xzz'] }],
  ['nodes that are no texts', { ...honest, accountProof: [null, {}] }],
  ['66 nodes', { ...honest, accountProof: Array.from({ length: 66 }, () => honest.accountProof[0]) }],
  ['a node after the end', { ...honest, accountProof: [...honest.accountProof, honest.accountProof[0]] }],
  ['fewer slots', { ...honest, storageProof: honest.storageProof.slice(1) }],
  ['slots in another order', { ...honest, storageProof: honest.storageProof.toReversed() }],
  ['the proof of another account', state.proof({ ...request, address: registry })],
  ['a proof that is no list', { ...honest, storageProof: honest.storageProof.map(() => ({ proof: '0x' })) }],
])('trust/provedAccount: refuses %s', (_title, answer) => {
  expect(provedAccount(stateRoot, request, answer)).toMatchObject({ kind: 'invalid', reason: expect.stringMatching(/\w/) })
})

it('trust/provedAccount: refuses a proof of another state root, and does not quote what it received', () => {
  expect(provedAccount(zeroHash, request, honest).kind).toBe('invalid')
  expect(provedAccount(stateRoot, request, { ...honest, accountProof: ['0xsecret'] })).toEqual({ kind: 'invalid', reason: 'malformed hex' })
})
