import { expect, it } from 'vitest'
import { l2OutputRoot } from '#chainspec/l2OutputRoot'
import { sentMessageSlot as sentMessageSlotOfDevnet } from '#devnet/withdrawal'
import { concatBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp, type RlpItem } from '#lib/rlp'
import { dice } from '#test/harness/dice'
import { damaged, damages } from '#test/harness/proofs/damage'
import { type ProofJson, recordedProofs } from '#test/harness/proofs/recorded'
import { type Hash, hashFromBytes } from '#types/ids'
import { outputRootOf, type ProofVerdict, sentMessageSlot, verifyOutputRoot, verifyProof, verifyStorageProof } from './proof.ts'

const recorded = recordedProofs()
const [contract, predeploy, absent] = recorded as [(typeof recorded)[0], (typeof recorded)[0], (typeof recorded)[0]]
const hash = (byte: string): Hash => `0x${byte.repeat(32)}` as Hash

const word = (value: number): Hash => `0x${value.toString(16).padStart(64, '0')}` as Hash

const slotsOf = (proof: ProofJson): string[] => proof.storageProof.map(({ key }) => key)
/** Problem codes and places of a verdict. */
const problemsOf = (verdict: { kind: 'valid' } | Extract<ProofVerdict, { kind: 'invalid' }>): string[] =>
  verdict.kind === 'invalid' ? verdict.problems.map(({ code, at }) => `${code} ${at}`) : []

/** Verifies a proof after a change. */
function changed({ stateRoot, proof }: (typeof recorded)[0], change: (proof: ProofJson) => void): string[] {
  const copy = structuredClone(proof)
  change(copy)
  return problemsOf(verifyProof(copy, { stateRoot }))
}

it.each(recorded)("proofVerifier/proof: returns account and slots of another client's proof of $proof.address", ({ stateRoot, proof }) => {
  expect(verifyProof(proof, { stateRoot, address: proof.address, slots: slotsOf(proof) })).toEqual({
    kind: 'valid',
    account: {
      address: proof.address,
      exists: proof !== absent.proof,
      nonce: BigInt(proof.nonce),
      balance: BigInt(proof.balance),
      codeHash: proof.codeHash,
      storageHash: proof.storageHash,
    },
    slots: proof.storageProof.map(({ key, value }) => ({ key: `0x${key.slice(2).padStart(64, '0')}`, value: BigInt(value) })),
  })
  const { storageHash, storageProof } = proof
  expect(verifyStorageProof(storageProof, { storageHash, slots: slotsOf(proof) })).toMatchObject({ kind: 'valid' })
})

it('proofVerifier/proof: refuses 1,000 randomly damaged proofs, each with a reason and its place', () => {
  const roll = dice(1)
  const seen = new Set<string>()
  for (let i = 0; i < 1_000; i++) {
    const { stateRoot, proof: sound } = recorded[roll(recorded.length)] ?? contract
    const { proof, what } = damaged(sound, roll)
    const verdict = verifyProof(proof, { stateRoot, address: sound.address, slots: slotsOf(sound) })
    if (verdict.kind === 'valid') expect.fail(`damage ${i} of seed 1 is accepted: ${what} in the proof of ${sound.address}`)
    for (const { at, reason } of verdict.problems)
      expect([at, reason]).toEqual([expect.stringMatching(/^\w/), expect.stringMatching(/^[^\n]{8,400}$/)])
    seen.add(what)
  }
  expect([...seen].sort()).toEqual(Object.keys(damages).sort())
})

