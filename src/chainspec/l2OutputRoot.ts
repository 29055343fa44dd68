import { fromHex } from '#lib/hex'
import { keccak256Of } from '#lib/keccak'
import { type Hash, hashFromBytes, zeroHash } from '#types/ids'

/** Computes the output root (version 0) that a proposer submits for an L2 block. @see specs protocol/proposals.md, "L2 Output Commitment Construction" */
export function l2OutputRoot(block: { readonly stateRoot: Hash; readonly messagePasserStorageRoot: Hash; readonly hash: Hash }): Hash {
  return hashFromBytes(
    keccak256Of(fromHex(zeroHash), fromHex(block.stateRoot), fromHex(block.messagePasserStorageRoot), fromHex(block.hash)),
  )
}
