import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createSenders, senderCacheBytes } from '#block/execution/senders'
import { networkOf } from '#chainspec/networks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import type { CancellationToken } from '#rpc/context'
import { ethRegistry } from '#rpc/methods'
import { createRpcServer, type RpcServer } from '#rpc/server/httpServer'
import { type EthereumChain, openEthereumChain } from '#test/ethereum/chain'
import { createEthereumContext } from '#test/ethereum/context'
import { type EthereumChainSpec, parseEthereumGenesis } from '#test/ethereum/genesis'
import { importRlp } from '#test/ethereum/importRlp'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import { poolPort } from '#test/harness/rpc/recordedNode'
import { sharedDataDir } from '#test/harness/sharedData'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { createEthereumEvm } from '#test/reference/ethereumEvm'
import { createTxPool } from '#txpool/txPool'

/** Folder of the conformance suite of the execution-apis. */
export const compatDir: string = resolve(sharedDataDir, 'spec', 'rpc-compat')

/** Head of the suite's chain (`headfcu.json`): a call makes it the unsafe, safe and finalized head. */
export function compatHead(): string {
  const { params } = JSON.parse(readFileSync(resolve(compatDir, 'headfcu.json'), 'utf8')) as { params: [{ headBlockHash: string }] }
  return params[0].headBlockHash
}

/** Rollup config for functions that require one. They use only the facts that the genesis file has too. */
function compatConfig({ config, genesis }: EthereumChainSpec): RollupConfig {
  const { config: other } = networkOf('base')
  return { ...other, ...config, blockTimeSec: 10, genesis: { ...other.genesis, ...config.genesis, l2TimeSec: genesis.header.timestamp } }
}

/** Imports the suite's chain into a store in memory. */
export function importCompatChain(): { readonly chain: EthereumChain; readonly spec: EthereumChainSpec } {
  const spec = parseEthereumGenesis(JSON.parse(readFileSync(resolve(compatDir, 'genesis.json'), 'utf8')))
  const chain = openEthereumChain({ kv: createMemoryKv(), evm: createEthereumEvm(sharedEvm), spec })
  importRlp(chain, readFileSync(resolve(compatDir, 'chain.rlp')))
  chain.label(chain.head)
  return { chain, spec }
}

/** Serves the methods of a node on that chain, with a pool. */
export async function serveCompatChain({ chain, spec }: ReturnType<typeof importCompatChain>): Promise<RpcServer> {
  const config = compatConfig(spec)
  const shared = { clock: systemClock, log: silentLog }
  const senders = createSenders({ maxBytes: senderCacheBytes })
  const pool = createTxPool({ ...shared, config, view: () => chain.view(), senders })
  pool.onPublished(chain.published)
  const deps = { ...shared, heads: scriptedFeed(), pool: poolPort(pool), version: '0.0.0', sync: () => undefined }
  const context = createEthereumContext(chain, spec, config, deps)
  const server = {
    pages: new Map(),
    ...shared,
    registry: ethRegistry,
    contextOf: (cancellation: CancellationToken) => ({ ...context, cancellation }),
  }
  return createRpcServer(server, { host: '127.0.0.1', port: 0, flag: 'http.port' })
}