it.each<[string, (proof: ProofJson) => void, string[]]>([
  ['a damaged account node', (proof) => proof.accountProof.splice(2, 1, '0xc0'), ['NODES_WRONG accountProof[2]']],
  ['a missing last node', (proof) => proof.accountProof.pop(), ['NODES_WRONG accountProof[4]']],
  ['an extra node', (proof) => proof.accountProof.push('0x80'), ['NODES_WRONG accountProof[5]']],
  ['a claimed nonce', (proof) => Object.assign(proof, { nonce: '0x99' }), ['VALUE_DIFFERS nonce']],
  ['a claimed balance', (proof) => Object.assign(proof, { balance: '0x1' }), ['VALUE_DIFFERS balance']],
  ['a claimed code hash', (proof) => Object.assign(proof, { codeHash: hash('00') }), ['VALUE_DIFFERS codeHash']],
  ['a claimed storage hash', (proof) => Object.assign(proof, { storageHash: hash('00') }), ['VALUE_DIFFERS storageHash']],
  [
    'all values of slots',
    (proof) => proof.storageProof.map((slot) => Object.assign(slot, { value: '0x7' })),
    [0, 1, 2].map((i) => `VALUE_DIFFERS storageProof[${i}].value`),
  ],
  ['the nodes of one slot', (proof) => proof.storageProof[1]?.proof.reverse(), ['NODES_WRONG storageProof[1].proof[0]']],
  ['a missing slot node', (proof) => proof.storageProof[1]?.proof.pop(), ['NODES_WRONG storageProof[1].proof[1]']],
])('proofVerifier/proof: names the wrong part: %s', (_what, change, problems) => {
  expect(changed(contract, change)).toEqual(problems)
})

it('proofVerifier/proof: refuses a proof of another root, account or slot than the requested ones', () => {
  const { proof, stateRoot } = contract
  expect(problemsOf(verifyProof(proof, { stateRoot: hash('ab') }))).toEqual(['ROOT_DIFFERS accountProof[0]'])
  expect(problemsOf(verifyProof(proof, { stateRoot, address: predeploy.proof.address }))).toEqual(['ADDRESS_DIFFERS address'])
  expect(problemsOf(verifyProof(proof, { stateRoot, slots: ['0x0', '0x5'] }))).toEqual(['SLOT_MISSING storageProof'])
  expect(problemsOf(verifyStorageProof(proof.storageProof, { storageHash: hash('ab') }))).toEqual(
    [0, 1, 2].map((i) => `ROOT_DIFFERS storageProof[${i}].proof[0]`),
  )
  expect(verifyProof(proof, { stateRoot, address: proof.address.toUpperCase().replace('0X', '0x'), slots: ['0x00'] }).kind).toBe('valid')
})

it('proofVerifier/proof: refuses storage and a balance of an account that does not exist, and accepts hashes of zeros', () => {
  expect(changed(absent, (proof) => Object.assign(proof, { storageHash: hash('00'), codeHash: hash('00') }))).toEqual([])
  expect(changed(absent, (proof) => Object.assign(proof, { storageProof: [{ key: '0x0', value: '0x0', proof: [] }] }))).toEqual([])
  expect(changed(absent, (proof) => Object.assign(proof, { balance: '0x1' }))).toEqual(['VALUE_DIFFERS balance'])
  expect(changed(absent, (proof) => Object.assign(proof, { storageHash: predeploy.proof.storageHash }))).toEqual([
    'VALUE_DIFFERS storageHash',
  ])
  expect(changed(absent, (proof) => Object.assign(proof, { storageProof: predeploy.proof.storageProof }))[0]).toBe(
    'NODES_WRONG storageProof[0].proof[0]',
  )
})

/** Returns a proof of a trie with one leaf. @param value RLP of the leaf's value in the trie */
function singleLeaf(preimage: string, value: readonly RlpItem[] | Uint8Array): { root: Hash; node: string } {
  const path = concatBytes(Uint8Array.of(0x20), keccak256(fromHex(preimage)))
  const leaf = encodeRlp([path, value instanceof Uint8Array ? value : encodeRlp(value)])
  return { root: hashFromBytes(keccak256(leaf)), node: toHex(leaf) }
}

