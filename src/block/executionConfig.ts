import { chainFault } from '#chainspec/faults'
import type { Genesis } from '#chainspec/genesis'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { zeroHash } from '#types/ids'
import { genesisBlock } from './genesisBlock.ts'

/** What of a rollup's config execution goes by. */
export type ExecutionConfig = Pick<RollupConfig, 'schedule' | 'eip1559' | 'l2ChainId'> & {
  readonly genesis: Pick<RollupConfig['genesis'], 'l1' | 'l2'>
}

/**
 * The config of a chain of which only the genesis file is known: nothing of L1, so the genesis block's L1 origin is a zero hash.
 * @throws Fault INVALID_CONFIG (fatal) when the file does not say which rules the chain follows
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
