import { toQuantity } from '#lib/hex'
import { address, quantity, resultList } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import type { SyncProgress } from '../../../ports.ts'
import { refTo } from '../../../reference/schemas.ts'
import type { Method, ResultCodec } from '../../../registry.ts'
import { ethMethod } from '../../define.ts'

const chainId = ethMethod({
  name: 'eth_chainId',
  doc: 'Chain id for signing transactions (EIP-155).',
  params: [],
  result: quantity,
  cost: 'instant',
  example: { params: [], result: '0x2105' },
  run: (context) => context.chainId,
})

const blockNumber = ethMethod({
  name: 'eth_blockNumber',
  doc: 'Number of the latest block.',
  params: [],
  result: quantity,
  cost: 'instant',
  example: { params: [], result: '0x2' },
  run(context): number {
    using view = context.chain.view()
    return view.heads.latest.number
  },
})

const syncResult: ResultCodec<SyncProgress | undefined> = {
  doc: 'false, or the numbers of the starting, current and highest block',
  schema: refTo('SyncStatus'),
  encode: (sync) =>
    sync === undefined
      ? false
      : {
          startingBlock: toQuantity(sync.starting),
          currentBlock: toQuantity(sync.current),
          highestBlock: toQuantity(sync.highest),
        },
}

const syncing = ethMethod({
  name: 'eth_syncing',
  doc: 'Sync progress; false when the node is synced.',
  params: [],
  result: syncResult,
  cost: 'instant',
  example: { params: [], result: false },
  run: (context) => context.chain.sync(),
})

const accounts = ethMethod({
  name: 'eth_accounts',
  doc: 'Accounts that the node signs for. Always empty: it holds no keys.',
  params: [],
  result: resultList(address),
  cost: 'instant',
  example: { params: [], result: [] },
  run: () => [],
})

export const chainMethods: readonly Method<EthContext>[] = [chainId, blockNumber, syncing, accounts]
