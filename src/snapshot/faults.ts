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
      `the loaded state has root ${d.found}, and the header of block ${d.number} has ${d.expected}; the state is removed`,
    fix: 'take the state from another source',
  },
  BASE_BLOCK_BAD: {
    severity: 'fatal',
    says: (d: { number: number; reason: string }) => `block ${d.number} beside the state is refused: ${d.reason}`,
    fix: 'take the blocks and the state from another source',
  },
  SNAPSHOT_UNWRITABLE: {
    severity: 'fatal',
    says: (d: { dir: string; reason: string }) => `the snapshot cannot be written to ${d.dir}: ${d.reason}`,
    fix: 'free space there, or let this user write there; the same command then re-uses the chunks that are whole',
  },
  SNAPSHOT_STATE_WRONG: {
    severity: 'fatal',
    says: (d: { number: number; expected: string; found: string }) =>
      `the state of block ${d.number} as read has root ${d.found}, and its header has ${d.expected}; no manifest is written`,
    fix: 'run basalt db verify on the data directory',
  },
  SNAPSHOT_KEY_BAD: {
    severity: 'fatal',
    says: (d: { path: string; reason: string }) => `the key that signs snapshots, ${d.path}, cannot be used: ${d.reason}`,
    fix: 'chmod 600 the file, or remove it: the next snapshot then creates a new key; or name another file: --snapshot.key FILE',
  },
  VALUES_MISSING: {
    severity: 'fatal',
    says: (d: { number: number }) =>
      `a snapshot of flavour archive has the states of older blocks, and the data directory has none before block ${d.number}`,
    fix: 'use --flavour full, or the data directory of a node that retains older states (--retain.history)',
  },
  PROOFS_NOT_AT_BLOCK: {
    severity: 'fatal',
    says: (d: { dir: string; number: number; first: number; last: number }) =>
      `a snapshot of flavour proofs begins with block ${d.number}, and the proofs in ${d.dir} have blocks ${d.first} to ${d.last} without a gap`,
    fix: 'run the node with --proofs-history until its proofs reach that block (basalt proofs status), or use --flavour full',
  },
  LOAD_INTO_PROOFS: {
    severity: 'fatal',
    says: (d: { dir: string }) => `${d.dir} holds recorded proofs already`,
    fix: 'remove this directory, or choose another one: --proofs.path DIR',
  },
  HISTORY_INCOMPLETE: {
    severity: 'fatal',
    says: (d: { number: number }) =>
      `a snapshot of flavour full, archive or proofs has all blocks since genesis, and block ${d.number} is not stored with all its parts`,
    fix: 'use --flavour minimal, or the data directory of a node that retains all blocks',
  },
  MANIFEST_BAD: {
    severity: 'fatal',
    says: (d: { place: string; reason: string }) => `the manifest of the snapshot at ${d.place} is refused: ${d.reason}`,
    fix: 'take the snapshot from another place',
  },
  MANIFEST_UNAVAILABLE: {
    severity: 'retry',
    says: (d: { place: string; reason: string }) => `no manifest of a snapshot at ${d.place}: ${d.reason}`,
    fix: 'name a directory or a URL that contains manifest.json',
  },
  CHUNK_DAMAGED: {
    severity: 'fatal',
    says: (d: { chunk: string; place: string; reason: string }) => `chunk ${d.chunk} of the snapshot at ${d.place} is refused: ${d.reason}`,
    fix: 'give another mirror: the same command then continues where it stopped; if every mirror has this chunk, remove the data directory and restore another snapshot',
  },
  CHUNK_UNAVAILABLE: {
    severity: 'retry',
    says: (d: { chunk: string; place: string; reason: string }) =>
      `chunk ${d.chunk} of the snapshot cannot be read at ${d.place}: ${d.reason}`,
    fix: 'check the network and the server; the same command then continues where it stopped',
  },
  SNAPSHOT_REPLACED: {
    severity: 'fatal',
    says: (d: { place: string; chunk: string; block: number }) =>
      `${d.place} has another snapshot, of block ${d.block}, without chunk ${d.chunk} of the one that is being read`,
    fix: 'give a mirror that has the snapshot with which the restore began: the same command then continues; or remove the data directory and restore the new one',
  },
  SNAPSHOT_OF_ANOTHER_CHAIN: {
    severity: 'fatal',
    says: (d: { found: string; expected: string }) => `the snapshot belongs to the chain with genesis ${d.found}, expected ${d.expected}`,
    fix: 'choose the network of the snapshot, or another snapshot',
  },
  SNAPSHOT_UNTRUSTED: {
    severity: 'fatal',
    says: (d: { number: number; hash: string; reason: string }) =>
      `block ${d.number} ${d.hash} of the snapshot is not trusted: ${d.reason}`,
    fix: 'give two L1 endpoints, whose proposals have the block (--l1.rpc=URL,URL), or vouch for it with --start.block-hash HASH, after comparing it with sources of your own',
  },
  SNAPSHOT_NO_ROOM: {
    severity: 'fatal',
    says: (d: { dir: string; neededBytes: number; freeBytes: number }) =>
      `the snapshot needs about ${d.neededBytes} bytes in ${d.dir}, and ${d.freeBytes} are free`,
    fix: 'free space on that disk, or choose another --datadir',
  },
})

export const rethFault = defineFaults({
  SNAPSHOT_FILE_DAMAGED: {
    severity: 'fatal',
    says: (d: { file: string; place: string; reason: string }) => `${d.file} is damaged at ${d.place}: ${d.reason}`,
    fix: 'fetch this file again, from another mirror or an earlier snapshot; nothing of it is in the database',
  },
  SNAPSHOT_FILE_MISSING: {
    severity: 'fatal',
    says: (d: { file: string; reason: string }) => `${d.file} cannot be read: ${d.reason}`,
    fix: 'name the folder or URL of a manifest.json, or a data directory of the other client with its db and static_files folders',
  },
  SNAPSHOT_FORMAT_UNSUPPORTED: {
    severity: 'fatal',
    says: (d: { file: string; reason: string }) => `${d.file} has a format that this version does not read: ${d.reason}`,
    fix: 'use a snapshot of storage version 2, or a snapshot of Basalt: basalt snapshot restore',
  },
  SNAPSHOT_DISK_FULL: {
    severity: 'fatal',
    says: (d: { dir: string }) => `the disk of ${d.dir} is full`,
    fix: 'free space on that disk, then run the same command again: it continues',
  },
  SNAPSHOT_UNREACHABLE: {
    severity: 'retry',
    says: (d: { url: string; reason: string }) => `${d.url} cannot be fetched: ${d.reason}`,
    fix: 'check the URL and the network, then run the same command again: it continues where the download stopped',
  },
  SNAPSHOT_CHANGED: {
    severity: 'fatal',
    says: (d: { url: string; reason: string }) => `${d.url} changed during the download: ${d.reason}`,
    fix: 'the publisher replaced the snapshot; remove the folder reth-import of the data directory and import the new one',
  },
  SNAPSHOT_CHAIN_ID: {
    severity: 'fatal',
    says: (d: { source: string; found: number; expected: number }) =>
      `the snapshot ${d.source} is of chain ${d.found}, and the chain is ${d.expected}`,
    fix: 'choose a snapshot of this chain, or another chain: --network, or --rollup.config and --genesis',
  },
})
