import { messagePasser } from '#chain/addresses'
import { agreeWithGenesis } from '#chain/genesis'
import { l1AttributesIn, l2RefOf } from '#chain/l2Ref'
import { parseRollupConfig, type RollupConfig } from '#chain/rollupConfig'
import { createReferenceEvm } from '#evm/referenceEvm'
import type { ParentBlock } from '#execution/executeBlock'
import { genesisBlock } from '#execution/genesisBlock'
import { l1FeeFacts } from '#execution/l1FeeFacts'
import { payloadOfBlock } from '#execution/payloadBlock'
import { createSenders } from '#execution/senders'
import { verifyPayload } from '#execution/verifyPayload'
import { createWorldReads } from '#execution/worldReads'
import { systemClock } from '#lib/clock'
import type { Hex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { runCall } from '#node/executor'
import { defaultEthLimits } from '#rpc/context'
import { ethRegistry, rollupRegistry } from '#rpc/methods'
import type { OutputFacts, RollupNode, RollupStatus } from '#rpc/ports'
import { createRpcServer, type RpcServer } from '#rpc/server'
import { genesisState } from '#state/genesisState'
import { overlay } from '#state/worldState'
import { type GenesisNote, recordedGenesis } from '#test/harness/recordedGenesis'
import { type RecordedBlock, recordedChain } from '#test/harness/rpcRecordedChain'
import { readSharedJson } from '#test/harness/sharedData'
import type { BlockId, L1Ref, L2Ref } from '#types/blockRef'
import { emptyRoot, type Hash } from '#types/ids'

type RecordedChain = GenesisNote & {
  readonly blocks: readonly RecordedBlock[]
  readonly safeHeads: readonly { readonly l1: number; readonly l1Block: BlockId; readonly safeHead: BlockId }[]
}
type L1Json = {
  readonly blocks: readonly {
    readonly block: { readonly hash: Hash; readonly parentHash: Hash; readonly number: Hex; readonly timestamp: Hex }
  }[]
}

/** Every block of a recorded chain as one to build on, with the state after it, all of them in memory. */
function executeAll(config: RollupConfig, recorded: RecordedChain, chain: ReturnType<typeof recordedChain>): readonly ParentBlock[] {
  const genesis = recordedGenesis(recorded)
  const deps = { evm: createReferenceEvm(), config, senders: createSenders({ maxBytes: 2 ** 20 }) }
  const { header, hash } = genesisBlock(genesis, config.schedule)
  const first = genesisState(genesis.accounts)
  let parent: ParentBlock = { header, hash, state: overlay(first.state, first.diff, first.result, { number: 0, hash }) }
  const blocks = [parent]
  for (const { block } of chain.blocks.slice(1)) {
    const result = verifyPayload(deps, parent, payloadOfBlock(config.schedule, block))
    if (result.kind === 'invalid') throw new Error(`block ${block.header.number}: ${result.reason}`)
    const { header, hash, diff, trie } = result.block
    parent = { header, hash, state: overlay(parent.state, diff, trie, { number: header.number, hash }) }
    blocks.push(parent)
  }
  return blocks
}

/** What the consensus half knew when the chain was complete: L1's safe head is 3, its finalized head 5 blocks behind. */
function statusOf(l1: L1Json, l2: (number: number) => L2Ref, safe: number, finalized: number): RollupStatus {
  const l1Ref = (back: number): L1Ref | undefined => {
    const block = l1.blocks.at(-1 - back)?.block
    return block && { hash: block.hash, parentHash: block.parentHash, number: Number(block.number), timestamp: Number(block.timestamp) }
  }
  const l1Refs = { currentL1: l1Ref(0), headL1: l1Ref(0), safeL1: l1Ref(3), finalizedL1: l1Ref(5) }
  return { ...l1Refs, unsafeL2: l2(safe), safeL2: l2(safe), finalizedL2: l2(finalized) }
}

/**
 * Both servers over a recorded chain that was executed in memory: the RPC methods with everything they read, without store and derivation.
 * @param finalized number of the finalized block when the answers were recorded
 */
export async function serveRecordedChain(chainName: string, finalized: number): Promise<{ eth: RpcServer; rollup: RpcServer }> {
  const recorded = readSharedJson<RecordedChain>(`chains/${chainName}/l2.json.zst`)
  const config = agreeWithGenesis(parseRollupConfig(readSharedJson(`chains/${chainName}/rollup.json`)), recordedGenesis(recorded))
  const safe = recorded.blocks.length - 1
  const chain = recordedChain(
    recorded.blocks,
    { safe, finalized },
    {
      feesOf: (block, raw) => l1FeeFacts(config.schedule, block.header.timestamp, l1AttributesIn(block), raw),
      stateAfter: (number) => worldAt(number),
    },
  )
  const executed = executeAll(config, recorded, chain)
  const worldAt = (number: number) => {
    const block = executed[number]
    return block && createWorldReads(block.state, block.header.stateRoot)
  }
  const l2 = (number: number): L2Ref => {
    const block = chain.blocks[number]?.block
    if (block === undefined) throw new RangeError(`no block ${number}`)
    return l2RefOf(config, payloadOfBlock(config.schedule, block))
  }
  const status = statusOf(readSharedJson<L1Json>(`chains/${chainName}/l1.json.zst`), l2, safe, finalized)
  const rollup: RollupNode = {
    config,
    status: () => status,
    readiness: () => ({ problems: [] }),
    async output(at): Promise<OutputFacts | undefined> {
      const number = typeof at === 'number' ? at : { latest: safe, safe, finalized }[at]
      const stateRoot = executed[number]?.header.stateRoot
      return (
        stateRoot && {
          ref: l2(number),
          stateRoot,
          messagePasserStorageRoot: worldAt(number)?.account(messagePasser)?.storageRoot ?? emptyRoot,
        }
      )
    },
    safeHeadAtL1(number) {
      const found = recorded.safeHeads.findLast(({ l1 }) => l1 <= number)
      return found && { l1: found.l1Block, safe: found.safeHead }
    },
  }
  const executor = {
    call: (at: BlockId, message: Parameters<typeof runCall>[2]) => {
      const parent = executed[at.number]
      return parent && runCall({ evm: createReferenceEvm(), config }, parent, message)
    },
  }
  const eth = { chain, executor, chainId: config.l2ChainId, clientVersion: 'basalt', limits: defaultEthLimits }
  const deps = { pages: new Map(), log: silentLog, clock: systemClock }
  const options = { host: '127.0.0.1', port: 0, flag: 'http.port' }
  return {
    eth: await createRpcServer({ ...deps, registry: ethRegistry, contextOf: (ticket) => ({ ...eth, ticket }) }, options),
    rollup: await createRpcServer(
      { ...deps, registry: rollupRegistry, contextOf: (ticket) => ({ rollup, version: 'basalt', ticket }) },
      options,
    ),
  }
}