it.each([
  ['0x2a', [], '2a'],
  ['0', ['NODES_WRONG storageProof[0].proof[0]'], '80'],
  ['one byte of zero', ['NODES_WRONG storageProof[0].proof[0]'], '00'],
  ['a leading zero', ['NODES_WRONG storageProof[0].proof[0]'], '82002a'],
  ['33 bytes', ['NODES_WRONG storageProof[0].proof[0]'], `a12a${'00'.repeat(32)}`],
  ['a list', ['NODES_WRONG storageProof[0].proof[0]'], 'c12a'],
  ['bytes after it', ['NODES_WRONG storageProof[0].proof[0]'], '2a2a'],
])('proofVerifier/proof: a leaf of a slot with %s has the problems %j', (_what, problems, value) => {
  const { root, node } = singleLeaf(word(1), fromHex(`0x${value}`))
  for (const value of problems.length > 0 ? ['0x2a', '0x0', '0x2a2a'] : ['0x2a'])
    expect(problemsOf(verifyStorageProof([{ key: '0x1', value, proof: [node] }], { storageHash: root }))).toEqual(problems)
})

const bytesOf = (size: number): Uint8Array => new Uint8Array(size).fill(7)
const noBytes = new Uint8Array(0)

it.each<[string, string[], RlpItem[]]>([
  ['4 items', [], [noBytes, noBytes, bytesOf(32), bytesOf(32)]],
  ['5 items', ['NODES_WRONG accountProof[0]'], [noBytes, noBytes, bytesOf(32), bytesOf(32), noBytes]],
  ['3 items', ['NODES_WRONG accountProof[0]'], [noBytes, bytesOf(32), bytesOf(32)]],
  ['a nonce of 9 bytes', ['NODES_WRONG accountProof[0]'], [bytesOf(9), noBytes, bytesOf(32), bytesOf(32)]],
  ['a nonce of one zero', ['NODES_WRONG accountProof[0]'], [new Uint8Array(1), noBytes, bytesOf(32), bytesOf(32)]],
  ['a balance that is a list', ['NODES_WRONG accountProof[0]'], [noBytes, [], bytesOf(32), bytesOf(32)]],
  ['a storage root of 31 bytes', ['NODES_WRONG accountProof[0]'], [noBytes, noBytes, bytesOf(31), bytesOf(32)]],
  ['a code hash that is a list', ['NODES_WRONG accountProof[0]'], [noBytes, noBytes, bytesOf(32), [bytesOf(32)]]],
])('proofVerifier/proof: a leaf of an account with %s has the problems %j', (_what, problems, items) => {
  const { address } = absent.proof
  const { root, node } = singleLeaf(address, items)
  const values = { nonce: '0x0', balance: '0x0', storageHash: hash('07'), codeHash: hash('07') }
  const proof = { address, ...values, accountProof: [node], storageProof: [] }
  expect(problemsOf(verifyProof(proof, { stateRoot: root }))).toEqual(problems)
})

const cyclic: { storageProof?: unknown } = {}
cyclic.storageProof = [cyclic]

