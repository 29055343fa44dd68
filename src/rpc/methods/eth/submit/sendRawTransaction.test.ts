import { expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import { account, fakeChain, fakeContext, fakePool, signedTransaction, topic } from '#test/harness/rpc/fakes'
import type { PoolOutcome, PoolRefusal } from '#types/pooledTransaction'
import { ethRegistry } from '../../../methods.ts'
import type { Forwarded } from '../../../submitPorts.ts'

const context = fakeContext(fakeChain([[], []], { [account(1)]: { nonce: 3n } }))
const ask = async (over: object, method: string, ...params: readonly unknown[]): Promise<unknown> =>
  ethRegistry.get(method)?.call({ ...context, ...over }, params)
const send = (outcome: PoolOutcome, raw: unknown = '0x02c0') => ask({ pool: fakePool([], () => outcome) }, 'eth_sendRawTransaction', raw)
const hash = topic(7)

it('rpc/methods/eth/submit: eth_sendRawTransaction adds the bytes to the pool and returns the hash', async () => {
  const pool = fakePool([], () => ({ kind: 'added', hash }))
  expect(await ask({ pool }, 'eth_sendRawTransaction', '0x02c0')).toBe(hash)
  expect(pool.added).toEqual([Uint8Array.of(2, 0xc0)])
})

it('rpc/methods/eth/submit: refuses a transaction that the pool already has (-32000)', async () => {
  await expect(send({ kind: 'known', hash })).rejects.toMatchObject({ code: -32000, message: 'already known' })
})

it.each<[number, string, PoolRefusal]>([
  [-32602, 'failed to decode signed transaction', { kind: 'undecodable', reason: 'rlp' }],
  [-32602, 'failed to decode signed transaction', { kind: 'type', type: 0x7e }],
  [-32602, 'failed to decode signed transaction', { kind: 'type', type: 0x12 }],
  [-32602, 'invalid transaction signature', { kind: 'signature' }],
  [-32003, 'transaction type not supported', { kind: 'type', type: 3 }],
  [-32000, 'oversized data: transaction size 131073, limit 131072', { kind: 'oversized', size: 131_073, limit: 131_072 }],
  [-32000, 'invalid chain ID', { kind: 'chain-id' }],
  [-32000, 'exceeds block gas limit', { kind: 'gas-limit', limit: 30_000_000n }],
  [-32000, 'exceeds max transaction gas limit', { kind: 'transaction-gas-limit', limit: 16_777_216n }],
  [-32000, 'max initcode size exceeded', { kind: 'initcode-size' }],
  [-32000, 'intrinsic gas too low', { kind: 'intrinsic-gas' }],
  [-32003, 'max priority fee per gas higher than max fee per gas', { kind: 'tip-above-fee-cap' }],
  [-32000, 'transaction underpriced', { kind: 'underpriced' }],
  [-32000, 'nonce too low: next nonce 4, tx nonce 0', { kind: 'nonce-too-low', next: 4n, nonce: 0n }],
  [-32000, 'nonce too high', { kind: 'nonce-too-high' }],
  [-32003, 'nonce has max value', { kind: 'nonce-max' }],
  [-32003, 'insufficient funds for gas * price + value: have 1 want 2', { kind: 'insufficient-funds', have: 1n, want: 2n }],
  [-32003, 'sender is not an EOA', { kind: 'sender-has-code' }],
  [-32000, 'EIP-7702 transaction with empty auth list', { kind: 'empty-authorizations' }],
  [-32000, 'replacement transaction underpriced', { kind: 'replacement-underpriced' }],
  [-32000, 'in-flight transaction limit reached for delegated accounts', { kind: 'delegated-limit' }],
  [-32003, 'txpool is full: the sender has as many transactions in it as it may have', { kind: 'account-full' }],
  [-32003, 'txpool is full', { kind: 'pool-full' }],
])('rpc/methods/eth/submit: answers a refusal of the pool with %i %s', async (code, message, refusal) => {
  await expect(send({ kind: 'refused', refusal })).rejects.toMatchObject({ code, message })
})

it.each<[string, unknown, object]>([
  ['nothing', undefined, { code: -32602 }],
  ['no bytes', '0x', { code: -32602, message: 'empty transaction data' }],
  ['half a byte', '0x2', { code: -32602, data: expect.stringContaining('odd number of digits') }],
  ['no hex', '0xzz', { code: -32602 }],
  ['an object', {}, { code: -32602 }],
])('rpc/methods/eth/submit: refuses %s before the pool', async (_what, raw, expected) => {
  const pool = fakePool()
  const params = raw === undefined ? [] : [raw]
  await expect(ask({ pool }, 'eth_sendRawTransaction', ...params)).rejects.toMatchObject(expected)
  expect(pool.added).toEqual([])
})

it('rpc/methods/eth/submit: is unsupported without a pool and a sequencer (-32004)', async () => {
  await expect(ask({}, 'eth_sendRawTransaction', '0x02c0')).rejects.toMatchObject({ code: -32004 })
  for (const method of ['txpool_status', 'txpool_content', 'txpool_inspect'])
    await expect(ask({}, method)).rejects.toMatchObject({ code: -32004 })
})

const raw = signedTransaction(3)
const data = { why: ['anything'] }
it.each<[Forwarded, object]>([
  [{ kind: 'result', result: '0xabc' }, { result: '0xabc' }],
  [
    { kind: 'limited', retryAfterMs: 700 },
    { code: -32016, message: 'over rate limit', data: { retryAfterMs: 700 } },
  ],
  [
    { kind: 'error', code: 7, message: 'x', data },
    { code: 7, message: 'x', data },
  ],
  [{ kind: 'unanswered' }, { code: -32603, message: 'Internal error', data: expect.stringContaining('no answer from the sequencer') }],
  [{ kind: 'busy' }, { code: -32009 }],
])('rpc/methods/eth/submit: with a sequencer, returns its answer: %j', async (answer, expected) => {
  const pool = fakePool()
  const sent: Uint8Array[] = []
  const send = async (each: Uint8Array): Promise<Forwarded> => {
    sent.push(each)
    return answer
  }
  const outcome = ask({ pool, sequencer: { send } }, 'eth_sendRawTransaction', toHex(raw))
  if ('result' in expected) expect(await outcome).toBe(expected.result)
  else await expect(outcome).rejects.toMatchObject(expected)
  expect([sent, pool.added]).toEqual([[raw], []])
})

const refusing = async (): Promise<Forwarded> => ({ kind: 'error', code: -32000, message: 'nonce too low: next nonce 4, tx nonce 0' })
it('rpc/methods/eth/submit: adds a hint to an error of the sequencer while the node is not synced', async () => {
  const syncing = { ...context.chain, sync: () => ({ starting: 0, current: 5, highest: 300 }) }
  await expect(ask({ sequencer: { send: refusing }, chain: syncing }, 'eth_sendRawTransaction', toHex(raw))).rejects.toMatchObject({
    code: -32000,
    message: 'nonce too low: next nonce 4, tx nonce 0',
    data: { hint: expect.stringContaining('not synced'), currentBlock: '0x5', highestBlock: '0x12c' },
  })
  const error = ask({ sequencer: { send: refusing } }, 'eth_sendRawTransaction', toHex(raw))
  await expect(error).rejects.toMatchObject({ code: -32000, data: undefined })
})

it.each([
  ['half a transaction', toHex(raw.subarray(0, 40)), 'failed to decode signed transaction'],
  ['a malformed legacy transaction', '0xc0', 'failed to decode signed transaction'],
  ['an oversized transaction', `0x02${'00'.repeat(131_072)}`, 'oversized data: transaction size 131073, limit 131072'],
])('rpc/methods/eth/submit: does not forward %s', async (_what, given, message) => {
  await expect(ask({ sequencer: { send: () => expect.fail() } }, 'eth_sendRawTransaction', given)).rejects.toMatchObject({ message })
})

it('rpc/methods/eth/submit: forwards an unknown transaction type to the sequencer', async () => {
  await expect(ask({ sequencer: { send: refusing } }, 'eth_sendRawTransaction', '0x7901')).rejects.toThrow('nonce too low')
})

it.each([
  ['without pool transactions of the account', undefined, '0x3'],
  ['with the pool ahead', 5n, '0x5'],
  ['with the pool behind the chain', 2n, '0x3'],
])('rpc/methods/eth/state: pending eth_getTransactionCount %s', async (_what, next, expected) => {
  const pool = { ...fakePool(), nextNonce: async () => next }
  expect(await ask({ pool }, 'eth_getTransactionCount', account(1), 'pending')).toBe(expected)
  expect(await ask({ pool }, 'eth_getTransactionCount', account(1), 'latest')).toBe('0x3')
  expect(await ask({}, 'eth_getTransactionCount', account(1), 'pending')).toBe('0x3')
})
