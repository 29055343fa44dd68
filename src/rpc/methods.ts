import type { AdminContext, EngineContext, EthContext, OperatorContext, RollupContext, SocketContext } from './context.ts'
import { adminMethods, ethAdminMethods, operatorMethods } from './methods/admin/methods.ts'
import { basaltMethods } from './methods/basalt/stateRange.ts'
import { baseMethods } from './methods/base/methods.ts'
import { debugMethods } from './methods/debug/methods.ts'
import { engineGetBlockByHash } from './methods/engine/blockByHash.ts'
import { engineMethods } from './methods/engine/methods.ts'
import { ethMethods, socketMethods } from './methods/eth/methods.ts'
import { minerMethods } from './methods/miner/methods.ts'
import { netMethods } from './methods/net/methods.ts'
import { peerAdminMethods, peerMethods } from './methods/opp2p/methods.ts'
import { optimismMethods } from './methods/optimism/methods.ts'
import { withDiscovery } from './methods/rpc/discovery.ts'
import { traceMethods } from './methods/trace/methods.ts'
import { txpoolMethods } from './methods/txpool/methods.ts'
import { web3Methods } from './methods/web3/methods.ts'
import { namespaceOf } from './reference/openRpc.ts'
import { createRegistry, type Registry } from './registry.ts'

/** Methods of the execution half (port 8545). The order is that of the reference and of OpenRPC documents. */
export const ethRegistry: Registry<EthContext> = withDiscovery<EthContext>([
  ...ethMethods,
  ...baseMethods,
  ...basaltMethods,
  ...txpoolMethods,
  ...ethAdminMethods,
  ...minerMethods,
  ...netMethods,
  ...web3Methods,
  ...debugMethods,
  ...traceMethods,
])

/** Methods of the execution half over WebSocket (port 8546) and the Unix socket: those of HTTP and subscriptions. */
export const socketRegistry: Registry<SocketContext> = withDiscovery<SocketContext>([...ethRegistry.values(), ...socketMethods])

/** Methods over the Unix socket: those of a WebSocket, and those of the operator. */
export const ipcRegistry: Registry<SocketContext & OperatorContext> = withDiscovery<SocketContext & OperatorContext>([
  ...socketRegistry.values(),
  ...operatorMethods,
])

/** Methods of the engine port (8551): the Engine API, and the methods of the execution half for consensus clients that read through it. */
export const engineRegistry: Registry<EngineContext> = withDiscovery<EngineContext>([
  ...[...ethRegistry.values()].filter(({ name }) => name !== engineGetBlockByHash.name),
  ...engineMethods,
])

/** Methods of the consensus half (port 7545). */
export const rollupRegistry: Registry<RollupContext> = createRegistry<RollupContext>(optimismMethods, peerMethods)

/** Methods of the consensus half with those of its operator. */
export const adminRegistry: Registry<AdminContext> = createRegistry<AdminContext>(
  [...rollupRegistry.values()],
  adminMethods,
  peerAdminMethods,
)

const lookups = ['eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_getTransactionByHash', 'eth_getTransactionReceipt']

/** Methods with which the local page shows blocks and transactions. */
export const lookupRegistry: Registry<EthContext> = new Map([...ethRegistry].filter(([name]) => lookups.includes(name)))

/** Methods of the given namespaces. `rpc_modules` and `rpc.discover`, when included, describe this selection. */
export function withNamespaces<Context>(registry: Registry<Context>, namespaces: readonly string[] | 'all'): Registry<Context> {
  if (namespaces === 'all') return registry
  const chosen = [...registry].filter(([name]) => namespaces.includes(namespaceOf(name)))
  return namespaces.includes('rpc') ? withDiscovery(chosen.map(([, method]) => method)) : new Map(chosen)
}
