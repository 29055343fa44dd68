import { expect, it } from 'vitest'
import { account, fakeChain, fakeContext, topic } from '#test/harness/rpc/fakes'
import { readResult } from '#test/harness/rpc/result'
import type { ChainView } from '#types/chainView'
import { ethRegistry } from '../../methods.ts'

const log = { address: account(9), topics: [topic(1)], data: new Uint8Array(0) }
const whole = fakeChain([[], [[log]], [[log]], [[log]]])
/** The same chain without the rows of blocks 0 and 1. */
const oldest = 2
const chain = {
  ...whole,
  view(): ChainView {
    const view = whole.view()
    const kept = (hash: string): boolean => (view.header(hash as never)?.number ?? oldest) >= oldest
    return {
      ...view,
      block: (hash) => (kept(hash) ? view.block(hash) : undefined),
      receipts: (hash) => (kept(hash) ? view.receipts(hash) : undefined),
      oldestBlock: oldest,
      oldestLogs: oldest,
    }
  },
}
const context = fakeContext(chain)
const ask = async (method: string, ...params: readonly unknown[]) => readResult(await ethRegistry.get(method)?.call(context, params))
const hash = whole.blocks[1]?.hash
const transaction = whole.transactionHash(1, 0)

it.each([
  ['eth_getBlockByNumber', ['0x1', true]],
  ['eth_getBlockByNumber', ['0x1', false]],
  ['eth_getBlockByHash', [hash, false]],
  ['eth_getBlockTransactionCountByNumber', ['0x1']],
  ['eth_getBlockReceipts', ['0x1']],
  ['eth_getTransactionByHash', [transaction]],
  ['eth_getTransactionReceipt', [transaction]],
  ['eth_getTransactionByBlockNumberAndIndex', ['0x1', '0x0']],
  ['eth_getRawTransactionByHash', [transaction]],
  ['debug_getRawTransaction', [transaction]],
  ['debug_getRawBlock', ['0x1']],
  ['debug_getRawReceipts', ['0x1']],
  ['eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x3' }]],
  ['eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x0' }]],
  ['eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x3', address: account(9) }]],
  ['eth_getLogs', [{ blockHash: hash }]],
])('rpc/methods/eth: %s %j of a block whose rows are not retained is an error (4444)', async (method, params) => {
  await expect(ask(method, ...params)).rejects.toMatchObject({ code: 4444 })
})

it('rpc/methods/eth: later blocks, and headers of all blocks, are served', async () => {
  expect(await ask('eth_getLogs', { fromBlock: '0x2', toBlock: '0x3' })).toHaveLength(2)
  expect(await ask('debug_getRawHeader', '0x1')).toBe(
    await readResult(await ethRegistry.get('debug_getRawHeader')?.call(fakeContext(whole), ['0x1'])),
  )
  expect(await ask('eth_capabilities')).toMatchObject({
    blocks: { oldestBlock: '0x2' },
    logs: { oldestBlock: '0x2' },
    state: { oldestBlock: '0x0' },
  })
})
