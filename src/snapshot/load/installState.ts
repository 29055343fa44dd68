import { type GivenBlock, verifyBaseBlocks } from '#blockchain/base/baseBlocks'
import { installBase } from '#blockchain/base/installBase'
import { openChainKv, segmentsDir } from '#store/chainTables'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Evidence } from '#types/trust'
import { snapshotFault } from '../faults.ts'
import type { StateLoader } from './stateLoader.ts'

export type Base = {
  /** hash of the last block */
  readonly hash: Hash
  /** ascending, the block of the state last, with its transactions; at least 255 headers below it, or all */
  readonly blocks: readonly GivenBlock[]
  /** first block of the chain */
  readonly genesis: BlockId
  /** of the block of the state */
  readonly trust: Evidence
}

/**
 * Ends a load: verifies the state root and the blocks, and begins the chain with the block of the state. Closes the loader. May be repeated after a kill.
 * A state with another root is removed.
 * @param dir directory of the chain's tables
 * @returns the block
 * @throws Fault STATE_ROOT_WRONG, BASE_BLOCK_REFUSED (fatal); DISK_FULL (retry), STORE_FAILED (fatal)
 */
export async function installState(loader: StateLoader, dir: string, { hash, blocks, genesis, trust }: Base): Promise<BlockId> {
  const verified = verifyBaseBlocks(blocks, hash, genesis)
  const header = blocks.at(-1)?.header
  const found = loader.end()
  if (header && found !== header.stateRoot) {
    await loader.remove()
    throw snapshotFault('STATE_ROOT_WRONG', { number: header.number, expected: header.stateRoot, found })
  }
  await loader[Symbol.asyncDispose]()
  await using kv = openChainKv(dir)
  return installBase({ kv, segmentsDir: segmentsDir(dir), genesis }, verified, trust)
}
