import { compareBytes, emptyBytes } from '#lib/bytes'
import { nibblesOf } from '#trie/nibbles'
import type { NodeChange } from '#trie/ports'
import { emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import { draftOf, placeDraft } from '../../../src/trie/draft.ts'

/**
 * Builds a trie from all its entries. Encodes and hashes each node once.
 * @param entries strictly ascending by key; keys of one length, values not empty
 * @returns the root and every node that is not embedded in its parent, leaves included
 * @throws RangeError when the keys do not ascend
 */
export function buildTrie(entries: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[]): {
  root: Hash
  changes: NodeChange[]
} {
  for (let i = 1; i < entries.length; i++) {
    if (compareBytes(entries[i - 1]?.key ?? emptyBytes, entries[i]?.key ?? emptyBytes) >= 0)
      throw new RangeError('trie: keys do not ascend')
  }
  const changes: NodeChange[] = []
  if (entries.length === 0) return { root: emptyRoot, changes }
  const paths = entries.map(({ key, value }) => ({ path: nibblesOf(key), value }))
  const root = placeDraft(changes, emptyBytes, draftOf(changes, paths, 0, paths.length, 0, false), false)
  return { root: hashFromBytes(root), changes }
}
