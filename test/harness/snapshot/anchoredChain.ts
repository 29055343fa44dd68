import { verifyBaseBlocks } from '#blockchain/base/baseBlocks'
import { installBase } from '#blockchain/base/installBase'
import { readCanonicalHash, readHeader } from '#blockchain/chainStore'
import type { RecordedChain } from '#devnet/recordedChain'
import { stateAt } from '#state/chainState'
import { openChainKv, segmentsDir } from '#store/chainTables'
import type { Kv, KvReader } from '#store/ports'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { createProof } from '#trie/proof'
import { emptyRoot, type Hash } from '#types/ids'
import { readNow } from '../chain/olderSchemas.ts'
import { givenBlocks } from './loadRecorded.ts'

/** Returns the state root of a stored block. */
export function rootAt(reader: KvReader, number: number): Hash {
  const hash = readCanonicalHash(reader, number) as Hash
  return readHeader(reader, { number, hash })?.stateRoot ?? emptyRoot
}

/** Begins a chain with a block of which nothing but the root node of its state is known. @param whole store with the chain and all its states */
export async function installAnchor(chain: RecordedChain, whole: Kv, anchor: number, dir: string): Promise<void> {
  const rootNode = readNow(whole, (reader) => {
    const { nodes } = stateAt(reader, anchor, () => undefined)
    return createProof(nodes, undefined, rootAt(reader, anchor), new Uint8Array(32))[0]
  })
  await using kv = openChainKv(dir)
  agreeOnSchema(kv, chainSchema)
  const genesis = chain.config.genesis.l2
  const blocks = verifyBaseBlocks(givenBlocks(chain, 0, anchor), chain.blocks[anchor]?.hash as Hash, genesis)
  installBase({ kv, segmentsDir: segmentsDir(dir), genesis, ...(rootNode && { rootNode }) }, blocks, { grade: 'given' })
}
