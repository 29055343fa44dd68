import { equalBytes } from '#lib/bytes'
import { type Digests, readDigests, writeDigests } from '#state/digests/digests'
import type { KvWriter } from '#store/ports'
import { readRegions } from './regions.ts'

/** Returns whether rows of trie nodes of a block can be copied from a chain to the proofs: both have the same digests. */
export const canCopyNodes = (proofs: Digests, chain: Digests, number: number): boolean =>
  equalBytes(proofs.at(number).key, chain.at(number).key)

/** Gives the proofs the digests of the chain from a block on, which is recorded next. Proofs without a block take all of them. */
export function takeDigests(tx: KvWriter, chain: Digests, number: number): void {
  const own = readDigests(tx)
  if (canCopyNodes(own, chain, number)) return
  const isEmpty = readRegions(tx).every(({ first, last }) => last < first)
  writeDigests(tx, isEmpty ? chain : own.from(number, chain.at(number)))
}
