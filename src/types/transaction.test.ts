import fc from 'fast-check'
import { parseTransaction, serializeTransaction, type TransactionSerializable } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { fromHex, toHex } from '#lib/hex'
import { RlpError } from '#lib/rlp'
import { recoverAddress } from '#lib/secp256k1'
import { decodeTransaction, encodeTransaction, type SignedTransaction, signatureBytes, signingDigest } from './transaction.ts'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const to = `0x${'ab'.repeat(20)}` as const
const accessList = [{ address: to, storageKeys: [`0x${'01'.repeat(32)}` as const] }]
const authorization = await account.signAuthorization({ chainId: 8453, contractAddress: to, nonce: 5 })

const cases: [string, TransactionSerializable][] = [
  ['legacy, protected', { type: 'legacy', chainId: 8453, nonce: 3, gasPrice: 7n, gas: 21_000n, to, value: 1n }],
  ['a legacy transaction without chain id', { type: 'legacy', nonce: 0, gasPrice: 0n, gas: 1n, data: '0x6001' }],
  ['an access list transaction', { type: 'eip2930', chainId: 1, gasPrice: 9n, gas: 50_000n, to, accessList }],
  [
    'fee market',
    { type: 'eip1559', chainId: 8453, nonce: 1, maxFeePerGas: 9n, maxPriorityFeePerGas: 1n, gas: 1n, data: '0x00', accessList },
  ],
  [
    'blob',
    {
      type: 'eip4844',
      chainId: 1,
      maxFeePerGas: 9n,
      maxPriorityFeePerGas: 1n,
      maxFeePerBlobGas: 3n,
      gas: 1n,
      to,
      blobVersionedHashes: [`0x01${'22'.repeat(31)}`],
    },
  ],
  [
    'set code',
    { type: 'eip7702', chainId: 8453, maxFeePerGas: 9n, maxPriorityFeePerGas: 1n, gas: 1n, to, authorizationList: [authorization] },
  ],
]

it.each(cases)('types/transaction: %s round-trips and its signer is recovered', async (_what, fields) => {
  const raw = fromHex(await account.signTransaction(fields))
  const tx = decodeTransaction(raw) as SignedTransaction
  expect(toHex(encodeTransaction(tx))).toBe(toHex(raw))
  const signature = signatureBytes(tx) ?? new Uint8Array()
  expect(toHex(recoverAddress(signingDigest(tx), signature, tx.yParity) ?? new Uint8Array())).toBe(account.address.toLowerCase())
})

it('types/transaction: decodes the same fields as another implementation', async () => {
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId: 8453,
    nonce: 1,
    maxFeePerGas: 2n ** 80n,
    gas: 1n,
    to,
    value: 2n ** 200n,
  })
  const theirs = parseTransaction(raw)
  expect(decodeTransaction(fromHex(raw))).toMatchObject({ maxFeePerGas: theirs.maxFeePerGas, value: theirs.value, to, chainId: 8453n })
})

it.each([
  ['nothing', '0x'],
  ['an unknown type', '0x05c0'],
  ['type zero', '0x00c0'],
  ['a missing field', '0x02c0'],
  [
    'a blob transaction that creates a contract',
    serializeTransaction({ type: 'eip1559', chainId: 1, gas: 1n }, { r: '0x1', s: '0x1', yParity: 0 }).replace('0x02', '0x03'),
  ],
])('types/transaction: decodeTransaction rejects %s', (_what, hex) => {
  expect(() => decodeTransaction(fromHex(hex))).toThrow(RlpError)
})

it('types/transaction: arbitrary bytes either decode to a transaction that re-encodes to them, or are rejected', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(0, 1, 2, 3, 4, 0x7e, 0xf8), (bytes, type) => {
      const raw = Uint8Array.of(type, ...bytes)
      try {
        expect(toHex(encodeTransaction(decodeTransaction(raw)))).toBe(toHex(raw))
      } catch (error) {
        expect(error).toBeInstanceOf(RlpError)
      }
    }),
    { numRuns: 1_000 },
  )
})
