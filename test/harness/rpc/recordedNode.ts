import { payloadOfBlock } from '#block/execution/payloadBlock'
import { createSenders, senderCacheBytes } from '#block/execution/senders'
import { createExecution } from '#blockchain/execution'
import { messagePasser } from '#chainspec/addresses'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { agreeWithGenesis } from '#chainspec/genesis'
import { l2RefOf } from '#chainspec/l2Ref'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import type { Heads } from '#engine/port'
import { createWasmEvm } from '#evm/wasmEvm'
import { systemClock } from '#lib/clock'
import { fromHex, type Hex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { createEthContext } from '#node/serving/ethContext'
import { ethRegistry, rollupRegistry } from '#rpc/methods'
import type { OutputFacts, RollupNode } from '#rpc/ports'
import { createRpcServer, type RpcServer } from '#rpc/server/httpServer'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import { readSharedJson } from '#test/harness/sharedData'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { createTxPool, type TxPool } from '#txpool/txPool'
import { decodeBlock } from '#types/block'
import type { BlockId, L1Ref, L2Ref } from '#types/blockRef'
import { emptyRoot, type Hash } from '#types/ids'
import type { RollupStatus } from '#types/rollupStatus'
import type { TransactionPool } from '#types/transactionPool'

type RecordedChain = {
  readonly blocks: readonly { readonly raw: Hex }[]
  readonly safeHeads: readonly { readonly l1: number; readonly l1Block: BlockId; readonly safeHead: BlockId }[]
}
type L1Block = { readonly hash: Hash; readonly parentHash: Hash; readonly number: Hex; readonly timestamp: Hex }
type L1Json = { readonly blocks: readonly { readonly block: L1Block }[] }

const l1RefOf = ({ hash, parentHash, number, timestamp }: L1Block): L1Ref => ({
  ...{ hash, parentHash, number: Number(number), timestamp: Number(timestamp) },
})

/** Status of the consensus half after the whole chain: L1's safe head is 3 blocks behind its head, the finalized head 5. */
function statusOf({ blocks }: L1Json, heads: Heads): RollupStatus {
  const back = (distance: number): L1Ref | undefined => {
    const found = blocks.at(-1 - distance)
    return found && l1RefOf(found.block)
  }
  return {
    ...{ currentL1: back(0), headL1: back(0), safeL1: back(3), finalizedL1: back(5) },
    ...{ unsafeL2: heads.unsafe, safeL2: heads.safe, finalizedL2: heads.finalized },
  }
}

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

/**
 * Serves a recorded chain on both servers: RPC methods and execution as in a node, on a store in memory, without derivation.
 * @param finalized number of the finalized block when the responses were recorded
 */
export async function serveRecordedChain(chainName: string, finalized: number): Promise<{ eth: RpcServer; rollup: RpcServer }> {
  const recorded = readSharedJson<RecordedChain>(`chains/${chainName}/l2.json.zst`)
  const { genesis } = parseBaseGenesisNote(recorded)
  const config = agreeWithGenesis(parseRollupConfig(readSharedJson(`chains/${chainName}/rollup.json`)), genesis)
  const shared = { evm: createWasmEvm(), config, clock: systemClock, log: silentLog }
  const execution = createExecution({ ...shared, kv: createMemoryKv(), genesis: () => genesis })

  const refs: L2Ref[] = [(await execution.heads()).unsafe]
  for (const { raw } of recorded.blocks.slice(1)) {
    const payload = payloadOfBlock(decodeBlock(fromHex(raw)))
    const inserted = execution.insertPayload(payload)
    if (inserted.kind === 'invalid') throw new Error(`block ${payload.blockNumber}: ${inserted.reason}`)
    const ref = l2RefOf(config, payload)
    refs.push(ref)
    await execution.setHeads({ unsafe: ref, safe: ref, finalized: refs[finalized] ?? (await execution.heads()).finalized })
  }
  const heads = await execution.heads()
  const status = statusOf(readSharedJson<L1Json>(`chains/${chainName}/l1.json.zst`), heads)

  const rollup: RollupNode = {
    config,
    status: () => status,
    readiness: () => ({ problems: [] }),
    async output(at): Promise<OutputFacts | undefined> {
      const number = typeof at === 'number' ? at : { latest: heads.unsafe, safe: heads.safe, finalized: heads.finalized }[at].number
      const ref = refs[number]
      using view = execution.view()
      const stateRoot = ref && view.header(ref.hash)?.stateRoot
      if (ref === undefined || stateRoot === undefined) return undefined
      return { ref, stateRoot, messagePasserStorageRoot: view.state(ref)?.account(messagePasser)?.storageRoot ?? emptyRoot }
    },
    safeHeadAtL1(number) {
      const found = recorded.safeHeads.findLast(({ l1 }) => l1 <= number)
      return found && { l1: found.l1Block, safe: found.safeHead }
    },
  }
  const pool = createTxPool({ ...shared, view: () => execution.view(), senders: createSenders({ maxBytes: senderCacheBytes }) })
  pool.onPublished(execution.published)
  const eth = createEthContext({
    ...{ ...shared, execution, heads: scriptedFeed(), pool: poolPort(pool), version: '0.0.0', sync: () => undefined },
  })
  const deps = { pages: new Map(), ...shared }
  const options = { host: '127.0.0.1', port: 0, flag: 'http.port' }
  return {
    eth: await createRpcServer({ ...deps, registry: ethRegistry, contextOf: (cancellation) => ({ ...eth, cancellation }) }, options),
    rollup: await createRpcServer(
      { ...deps, registry: rollupRegistry, contextOf: (cancellation) => ({ rollup, version: 'basalt', cancellation }) },
      options,
    ),
  }
}
