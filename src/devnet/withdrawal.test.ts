import { decodeFunctionData, encodeAbiParameters, encodeFunctionData, keccak256, parseAbi, toEventSelector } from 'viem'
import { getWithdrawalHashStorageSlot } from 'viem/op-stack'
import { expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import { parseAddress } from '#types/ids'
import { encodeCall, eventTopic } from './abi.ts'
import { sentMessageSlot, withdrawalHashOf } from './withdrawal.ts'

const sender = parseAddress(`0x${'a1'.repeat(20)}`)
const target = parseAddress(`0x${'b2'.repeat(20)}`)

it.each([0, 1, 31, 32, 33, 1_000])('devnet/abi: encodes a call with %d bytes of data as viem does', (length) => {
  const data = new Uint8Array(length).fill(7)
  const abi = parseAbi(['function depositTransaction(address to, uint256 value, uint64 gasLimit, bool isCreation, bytes data)'])
  const ours = encodeCall('depositTransaction(address,uint256,uint64,bool,bytes)', [target, 5n, 21_000n, true, data])
  const args = [target, 5n, 21_000n, true, toHex(data)] as const
  expect(toHex(ours)).toBe(encodeFunctionData({ abi, functionName: 'depositTransaction', args }))
  expect(decodeFunctionData({ abi, data: toHex(ours) }).args).toEqual([expect.any(String), 5n, 21_000n, true, toHex(data)])
})

it('devnet/abi: the topic of an event is the hash of its signature', () => {
  const signature = 'MessagePassed(uint256,address,address,uint256,uint256,bytes,bytes32)'
  expect(eventTopic(signature)).toBe(toEventSelector(signature))
})

it.each([0, 3, 64])('devnet/withdrawal: computes hash and storage slot of a withdrawal with %d bytes as viem does', (length) => {
  const data = new Uint8Array(length).fill(9)
  const nonce = (1n << 240n) + 4n
  const hash = withdrawalHashOf({ nonce, sender, target, value: 10n ** 18n, gasLimit: 100_000n, data })
  const types = ['uint256', 'address', 'address', 'uint256', 'uint256', 'bytes'].map((type) => ({ type }))
  expect(hash).toBe(keccak256(encodeAbiParameters(types, [nonce, sender, target, 10n ** 18n, 100_000n, toHex(data)])))
  expect(sentMessageSlot(hash)).toBe(getWithdrawalHashStorageSlot({ withdrawalHash: hash }))
})
