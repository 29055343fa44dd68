import { defineFaults } from '#lib/fault'

export const proofsFault = defineFaults({
  PROOFS_MISSING: {
    severity: 'fatal',
    says: (d: { path: string }) => `there are no recorded proofs: no file ${d.path}`,
    fix: 'start the node with --proofs-history, or record from the values of the chain: basalt proofs init --from BLOCK --datadir DIR',
  },
  PROOFS_OTHER_CHAIN: {
    severity: 'fatal',
    says: (d: { dir: string; found: string; expected: string }) =>
      `the proofs in ${d.dir} are of another chain: its genesis is ${d.found}, that of this chain ${d.expected}`,
    fix: 'set another directory: --proofs.path DIR; or remove it, and recording starts again at the head',
  },
  PROOFS_AHEAD: {
    severity: 'fatal',
    says: (d: { dir: string; last: number; head: number }) =>
      `the proofs in ${d.dir} end at block ${d.last}, and the chain at block ${d.head}: the chain is an older copy`,
    fix: 'remove the blocks that the chain does not have, HEAD being its last block: basalt proofs unwind --to HEAD --datadir DIR; the node then records on',
  },
  PROOFS_BELOW: {
    severity: 'fatal',
    says: (d: { dir: string; last: number; first: number }) =>
      `the proofs in ${d.dir} end at block ${d.last}, and the chain begins at block ${d.first}: it was restored from a newer snapshot`,
    fix: 'record into another directory: --proofs.path DIR; or remove this one, and recording starts again at the head; or restore a snapshot of flavour archive that has the states from its last block on: then the blocks between are computed',
  },
  PROOFS_DAMAGED: {
    severity: 'fatal',
    says: (d: { dir: string; reason: string }) => `the proofs in ${d.dir} cannot be read: ${d.reason}`,
    fix: 'check the disk; remove this directory, not that of the chain, and recording starts again at the head; older ones: basalt proofs init --from BLOCK --datadir DIR',
  },
  PROOFS_OLD: {
    severity: 'fatal',
    says: (d: { dir: string; found: number; known: number }) =>
      `the proofs in ${d.dir} have format ${d.found}, which this version (format ${d.known}) does not read`,
    fix: 'remove this directory, not that of the chain, and recording starts again at the head; older ones: basalt proofs init --from BLOCK --datadir DIR',
  },
  PROOFS_ROW_DAMAGED: {
    severity: 'fatal',
    says: (d: { reason: string }) => `a row of the recorded proofs is damaged: ${d.reason}`,
    fix: 'check the disk; basalt proofs verify --blocks all --datadir DIR names the block; remove the directory of the proofs, and recording starts again',
  },
  PROOFS_MISMATCH: {
    severity: 'fatal',
    says: (d: { number: number; expected: string; found: string }) =>
      `the values before block ${d.number + 1} lead to the state root ${d.found}, and block ${d.number} has ${d.expected}`,
    fix: 'find the damaged rows: basalt db verify --datadir DIR',
  },
})
