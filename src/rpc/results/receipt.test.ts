import { expect, it } from 'vitest'
import { type Hash, parseAddress, zeroHash } from '#types/ids'
import type { L1FeeFacts } from '#types/l1FeeFacts'
import { createReceipt } from '#types/receipt'
import { decimalOfMillionths, type MinedReceipt, receiptResult } from './receipt.ts'

/** Contract creation of a public example: nonce 0 of sender 0x6ac7… gives 0xcd23…. */
const creator = parseAddress('0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0')

function creation(nonce: bigint, fees?: L1FeeFacts): MinedReceipt {
  const receipt = createReceipt({ type: 2, succeeded: true, cumulativeGasUsed: 1n, logs: [] })
  const transaction = {
    ...({ type: 2, chainId: 1n, nonce, gasLimit: 1n, to: null, value: 0n, data: new Uint8Array(0) } as const),
    ...({ maxFeePerGas: 10n, maxPriorityFeePerGas: 10n, accessList: [], yParity: 0, r: 1n, s: 1n } as const),
  }
  const block = { hash: zeroHash, number: 1, baseFee: 5n }
  const mined = { transaction, hash: `0x${'11'.repeat(32)}` as Hash, from: creator, block, index: 0 }
  return { mined, timestamp: 0, placed: { receipt, gasUsed: 1n, firstLogIndex: 0, sizeBytes: 0, ...(fees && { fees }) } }
}

it.each([
  [0n, '0xcd234a471b72ba2f1ccf0a70fcaba648a5eecd8d'],
  [1n, '0x343c43a37d37dff08ae8c4a11544c718abb4fcf8'],
  [2n, '0xf778b86fa74e846c4f0a1fbd1335fe81c00a0c91'],
])('rpc/results/receipt: computes the address of a contract created with nonce %i', (nonce, expected) => {
  expect(receiptResult.encode(creation(nonce))).toMatchObject({ contractAddress: expected, to: null, effectiveGasPrice: '0xa' })
})

it('rpc/results/receipt: has the fee fields of the rules of the block, and no others', () => {
  const shown = receiptResult.encode(
    creation(0n, { l1GasPrice: 1n, l1GasUsed: 16n, l1Fee: 0n, l1BaseFeeScalar: 684_000n, operatorFeeConstant: 0n }),
  )
  expect(shown).toMatchObject({
    l1GasPrice: '0x1',
    l1GasUsed: '0x10',
    l1Fee: '0x0',
    l1BaseFeeScalar: '0xa6fe0',
    operatorFeeConstant: '0x0',
  })
  expect(Object.keys(shown as object).filter((name) => /^l1Blob|^l1FeeScalar|^da|^blob/.test(name))).toEqual([])
  expect(Object.keys(receiptResult.encode(creation(0n)) as object).filter((name) => name.startsWith('l1'))).toEqual([])
})

it.each([
  [1_000_000n, '1'],
  [684_000n, '0.684'],
  [1_500_001n, '1.500001'],
  [0n, '0'],
])('rpc/results/receipt: writes %i millionths as %s', (value, expected) => {
  expect(decimalOfMillionths(value)).toBe(expected)
})
