import type { EthContext, RollupContext, SocketContext } from './context.ts'
import { getBlockByHash, getBlockByNumber, getBlockReceipts } from './methods/eth/blocks.ts'
import { call } from './methods/eth/call.ts'
import { blockNumber, chainId, syncing } from './methods/eth/chain.ts'
import { getLogs } from './methods/eth/getLogs.ts'
import { getBalance, getCode, getProof, getStorageAt, getTransactionCount } from './methods/eth/state.ts'
import { subscribe, unsubscribe } from './methods/eth/subscribe.ts'
import { getTransactionByHash, getTransactionReceipt } from './methods/eth/transactions.ts'
import { netVersion } from './methods/net/version.ts'
import { outputAtBlock, rollupConfig, safeHeadAtL1Block, syncStatus, version } from './methods/optimism/rollup.ts'
import { clientVersion } from './methods/web3/clientVersion.ts'
import { createRegistry, type Method, type Registry } from './registry.ts'

/** The methods of the execution half (port 8545). */
export const ethRegistry: Registry<EthContext> = createRegistry<EthContext>(
  [chainId, blockNumber, syncing],
  [getBlockByNumber, getBlockByHash, getBlockReceipts, getTransactionByHash, getTransactionReceipt],
  [getBalance, getTransactionCount, getCode, getStorageAt, getProof],
  [call, getLogs],
  [netVersion, clientVersion],
)

/** What only a connection that stays open can have (port 8546). */
export const socketMethods: readonly Method<SocketContext>[] = [subscribe, unsubscribe]

/** The methods of the execution half over WebSocket (port 8546). */
export const socketRegistry: Registry<SocketContext> = createRegistry<SocketContext>([...ethRegistry.values()], socketMethods)

/** The methods of the consensus half (port 7545). */
export const rollupRegistry: Registry<RollupContext> = createRegistry<RollupContext>([
  syncStatus,
  outputAtBlock,
  rollupConfig,
  safeHeadAtL1Block,
  version,
])
