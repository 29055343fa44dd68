import { defineFaults } from '#lib/fault'

type Place = { owner: string; path: string; hash: string }

const place = ({ owner, path, hash }: Place): string => `node ${hash} at path '${path}' of the trie of ${owner}`

export const trieFault = defineFaults({
  MISSING_NODE: {
    severity: 'fatal',
    says: (d: Place) => `${place(d)} is missing`,
    fix: 'the state in the data directory is incomplete: start again with an empty data directory or a snapshot',
  },
  BAD_NODE: {
    severity: 'fatal',
    says: (d: Place) => `${place(d)} is not a trie node of its depth`,
    fix: 'the state in the data directory is damaged: check the disk, then start again with an empty data directory or a snapshot',
  },
})
