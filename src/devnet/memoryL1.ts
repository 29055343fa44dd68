import { toHex } from '#lib/hex'
import type { BlockId } from '#types/blockRef'
import { parseHash } from '#types/ids'
import { devnetFault } from './faults.ts'
import { MemoryChain, type MemoryChainOptions } from './l1/memoryChain.ts'
import { callOf } from './l1/memoryRpc.ts'
import { type BeaconChain, beaconReply, type L1Server, rpcReply, type ServedBlob, serveL1 } from './l1Server.ts'
import type { DevnetL1 } from './ports.ts'

export type MemoryL1Options = MemoryChainOptions & {
  /** default: any free port */
  readonly port?: number
}

/** Returns the chain's blobs for the beacon API. The slot of a block is its number. */
function beaconOf(chain: MemoryChain): BeaconChain {
  const { slotSec, genesisTimeSec, chainId } = chain.options
  return {
    genesisTimeSec,
    spec: { SECONDS_PER_SLOT: String(slotSec), DEPOSIT_CHAIN_ID: String(chainId) },
    blobHashes: (slot) => chain.block(slot)?.mined.flatMap(({ tx }) => (tx.type === 3 ? tx.blobVersionedHashes : [])),
    blob(hash): ServedBlob | undefined {
      const kept = chain.blob(parseHash(hash))
      return kept && { data: toHex(kept.blob), commitment: toHex(kept.commitment), proof: kept.proof && toHex(kept.proof) }
    },
  }
}

async function serve(chain: MemoryChain, port: number): Promise<L1Server> {
  try {
    const beacon = beaconOf(chain)
    return await serveL1(({ method, url, body }) => (method === 'GET' ? beaconReply(beacon, url) : rpcReply(body, callOf(chain))), port)
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
