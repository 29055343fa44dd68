import type { BlockId, L1Ref, L2Ref } from '#types/blockRef'
import { zeroHash } from '#types/ids'
import type { Json } from '../json.ts'

/** Block ids as the consensus half's RPC writes them: JSON numbers, all zero while unknown. */
export function blockIdResult(block: BlockId): Json {
  return { hash: block.hash, number: block.number }
}

const unknownBlock: L1Ref = { hash: zeroHash, number: 0, parentHash: zeroHash, timestamp: 0 }
const unknownL2Block: L2Ref = { ...unknownBlock, l1Origin: { hash: zeroHash, number: 0 }, sequenceNumber: 0 }

export function l1RefResult(ref: L1Ref = unknownBlock): Json {
  return { hash: ref.hash, number: ref.number, parentHash: ref.parentHash, timestamp: ref.timestamp }
}

export function l2RefResult(ref: L2Ref = unknownL2Block): Json {
  const { hash, number, parentHash, timestamp } = ref
  return { hash, number, parentHash, timestamp, l1origin: blockIdResult(ref.l1Origin), sequenceNumber: ref.sequenceNumber }
}
