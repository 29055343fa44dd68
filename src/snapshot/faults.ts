import { defineFaults } from '#lib/fault'

export const snapshotFault = defineFaults({
  LOAD_OF_ANOTHER: {
    severity: 'fatal',
    says: (d: { dir: string; found: string; wanted: string; command: string }) =>
      `${d.dir} holds a part of the state ${d.found}, and the state to load is ${d.wanted}; it was begun by: ${d.command}`,
    fix: 'continue with the command above, or remove the directory and begin again',
  },
  LOAD_INTO_CHAIN: {
    severity: 'fatal',
    says: (d: { dir: string }) => `${d.dir} holds a chain already`,
    fix: 'choose an empty directory: --datadir DIR; a node on the existing chain needs no snapshot',
  },
  STATE_UNSORTED: {
    severity: 'fatal',
    says: (d: { what: string }) => `the state to load is damaged: ${d.what}`,
    fix: 'take the state from another source',
  },
  STATE_ROOT_WRONG: {
    severity: 'fatal',
    says: (d: { number: number; expected: string; found: string }) =>
      `the loaded state has root ${d.found}, and the header of block ${d.number} has ${d.expected}; nothing is served`,
    fix: 'remove the chain folder of the data directory, and take the state from another source',
  },
  BASE_BLOCK_BAD: {
    severity: 'fatal',
    says: (d: { number: number; reason: string }) => `block ${d.number} beside the state is refused: ${d.reason}`,
    fix: 'take the blocks and the state from another source',
  },
})
