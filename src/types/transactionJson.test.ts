import { type Hex, parseTransaction, type TransactionSerializable } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { serializeTransaction as serializeDeposit } from 'viem/op-stack'
import { describe, expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import { ShapeError } from './jsonShape.ts'
import { transactionFromJson } from './transactionJson.ts'

const sender = privateKeyToAccount(`0x${'07'.repeat(32)}`)
const to = `0x${'ab'.repeat(20)}` as const
const word = (digit: string): Hex => `0x${digit.repeat(64)}`
const common = { nonce: 3, gas: 100_000n, to, value: 10n ** 20n, data: '0x0102' } as const
const fees = { chainId: 8453, maxFeePerGas: 9n, maxPriorityFeePerGas: 2n, accessList: [{ address: to, storageKeys: [word('1')] }] } as const

/** Returns the JSON that a client returns for a transaction that viem signed and decoded. */
const jsonOf = (raw: Hex): Record<string, unknown> => {
  const tx = parseTransaction(raw) as Record<string, unknown>
  const quantity = (value: unknown): unknown => (typeof value === 'bigint' || typeof value === 'number' ? `0x${value.toString(16)}` : value)
  const types: Record<string, string> = { legacy: '0x0', eip2930: '0x1', eip1559: '0x2', eip4844: '0x3', eip7702: '0x4' }
  const r = `0x${BigInt(tx['r'] as Hex).toString(16)}`
  const s = `0x${BigInt(tx['s'] as Hex).toString(16)}`
  const authorizations = (tx['authorizationList'] as Record<string, unknown>[] | undefined)?.map((entry) => ({
    ...Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, quantity(value)])),
    r: `0x${BigInt(entry['r'] as Hex).toString(16)}`,
    s: `0x${BigInt(entry['s'] as Hex).toString(16)}`,
  }))
  const fields = Object.entries(tx).map(([key, value]) => [key, quantity(value)])
  return {
    nonce: '0x0',
    value: '0x0',
    ...Object.fromEntries(fields),
    type: types[tx['type'] as string],
    input: tx['data'] ?? '0x',
    r,
    s,
    ...(authorizations && { authorizationList: authorizations }),
  }
}

const signedBy = async (tx: TransactionSerializable): Promise<Hex> => sender.signTransaction(tx)

describe('types/transactionJson', () => {
  it.each<[string, TransactionSerializable]>([
    ['legacy, protected', { ...common, type: 'legacy', chainId: 10, gasPrice: 7n }],
    ['a legacy transaction before EIP-155', { ...common, type: 'legacy', gasPrice: 7n }],
    ['a legacy contract creation', { ...common, to: undefined, type: 'legacy', chainId: 10, gasPrice: 7n } as TransactionSerializable],
    ['access list', { ...common, type: 'eip2930', chainId: 10, gasPrice: 7n, accessList: fees.accessList }],
    ['fee market', { ...common, ...fees, type: 'eip1559' }],
    [
      'blobs',
      {
        ...common,
        ...fees,
        type: 'eip4844',
        maxFeePerBlobGas: 1n,
        blobVersionedHashes: [`0x01${'7'.repeat(62)}`, `0x01${'8'.repeat(62)}`],
      },
    ],
  ])('%s: encodes to the bytes that viem signed', async (_what, tx) => {
    const raw = await signedBy(tx)
    expect(toHex(transactionFromJson(jsonOf(raw)) ?? new Uint8Array(0))).toBe(raw)
  })

  it('set code: encodes to the bytes that viem signed', async () => {
    const authorization = await sender.signAuthorization({ address: to, chainId: 0, nonce: 5 })
    const raw = await signedBy({ ...common, ...fees, type: 'eip7702', authorizationList: [authorization] })
    expect(toHex(transactionFromJson(jsonOf(raw)) ?? new Uint8Array(0))).toBe(raw)
  })

  const deposit = { sourceHash: word('9'), from: to, gas: '0x5208', value: '0x0', input: '0x01', type: '0x7e' }
  it.each([
    ['to an account, with mint', { ...deposit, to, mint: '0x7' }, { to, mint: 7n, isSystemTx: false }],
    ['of the system', { ...deposit, to, isSystemTx: true }, { to, isSystemTx: true }],
    [
      'that creates a contract, with the fields that clients add',
      { ...deposit, mint: '0x0', nonce: '0x4', v: '0x0', r: '0x0', s: '0x0', depositReceiptVersion: '0x1' },
      {},
    ],
  ])('a deposit %s: encodes to the bytes that viem serializes', (_what, json, fields) => {
    const raw = serializeDeposit({
      type: 'deposit',
      sourceHash: word('9'),
      from: to,
      gas: 21_000n,
      data: '0x01',
      isSystemTx: false,
      ...fields,
    })
    expect(toHex(transactionFromJson(json) ?? new Uint8Array(0))).toBe(raw)
  })

  it('returns undefined for an unknown type', () => {
    for (const type of ['0x5', '0x7d', '0x7f', '0xffff']) expect(transactionFromJson({ ...deposit, type })).toBeUndefined()
  })

  it.each([
    ['no object', 7],
    ['a type that is not a quantity', { ...deposit, type: 126 }],
    ['a flag that is a text', { ...deposit, isSystemTx: 'false' }],
    ['a missing field', { ...deposit, value: undefined }],
    ['half an address', { ...deposit, to: '0xab' }],
    ['a y parity of 2', { ...deposit, type: '0x2', to, nonce: '0x0', r: '0x1', s: '0x1', yParity: '0x2', chainId: '0x1', accessList: [] }],
    [
      'an access list that is not a list',
      { ...deposit, type: '0x1', to, nonce: '0x0', r: '0x1', s: '0x1', v: '0x0', chainId: '0x1', accessList: {} },
    ],
  ])('rejects %s', (_what, json) => {
    expect(() => transactionFromJson(json)).toThrow(ShapeError)
  })
})
