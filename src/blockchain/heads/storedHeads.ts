import { payloadOfBlock } from '#block/execution/payloadBlock'
import type { ExecutionConfig } from '#block/executionConfig'
import { executionFault } from '#block/faults'
import { genesisBlock } from '#block/genesisBlock'
import type { Genesis } from '#chainspec/genesis'
import { verifyGenesisHash } from '#chainspec/genesis'
import { l2RefOf } from '#chainspec/l2Ref'
import type { Heads } from '#engine/port'
import { readLoadMark } from '#state/loadMark'
import { hasRows } from '#store/keys'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import type { Block } from '#types/block'
import type { BlockId } from '#types/blockRef'
import * as store from '../chainStore.ts'
import { commitGenesis } from '../commit/commit.ts'

type OpenDeps = { readonly kv: Kv; readonly config: ExecutionConfig; readonly genesis: () => Genesis }

/** Returns the labels as full references. @throws Fault CHAIN_STORE_DAMAGED (fatal) when a block is missing */
export function headsOf(config: ExecutionConfig, ids: store.StoredHeads, blockOf: (id: BlockId) => Block | undefined): Heads {
  const refOf = (id: BlockId): Heads['unsafe'] => {
    const block = blockOf(id)
    if (block === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: `block ${id.number} ${id.hash}` })
    return l2RefOf(config, payloadOfBlock(block, id.hash))
  }
  return { unsafe: refOf(ids.unsafe), safe: refOf(ids.safe), finalized: refOf(ids.finalized) }
}

export type CommittedHeads = { readonly heads: Heads; readonly sequence: number }

/**
 * Reads the last committed heads; writes the genesis block to a store without a chain.
 * @throws Fault WRONG_GENESIS, GENESIS_MISMATCH, CHAIN_STORE_DAMAGED (fatal)
 */
export function openHeads(deps: OpenDeps): CommittedHeads {
  const { kv, config } = deps
  const existing = readHeads(deps)
  if (existing) return existing
  requireEmpty(kv)
  const genesis = genesisBlock(deps.genesis(), config.schedule)
  verifyGenesisHash(config, genesis.header)
  kv.write((tx) => commitGenesis(tx, genesis))
  const heads = readHeads(deps)
  if (heads === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: 'the genesis block after its write' })
  return heads
}

/** Refuses a store with blocks but without heads: it is damaged, and a genesis block would hide that. */
function requireEmpty(kv: Kv): void {
  using reader = kv.snapshot()
  for (const { id } of [tables.headers, tables.canonical, tables.accounts]) {
    if (hasRows(reader, id)) throw executionFault('CHAIN_STORE_DAMAGED', { what: 'its heads' })
  }
}

function readHeads({ kv, config }: OpenDeps): CommittedHeads | undefined {
  using reader = kv.snapshot()
  const unfinished = readLoadMark(reader)
  if (unfinished) throw executionFault('STATE_UNFINISHED', { command: unfinished.command })
  const stored = store.readHeads(reader)
  if (stored === undefined) return undefined
  const genesis = store.readGenesisId(reader)
  if (genesis?.hash !== config.genesis.l2.hash) {
    throw executionFault('GENESIS_MISMATCH', { stored: genesis?.hash ?? 'none', configured: config.genesis.l2.hash })
  }
  return { heads: headsOf(config, stored, (id) => store.readBlock(reader, id)), sequence: store.readHeadsSequence(reader) }
}