it.each<[string, object | null | string, string]>([
  ['null', null, 'MALFORMED proof'],
  ['a text', 'proof', 'MALFORMED proof'],
  ['a list', [contract.proof], 'MALFORMED proof'],
  ['an empty object', {}, 'MALFORMED address'],
  ['a short address', { address: '0x12' }, 'MALFORMED address'],
  ['no account proof', { accountProof: undefined }, 'MALFORMED accountProof'],
  ['a text for the account proof', { accountProof: contract.proof.accountProof.join('') }, 'MALFORMED accountProof'],
  ['66 nodes', { accountProof: Array(66).fill('0x80') }, 'MALFORMED accountProof'],
  ['2^32 − 1 nodes', { accountProof: new Array(2 ** 32 - 1) }, 'MALFORMED accountProof'],
  ['a list without nodes', { accountProof: new Array(65) }, 'MALFORMED accountProof[0]'],
  ['a node that is a number', { accountProof: [128] }, 'MALFORMED accountProof[0]'],
  ['a node without 0x', { accountProof: ['80'] }, 'MALFORMED accountProof[0]'],
  ['a node with half a byte', { accountProof: ['0x8'] }, 'MALFORMED accountProof[0]'],
  ['a node with another digit', { accountProof: ['0x8G'] }, 'MALFORMED accountProof[0]'],
  ['a node of 8 MB', { accountProof: [`0x${'00'.repeat(2 ** 23)}`] }, 'MALFORMED accountProof[0]'],
  ['a nonce of 33 bytes', { nonce: `0x${'1'.repeat(65)}` }, 'MALFORMED nonce'],
  ['a balance without digits', { balance: '0x' }, 'MALFORMED balance'],
  ['a balance that is a number', { balance: 0 }, 'MALFORMED balance'],
  ['a negative balance', { balance: '-0x1' }, 'MALFORMED balance'],
  ['a code hash of 31 bytes', { codeHash: hash('00').slice(2) }, 'MALFORMED codeHash'],
  ['no storage proof', { storageProof: null }, 'MALFORMED storageProof'],
  ['100,000 storage proofs', { storageProof: Array(100_000).fill({}) }, 'MALFORMED storageProof'],
  ['a storage proof that is a list', { storageProof: [[]] }, 'MALFORMED storageProof[0]'],
  ['a storage proof in itself', { storageProof: [cyclic] }, 'MALFORMED storageProof[0].key'],
  ['a key of 33 bytes', { storageProof: [{ key: `0x${'1'.repeat(65)}` }] }, 'MALFORMED storageProof[0].key'],
  ['a slot without a proof', { storageProof: [{ key: '0x0', value: '0x0' }] }, 'MALFORMED storageProof[0].proof'],
])('proofVerifier/proof: refuses %s at once', (_what, wrong, problem) => {
  const isPart = typeof wrong === 'object' && wrong !== null && !Array.isArray(wrong) && Object.keys(wrong).length > 0
  const proof = isPart ? { ...contract.proof, ...wrong } : wrong
  expect(problemsOf(verifyProof(proof, { stateRoot: contract.stateRoot }))).toEqual([problem])
})

it('proofVerifier/proof: throws a TypeError for a malformed trusted value, since the caller is wrong', () => {
  const { proof, stateRoot } = contract
  expect(() => verifyProof(proof, { stateRoot: '0x12' })).toThrow(new TypeError('stateRoot: 1 bytes, expected 32'))
  expect(() => verifyProof(proof, { stateRoot, address: 'me' })).toThrow(TypeError)
  expect(() => verifyProof(proof, { stateRoot, slots: ['0'] })).toThrow(TypeError)
  expect(() => verifyStorageProof([], { storageHash: '' })).toThrow(TypeError)
  expect(() => sentMessageSlot('0x')).toThrow(TypeError)
})

const parts = { stateRoot: hash('01'), messagePasserStorageRoot: hash('02'), blockHash: hash('03') }

it("proofVerifier/proof: computes output roots and slots of withdrawals as the node's own code does", () => {
  const root = outputRootOf(parts)
  expect(root).toBe(l2OutputRoot({ ...parts, hash: parts.blockHash }))
  expect(sentMessageSlot(hash('04'))).toBe(sentMessageSlotOfDevnet(hash('04')))
  expect(verifyOutputRoot(root, parts)).toEqual({ kind: 'valid' })
})

it('proofVerifier/proof: refuses an output root of other parts', () => {
  const root = outputRootOf(parts)
  for (const name of ['stateRoot', 'messagePasserStorageRoot', 'blockHash']) {
    expect(problemsOf(verifyOutputRoot(root, { ...parts, [name]: hash('05') }))).toEqual(['OUTPUT_ROOT_DIFFERS outputRoot'])
    expect(problemsOf(verifyOutputRoot(root, { ...parts, [name]: '0x05' }))).toEqual([`MALFORMED ${name}`])
  }
  expect(() => verifyOutputRoot('0x', parts)).toThrow(TypeError)
  expect(() => outputRootOf({ ...parts, blockHash: '0x' })).toThrow(TypeError)
})
