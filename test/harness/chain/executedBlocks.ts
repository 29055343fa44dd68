import { buildBlock } from '#block/building/buildBlock'
import type { BlockDeps } from '#block/execution/executeBlock'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import { createSenders } from '#block/execution/senders'
import type { ExecutionConfig } from '#block/executionConfig'
import { genesisBlock } from '#block/genesisBlock'
import type { Genesis } from '#chainspec/genesis'
import { genesisState } from '#state/genesisState'
import { overlay } from '#state/stateStack'
import type { WorldState } from '#state/worldState'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { attributesAt } from './blocks.ts'

export type BuiltBlock = { readonly block: ExecutedBlock; readonly state: WorldState }

/** Returns the genesis block of a chain with its state. */
export function builtGenesis({ genesis, config }: { genesis: Genesis; config: ExecutionConfig }): BuiltBlock {
  return { block: genesisBlock(genesis, config.schedule), state: genesisState(genesis.accounts).state }
}

/** Builds a chain of blocks with the given transactions. `branch` makes siblings differ. */
export function buildChain(config: ExecutionConfig, parent: BuiltBlock, transactions: readonly Uint8Array[][], branch = 0): BuiltBlock[] {
  const deps: BlockDeps = { evm: sharedEvm, config, senders: createSenders({ maxBytes: 100_000 }) }
  let below = parent
  return transactions.map((own) => {
    const { header, hash } = below.block
    const attributes = attributesAt(config.schedule, header.number + 1, own, branch)
    const result = buildBlock(deps, { header, hash, state: below.state }, attributes)
    if (result.kind === 'invalid') throw new Error(result.reason)
    const { block } = result
    below = { block, state: overlay(below.state, block.diff, block.trie, { number: block.header.number, hash: block.hash }) }
    return below
  })
}
