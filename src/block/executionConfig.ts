import { chainFault } from '#chainspec/faults'
import type { Genesis } from '#chainspec/genesis'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { zeroHash } from '#types/ids'
import { genesisBlock } from './genesisBlock.ts'

/** Part of the rollup config that execution uses. */
export type ExecutionConfig = Pick<RollupConfig, 'schedule' | 'eip1559' | 'l2ChainId'> & {
  readonly genesis: Pick<RollupConfig['genesis'], 'l1' | 'l2'>
}

/**
 * Returns the execution config of a chain that is defined by a genesis file alone. The file holds nothing of L1, so the L1 origin of the genesis
 * block is a zero hash.
 * @throws Fault INVALID_CONFIG (fatal) when the file does not give the chain's base-fee parameters
 */
export function configOfGenesis(genesis: Genesis): ExecutionConfig {
  const { chain } = genesis
  if (chain?.eip1559 === undefined) {
    throw chainFault('INVALID_CONFIG', {
      what: 'genesis',
      key: 'config',
      expected: 'a chain config with base-fee parameters',
      found: 'none',
    })
  }
  const { header, hash } = genesisBlock(genesis, chain.schedule)
  return {
    schedule: chain.schedule,
    eip1559: chain.eip1559,
    l2ChainId: chain.chainId,
    genesis: { l1: { number: 0, hash: zeroHash }, l2: { number: header.number, hash } },
  }
}
