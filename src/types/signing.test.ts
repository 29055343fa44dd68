import { keccak256, parseTransaction, serializeTransaction, type TransactionSerializable } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { fromHex, toHex } from '#lib/hex'
import { RlpError } from '#lib/rlp'
import { parseAddress, parseHash } from './ids.ts'
import { type BlobSidecar, signTransaction, type UnsignedTransaction, unwrapBlobTransaction, wrapBlobTransaction } from './signing.ts'

const key = new Uint8Array(32).fill(0x11)
const account = privateKeyToAccount(toHex(key))
const to = parseAddress(`0x${'ab'.repeat(20)}`)
const slot = parseHash(`0x${'01'.repeat(32)}`)
const blobHash = parseHash(`0x01${'22'.repeat(31)}`)
const base = { nonce: 3n, gasLimit: 21_000n, to, value: 10n ** 18n, data: Uint8Array.of(0, 1, 0xff) }
const fees = { chainId: 8453n, maxFeePerGas: 9n, maxPriorityFeePerGas: 1n, accessList: [{ address: to, slots: [slot] }] }
const theirBase = { nonce: 3, gas: 21_000n, to, value: 10n ** 18n, data: '0x0001ff' } as const
const theirFees = { chainId: 8453, maxFeePerGas: 9n, maxPriorityFeePerGas: 1n, accessList: [{ address: to, storageKeys: [slot] }] } as const
const authorization = await account.signAuthorization({ chainId: 8453, contractAddress: to, nonce: 5 })

const signedAuthorization = {
  ...{ chainId: 8453n, address: to, nonce: 5n },
  ...{ yParity: authorization.yParity ?? 0, r: BigInt(authorization.r), s: BigInt(authorization.s) },
}

const cases: [string, UnsignedTransaction, TransactionSerializable][] = [
  ['legacy, protected', { ...base, type: 0, chainId: 900n, gasPrice: 7n }, { ...theirBase, type: 'legacy', chainId: 900, gasPrice: 7n }],
  ['a legacy transaction without chain id', { ...base, type: 0, gasPrice: 7n }, { ...theirBase, type: 'legacy', gasPrice: 7n }],
  [
    'access list',
    { ...base, type: 1, chainId: 1n, gasPrice: 9n, accessList: fees.accessList },
    { ...theirBase, type: 'eip2930', chainId: 1, gasPrice: 9n, accessList: theirFees.accessList },
  ],
  ['fee market', { ...base, ...fees, type: 2 }, { ...theirBase, ...theirFees, type: 'eip1559' }],
  ['a contract creation', { ...base, ...fees, type: 2, to: null }, { ...theirBase, ...theirFees, type: 'eip1559', to: null }],
  [
    'blob',
    { ...base, ...fees, type: 3, maxFeePerBlobGas: 5n, blobVersionedHashes: [blobHash] },
    { ...theirBase, ...theirFees, type: 'eip4844', maxFeePerBlobGas: 5n, blobVersionedHashes: [blobHash] },
  ],
  [
    'set code',
    { ...base, ...fees, type: 4, authorizationList: [signedAuthorization] },
    { ...theirBase, ...theirFees, type: 'eip7702', authorizationList: [authorization] },
  ],
]

it.each(cases)('types/signing: %s is signed as in another implementation', async (_what, unsigned, theirs) => {
  const { raw, hash } = signTransaction(unsigned, key)
  const expected = await account.signTransaction(theirs)
  expect(toHex(raw)).toBe(expected)
  expect(hash).toBe(keccak256(expected))
})

const blobs = [0, 1].map((n) => new Uint8Array(131_072).fill(n))
const sidecar: BlobSidecar = {
  kind: 'blobs',
  blobs,
  commitments: blobs.map((_, n) => new Uint8Array(48).fill(n + 1)),
  proofs: blobs.map((_, n) => new Uint8Array(48).fill(n + 8)),
}
const { raw: blobRaw } = signTransaction(
  { ...base, ...fees, type: 3, maxFeePerBlobGas: 5n, blobVersionedHashes: [blobHash, blobHash] },
  key,
)

it('types/signing: wraps a blob transaction as another implementation does', () => {
  const wrapped = wrapBlobTransaction(blobRaw, sidecar)
  const theirs = parseTransaction(toHex(wrapped))
  expect(theirs.sidecars).toEqual(
    blobs.map((blob, n) => ({
      blob: toHex(blob),
      commitment: toHex(sidecar.commitments[n] ?? blob),
      proof: toHex(sidecar.proofs[n] ?? blob),
    })),
  )
  expect(serializeTransaction(theirs)).toBe(toHex(wrapped))
  expect(unwrapBlobTransaction(wrapped)).toEqual({ raw: blobRaw, sidecar })
})

it('types/signing: a wrapper with cell proofs carries its version', () => {
  const cells: BlobSidecar = { ...sidecar, kind: 'cells', proofs: Array.from({ length: 256 }, (_, n) => new Uint8Array(48).fill(n)) }
  expect(unwrapBlobTransaction(wrapBlobTransaction(blobRaw, cells))).toEqual({ raw: blobRaw, sidecar: cells })
})

it('types/signing: unwraps other transactions unchanged, and rejects a broken wrapper', () => {
  const { raw } = signTransaction({ ...base, ...fees, type: 2 }, key)
  expect(unwrapBlobTransaction(raw)).toEqual({ raw })
  expect(unwrapBlobTransaction(blobRaw)).toEqual({ raw: blobRaw })
  expect(() => wrapBlobTransaction(raw, sidecar)).toThrow(RangeError)
  expect(() => unwrapBlobTransaction(fromHex('0x03c3c0c0c0'))).toThrow(RlpError)
  expect(() => unwrapBlobTransaction(fromHex('0x03c5c0c0c0c0c0'))).toThrow(RlpError)
  expect(() => unwrapBlobTransaction(fromHex('0x03c4c08080c0'))).toThrow(RlpError)
})

it('types/signing: rejects an invalid key', () => {
  expect(() => signTransaction({ ...base, ...fees, type: 2 }, new Uint8Array(32))).toThrow()
  expect(() => signTransaction({ ...base, ...fees, type: 2 }, new Uint8Array(31).fill(1))).toThrow()
})
