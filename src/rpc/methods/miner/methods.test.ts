import { expect, it } from 'vitest'
import { account, fakeChain, fakeContext, fakePool, topic } from '#test/harness/rpc/fakes'
import { ethRegistry } from '../../methods.ts'

const context = fakeContext(fakeChain([[], []]))
const ask = async (over: object, method: string, ...params: readonly unknown[]): Promise<unknown> =>
  ethRegistry.get(method)?.call({ ...context, ...over }, params)

it.each([
  ['admin_dropTransaction', [topic(1)], { kind: 'transaction', hash: topic(1) }, [topic(1)], true],
  ['admin_dropTransaction', [topic(1)], { kind: 'transaction', hash: topic(1) }, [], false],
  ['admin_dropSenderTransactions', [account(1)], { kind: 'sender', sender: account(1) }, [topic(2), topic(3)], [topic(2), topic(3)]],
  ['admin_clearTxpool', [], { kind: 'all' }, [topic(2), topic(3)], '0x2'],
])('rpc/methods/admin: %s removes from the pool and returns what was removed', async (method, params, what, removed, answer) => {
  const asked: unknown[] = []
  const remove = async (given: unknown) => {
    asked.push(given)
    return removed
  }
  expect(await ask({ pool: { ...fakePool(), remove } }, method, ...params)).toEqual(answer)
  expect(asked).toEqual([what])
})

it.each([
  ['miner_setMaxDASize', ['0x64', '0x3e8'], { maxTransactionBytes: 100, maxBlockBytes: 1_000 }, true],
  ['miner_setMaxDASize', ['0x0', '0x0'], { maxTransactionBytes: undefined, maxBlockBytes: undefined }, true],
  ['miner_setGasLimit', ['0x1c9c380'], { maxBlockGas: 30_000_000n }, true],
  ['miner_setGasLimit', ['0x0'], { maxBlockGas: undefined }, true],
  ['miner_setExtra', ['0x1234'], undefined, false],
  ['miner_setGasPrice', ['0x1'], undefined, false],
])('rpc/methods/miner: %s %j', async (method, params, change, answer) => {
  const pool = fakePool()
  expect(await ask({ pool }, method, ...params)).toBe(answer)
  expect(pool.limits).toEqual(change === undefined ? [] : [change])
})

it.each(['admin_dropTransaction', 'admin_dropSenderTransactions', 'admin_clearTxpool', 'miner_setMaxDASize', 'miner_setGasLimit'])(
  'rpc/methods/miner: %s is unsupported on a node without a pool (-32004)',
  async (method) => {
    const params = { admin_dropTransaction: [topic(1)], admin_dropSenderTransactions: [account(1)] }[method] ?? ['0x1', '0x1']
    await expect(ask({}, method, ...params)).rejects.toMatchObject({ code: -32004 })
  },
)
