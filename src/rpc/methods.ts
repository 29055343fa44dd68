import type { AdminContext, EngineContext, EthContext, RollupContext, SocketContext } from './context.ts'
import { postUnsafePayload } from './methods/admin/postUnsafePayload.ts'
import { sequencerActive } from './methods/admin/sequencerActive.ts'
import { setLogLevel } from './methods/admin/setLogLevel.ts'
import { startSequencer } from './methods/admin/startSequencer.ts'
import { stopSequencer } from './methods/admin/stopSequencer.ts'
import { debugMethods } from './methods/debugMethods.ts'
import { engineGetBlockByHash } from './methods/engine/blockByHash.ts'
import { getPayloadBodiesByHashV1, getPayloadBodiesByRangeV1 } from './methods/engine/bodies.ts'
import { forkchoiceUpdatedV1, forkchoiceUpdatedV2, forkchoiceUpdatedV3 } from './methods/engine/forkchoice.ts'
import { exchangeCapabilities, getClientVersionV1 } from './methods/engine/identity.ts'
import {
  getPayloadV1,
  getPayloadV2,
  getPayloadV3,
  getPayloadV4,
  getPayloadV5,
  newPayloadV1,
  newPayloadV2,
  newPayloadV3,
  newPayloadV4,
  newPayloadV5,
} from './methods/engine/payloads.ts'
import { subscribe, unsubscribe } from './methods/eth/subscribe.ts'
import { ethCallMethods } from './methods/ethCallMethods.ts'
import { ethFilterMethods } from './methods/ethFilterMethods.ts'
import { ethReadMethods } from './methods/ethReadMethods.ts'
import { nodeMethods } from './methods/nodeMethods.ts'
import { outputAtBlock, rollupConfig, safeHeadAtL1Block, syncStatus, version } from './methods/optimism/rollup.ts'
import { withDiscovery } from './methods/rpc/discovery.ts'
import { submitMethods } from './methods/submitMethods.ts'
import { traceMethods } from './methods/traceMethods.ts'
import { namespaceOf } from './openRpc.ts'
import { createRegistry, type Method, type Registry } from './registry.ts'

/** The methods of the execution half (port 8545). */
export const ethRegistry: Registry<EthContext> = withDiscovery<EthContext>([
  ...ethReadMethods,
  ...ethCallMethods,
  ...ethFilterMethods,
  ...submitMethods,
  ...nodeMethods,
  ...debugMethods,
  ...traceMethods,
])

/** What only a connection that stays open can have (port 8546). */
export const socketMethods: readonly Method<SocketContext>[] = [subscribe, unsubscribe]

/** The methods of the execution half over WebSocket (port 8546). */
export const socketRegistry: Registry<SocketContext> = withDiscovery<SocketContext>([...ethRegistry.values(), ...socketMethods])

/** What moves the chain: for a consensus half that has the secret. */
export const engineMethods: readonly Method<EngineContext>[] = [
  ...[newPayloadV1, newPayloadV2, newPayloadV3, newPayloadV4, newPayloadV5],
  ...[forkchoiceUpdatedV1, forkchoiceUpdatedV2, forkchoiceUpdatedV3],
  ...[getPayloadV1, getPayloadV2, getPayloadV3, getPayloadV4, getPayloadV5],
  ...[getPayloadBodiesByHashV1, getPayloadBodiesByRangeV1],
  ...[exchangeCapabilities, getClientVersionV1],
  engineGetBlockByHash,
]

/** The methods of the engine port (8551): foreign consensus halves read through it too. */
export const engineRegistry: Registry<EngineContext> = withDiscovery<EngineContext>([
  ...[...ethRegistry.values()].filter(({ name }) => name !== engineGetBlockByHash.name),
  ...engineMethods,
])

/** The methods of the consensus half (port 7545). */
export const rollupRegistry: Registry<RollupContext> = createRegistry<RollupContext>([
  syncStatus,
  outputAtBlock,
  rollupConfig,
  safeHeadAtL1Block,
  version,
])

/** What changes a node: for its operator alone. */
export const adminMethods: readonly Method<AdminContext>[] = [
  postUnsafePayload,
  sequencerActive,
  setLogLevel,
  startSequencer,
  stopSequencer,
]

/** The methods of the consensus half with those for its operator. */
export const adminRegistry: Registry<AdminContext> = createRegistry<AdminContext>([...rollupRegistry.values()], adminMethods)

/** The methods of some namespaces; those that tell of a server tell of these. */
export function withNamespaces<Context>(registry: Registry<Context>, namespaces: readonly string[] | 'all'): Registry<Context> {
  if (namespaces === 'all') return registry
  const chosen = [...registry].filter(([name]) => namespaces.includes(namespaceOf(name)))
  return namespaces.includes('rpc') ? withDiscovery(chosen.map(([, method]) => method)) : new Map(chosen)
}
