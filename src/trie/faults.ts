import { defineFaults } from '#lib/fault'

/** Data of a fault of a node. */
export type NodeLocation = { owner: string; path: string; hash: string }

export const trieFault = defineFaults({
  MISSING_NODE: {
    severity: 'fatal',
    says: (d: NodeLocation) => `node ${d.hash} at path '${d.path}' of the trie of ${d.owner} is missing`,
    fix: 'the state in the data directory is incomplete: start again with an empty data directory or a snapshot',
  },
  BAD_NODE: {
    severity: 'fatal',
    says: (d: NodeLocation) =>
      `node ${d.hash} at path '${d.path}' of the trie of ${d.owner} is not a trie node with this hash at this depth`,
    fix: 'the state in the data directory is damaged: check the disk, then start again with an empty data directory or a snapshot',
  },
})
