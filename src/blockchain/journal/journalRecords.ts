import { concatBytes, u64Bytes, u64FromBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { type Block, decodeBlock, encodeBlock } from '#types/block'
import type { BlockId } from '#types/blockRef'
import { type Hash, hashFromBytes } from '#types/ids'
import { blockKey, decodeBlockKey } from '../chainRows.ts'
import type { Labels } from '../chainStore.ts'

const keyBytes = 40
const hashBytes = 32

/** Identity of a block and its parent, read from a record without decoding its RLP. */
export type BlockLink = BlockId & { readonly parentHash: Hash }

/** Encodes number u64 ++ hash ++ parent hash ++ block RLP. */
export function encodeBlockRecord(block: Block & { readonly hash: Hash }): Uint8Array {
  const { number, parentHash } = block.header
  return concatBytes(blockKey({ number, hash: block.hash }), fromHex(parentHash), encodeBlock(block))
}

/** @throws RangeError when the bytes are too short */
export function decodeBlockLink(bytes: Uint8Array): BlockLink {
  if (bytes.length <= keyBytes + hashBytes) throw new RangeError(`journal: a block of ${bytes.length} bytes`)
  const parentHash = hashFromBytes(bytes.subarray(keyBytes, keyBytes + hashBytes))
  return { ...decodeBlockKey(bytes.subarray(0, keyBytes)), parentHash }
}

/** @throws RlpError when the bytes are not a block */
export const decodeBlockRecord = (bytes: Uint8Array): Block => decodeBlock(bytes.subarray(keyBytes + hashBytes))

/** Heads with their sequence: how many times heads were set up to them. */
export type JournalledHeads = Labels & { readonly sequence: number }

/** Encodes sequence u64, then number u64 ++ hash of the unsafe, safe and finalized head. */
export function encodeHeadsRecord({ sequence, unsafe, safe, finalized }: JournalledHeads): Uint8Array {
  return concatBytes(u64Bytes(sequence), ...[unsafe, safe, finalized].map(blockKey))
}

/** @throws RangeError for any other length */
export function decodeHeadsRecord(bytes: Uint8Array): JournalledHeads {
  if (bytes.length !== 8 + 3 * keyBytes) throw new RangeError(`journal: heads of ${bytes.length} bytes`)
  const idAt = (index: number): BlockId => decodeBlockKey(bytes.subarray(8 + index * keyBytes, 8 + (index + 1) * keyBytes))
  return { sequence: u64FromBytes(bytes), unsafe: idAt(0), safe: idAt(1), finalized: idAt(2) }
}
