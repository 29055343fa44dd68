import { createSenders, senderCacheBytes } from '#block/execution/senders'
import type { RecordedChainName } from '#devnet/recordedChain'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { createEthContext } from '#node/serving/ethContext'
import { createRollupNode } from '#node/serving/rollupNode'
import { ethRegistry, rollupRegistry } from '#rpc/methods'
import { createRpcServer } from '#rpc/server/httpServer'
import type { Kv } from '#store/ports'
import { createRecordedNodes, type NodeSession, type RecordedNodes } from '#test/harness/consensus/nodes'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import { createTxPool, type TxPool } from '#txpool/txPool'
import type { TransactionPool } from '#types/transactionPool'

/** Wraps a pool of this thread in the port of a pool in another thread. */
export function poolPort(pool: TxPool): TransactionPool {
  return {
    async add(raw) {
      const [outcome] = pool.add([raw])
      if (outcome === undefined) throw new Error('no outcome')
      return outcome
    },
    get: async (hash) => pool.get(hash),
    nextNonce: async (sender) => pool.nextNonce(sender),
    size: async () => pool.size(),
    content: async (sender) => pool.content(sender),
    remove: async (what) => pool.remove(what),
    limitBlocks: async () => {},
  }
}

export type ServedChain = AsyncDisposable & {
  readonly nodes: RecordedNodes
  readonly session: NodeSession
  /** URL of the execution half */
  readonly url: string
  /** URL of the consensus half */
  readonly rollupUrl: string
}

/**
 * Derives a recorded chain from its L1, executes it, and serves it on both RPC servers.
 * @param kv store that the chain continues on; absent: an empty one in memory
 */
export async function serveRecordedChain(name: RecordedChainName, kv?: Kv): Promise<ServedChain> {
  const nodes = createRecordedNodes(name, kv)
  const session = nodes.start()
  await session.toTip()
  const { engine: execution, driver, store } = session
  const { config } = nodes
  const shared = { evm: sharedEvm, config, clock: systemClock, log: silentLog }
  const rollup = createRollupNode({
    config,
    status: () => driver.status(),
    trust: () => ({ block: config.genesis.l2, grade: 'derived' }),
    engine: execution,
    store,
    problems: () => [],
  })
  const pool = createTxPool({ ...shared, view: () => execution.view(), senders: createSenders({ maxBytes: senderCacheBytes }) })
  pool.onPublished(execution.published)
  const eth = createEthContext({
    ...{ ...shared, execution, heads: scriptedFeed(), pool: poolPort(pool), version: '0.0.0', sync: () => undefined },
  })
  const deps = { pages: new Map(), ...shared }
  const options = { host: '127.0.0.1', port: 0, flag: 'http.port' }
  const ethServer = await createRpcServer(
    { ...deps, registry: ethRegistry, contextOf: (cancellation) => ({ ...eth, cancellation }) },
    options,
  )
  const rollupServer = await createRpcServer(
    { ...deps, registry: rollupRegistry, contextOf: (cancellation) => ({ rollup, version: 'basalt', cancellation }) },
    options,
  )
  return {
    nodes,
    session,
    url: ethServer.url,
    rollupUrl: rollupServer.url,
    async [Symbol.asyncDispose]() {
      await ethServer[Symbol.asyncDispose]()
      await rollupServer[Symbol.asyncDispose]()
      await session.stop()
    },
  }
}
