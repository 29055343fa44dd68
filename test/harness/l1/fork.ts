import type { L1Recording, RecordedBlock } from '#devnet/recordedL1'
import { keccak256Text } from '#lib/keccak'
import { hashHeader } from '#types/header'
import { headerFromJson } from '#types/headerJson'
import { type Hash, hashFromBytes } from '#types/ids'

type Json = Readonly<Record<string, unknown>>

/** The same content under another hash, on another parent. */
function relinked({ block, receipts }: RecordedBlock, parentHash: Hash, mixHash: Hash): RecordedBlock {
  const changed: Json = { ...block, parentHash, mixHash }
  return { block: { ...changed, hash: hashHeader(headerFromJson(changed)) }, receipts }
}

/**
 * A recording whose last blocks belong to another branch: what L1 said before a reorg gave the recorded ones.
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
