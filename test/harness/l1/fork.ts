import type { L1Recording, RecordedBlock } from '#devnet/recordedL1'
import { keccak256Text } from '#lib/keccak'
import { hashHeader } from '#types/header'
import { headerFromJson } from '#types/headerJson'
import { type Hash, hashFromBytes } from '#types/ids'

type Json = Readonly<Record<string, unknown>>

/** Returns a block with the same content, another parent and another hash. */
function relinked({ block, receipts }: RecordedBlock, parentHash: Hash, mixHash: Hash): RecordedBlock {
  const changed: Json = { ...block, parentHash, mixHash }
  return { block: { ...changed, hash: hashHeader(headerFromJson(changed)) }, receipts }
}

/**
 * Returns a recording whose last blocks are on another branch: L1 before a reorg to the recorded chain.
 * @param from number of the first block that differs
 * @param until number of the last block
 */
export function forkRecording(recording: L1Recording, from: number, until: number, name = 'fork'): L1Recording {
  const blocks = recording.blocks.slice(0, from)
  for (const entry of recording.blocks.slice(from, until + 1)) {
    const mixHash = hashFromBytes(keccak256Text(`${name} ${blocks.length}`))
    blocks.push(relinked(entry, blocks.at(-1)?.block['hash'] as Hash, mixHash))
  }
  return { ...recording, blocks }
}
