import type { TrieDiff } from '#trie/trieDiff'
import { plainTries } from '#trie/tries'
import { emptyRoot } from '#types/ids'

/** A diff without changes of nodes. */
export const emptyTrieDiff: TrieDiff = plainTries().update({ get: () => undefined }, undefined, emptyRoot, []).changes
