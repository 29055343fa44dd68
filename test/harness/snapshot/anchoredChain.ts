import { type GivenBlock, verifyBaseBlocks } from '#blockchain/base/baseBlocks'
import { installBase } from '#blockchain/base/installBase'
import { readCanonicalHash, readHeader } from '#blockchain/chainStore'
import type { RecordedChain } from '#devnet/recordedChain'
import { stateAt } from '#state/chainState'
import { openChainKv, segmentsDir } from '#store/chainTables'
import type { Kv, KvReader } from '#store/ports'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { createProof } from '#trie/proof'
import type { BlockId } from '#types/blockRef'
import { emptyRoot, type Hash } from '#types/ids'
import { readNow } from '../chain/olderSchemas.ts'
import { givenBlocks } from './loadRecorded.ts'

/** Returns the state root of a stored block. */
export function rootAt(reader: KvReader, number: number): Hash {
  const hash = readCanonicalHash(reader, number) as Hash
  return readHeader(reader, { number, hash })?.stateRoot ?? emptyRoot
}

/** Begins a chain with a recorded block of which nothing but the root node of its state is known. @param whole store with the chain and all its states */
export function installAnchor(chain: RecordedChain, whole: Kv, anchor: number, dir: string): Promise<void> {
  const last = { number: anchor, hash: chain.blocks[anchor]?.hash as Hash }
  return beginPartial(chain.config.genesis.l2, givenBlocks(chain, 0, anchor), last, whole, dir)
}

/**
 * Begins a chain with the last of some blocks. Nothing but the root node of its state is known.
 * @param whole store with the chain and all its states
 */
export async function beginPartial(genesis: BlockId, blocks: readonly GivenBlock[], last: BlockId, whole: Kv, dir: string): Promise<void> {
  const verified = verifyBaseBlocks(blocks, last.hash, genesis)
  const rootNode = readNow(whole, (reader) => {
    const { nodes } = stateAt(reader, last.number, () => undefined)
    return createProof(nodes, undefined, rootAt(reader, last.number), new Uint8Array(32))[0]
  })
  await using kv = openChainKv(dir)
  agreeOnSchema(kv, chainSchema)
  installBase({ kv, segmentsDir: segmentsDir(dir), genesis, ...(rootNode && { rootNode }) }, verified, { grade: 'given' })
}
