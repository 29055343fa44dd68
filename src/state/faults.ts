import { defineFaults } from '#lib/fault'
import type { Hash } from '#types/ids'

export const stateFault = defineFaults({
  WITNESS_INCOMPLETE: {
    severity: 'fatal',
    says: (d: { hash: string }) => `the witness has no preimage of ${d.hash}`,
    fix: 'use a witness of this block that has all trie nodes and codes the block touches',
  },
  WITNESS_INVALID: {
    severity: 'fatal',
    says: (d: { hash: string }) => `the witness has bytes for ${d.hash} whose hash differs`,
    fix: 'the file is damaged or forged: fetch it again',
  },
  HISTORY_PRUNED: {
    severity: 'reset',
    says: (d: { what: 'state' | 'trie nodes'; number: number; oldest: number }) =>
      `${d.what} of block ${d.number} pruned, oldest available: block ${d.oldest}`,
    fix: 'request a later block',
  },
  STATE_INCOMPLETE: {
    severity: 'fatal',
    says: (d: { anchor: number }) => `only a part of the state is stored: it began with block ${d.anchor}, and other nodes have the rest`,
    fix: 'name nodes that have the state: --source.state=URL,URL',
  },
  STATE_DAMAGED: {
    severity: 'fatal',
    says: (d: { what: string }) => `${d.what} in chain/data.mdb of the data directory is not what the state root proves`,
    fix: 'check the disk and the memory; then start with an empty data directory, a snapshot, or a copy of a directory that `basalt db verify` finds sound',
  },
  CODE_MISSING: {
    severity: 'fatal',
    says: (d: { hash: Hash }) => `the code with hash ${d.hash} is missing`,
    fix: 'the state in the data directory is incomplete: start again with an empty data directory or a snapshot',
  },
})
