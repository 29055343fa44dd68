import { encodeRlp, rlpScalar } from '#lib/rlp'
import { emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import { draftOf, type Entry, placeDraft } from './draft.ts'
import { nibblesOf } from './nibbles.ts'

/**
 * Computes the root of the trie that maps the RLP of each index to its item: transactions root, receipts root.
 * @param items EIP-2718 bytes, none empty
 */
export function orderedRoot(items: readonly Uint8Array[]): Hash {
  if (items.length === 0) return emptyRoot
  const entries: Entry[] = []
  const add = (index: number): void => {
    entries.push({ path: nibblesOf(encodeRlp(rlpScalar(index))), value: items[index] as Uint8Array })
  }
  for (let index = 1; index < Math.min(items.length, 128); index++) add(index)
  add(0) // index 0 has the key 0x80, which sorts after one-byte keys and before longer keys
  for (let index = 128; index < items.length; index++) add(index)
  const root = new Uint8Array(0)
  return hashFromBytes(placeDraft(undefined, root, draftOf(undefined, entries, 0, entries.length, 0, false), false))
}
