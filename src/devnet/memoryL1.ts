import type { BlockId } from '#types/blockRef'
import { devnetFault } from './faults.ts'
import { beaconReply } from './l1/memoryBeacon.ts'
import { MemoryChain, type MemoryChainOptions } from './l1/memoryChain.ts'
import { rpcAnswer } from './l1/memoryRpc.ts'
import type { DevnetL1 } from './ports.ts'
import { type Exchange, type L1Server, type Reply, serveL1 } from './recordedL1.ts'

export type MemoryL1Options = MemoryChainOptions & {
  /** default: any free port */
  readonly port?: number
}

const maxBatch = 1_000
const text = (status: number, body: unknown): Reply => ({ status, body: JSON.stringify(body) })
const parseError = { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'parse error' } }

function answer(chain: MemoryChain, { method, url, body }: Exchange): Reply {
  if (method === 'GET') return beaconReply(chain, url)
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    return text(400, parseError)
  }
  if (!Array.isArray(json)) return text(200, rpcAnswer(chain, json))
  return json.length > maxBatch
    ? text(413, parseError)
    : text(
        200,
        json.map((each) => rpcAnswer(chain, each)),
      )
}

async function serve(chain: MemoryChain, port: number): Promise<L1Server> {
  try {
    return await serveL1((exchange) => answer(chain, exchange), port)
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EADDRINUSE') throw error
    throw devnetFault('DEVNET_L1_PORT', { port }, error)
  }
}

/**
 * Starts an L1 in this process, on loopback, with our own interpreter under Prague's rules. It equals Ethereum except for state roots, which are
 * zero. It stores nothing on disk.
 * @throws Fault DEVNET_L1_PORT (fatal)
 */
export async function startMemoryL1(options: MemoryL1Options): Promise<DevnetL1> {
  const chain = new MemoryChain(options)
  const server = await serve(chain, options.port ?? 0)
  const genesis: BlockId = { hash: chain.head.hash, number: 0 }
  return {
    kind: 'memory',
    chainId: options.chainId,
    rpcUrl: server.url,
    beaconUrl: server.url,
    genesis,
    genesisTimeSec: options.genesisTimeSec,
    slotSec: options.slotSec,
    ended: new Promise(() => {}),
    async head(): Promise<BlockId & { readonly timestamp: number }> {
      const { hash, header } = chain.head
      return { hash, number: header.number, timestamp: header.timestamp }
    },
    async mine(): Promise<void> {
      chain.mine()
    },
    async reorg(depth): Promise<void> {
      chain.reorg(depth)
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
