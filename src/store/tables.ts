/** One table on disk. Ids are permanent: the id of a removed table is never reused. */
export type TableSpec = {
  readonly id: number
  readonly name: string
  /** Shape of the key; integers are big-endian, `++` joins bytes. */
  readonly key: string
  readonly value: string
  readonly doc: string
  /** Whether values may be longer than a page of the file: they are stored in pieces (`lmdb/pieces.ts`). */
  readonly isLong?: true
  /** Whether readers notice that a row is missing: a hash in another row names it, or they get it from elsewhere. */
  readonly noticesLoss?: true
  /** Whether readers compare each value with a hash: its rows have no checksums. */
  readonly hasHashes?: true
}

const place = "nibble path from the root, one per byte, then 0x10 (so that no node's key is the prefix of another's)"

/** Tables of the chain: one environment, written by one writer in one transaction. */
export const tables = {
  meta: {
    id: 1,
    name: 'meta',
    key: 'name (ASCII)',
    value: 'by name',
    doc: 'schema version, genesis, heads, marks of pruning and indexing',
  },
  headers: { id: 2, name: 'headers', key: 'number u64 ++ block hash', value: 'header RLP', doc: 'headers of canonical blocks' },
  bodies: {
    id: 3,
    name: 'bodies',
    isLong: true,
    key: 'number u64 ++ block hash',
    value: 'offset table, then sender ++ EIP-2718 bytes of each transaction',
    doc: 'transactions of a block; each can be read alone',
  },
  receipts: {
    id: 4,
    name: 'receipts',
    isLong: true,
    key: 'number u64 ++ block hash',
    value:
      '0x01 ++ timestamp u64, offset table, then gas used u64 ++ first log index u32 ++ transaction hash ++ EIP-2718 bytes of each receipt',
    doc: 'receipts of a block; each can be read alone, and its logs without other receipts; rows written by schema 2 have neither timestamp nor hashes',
  },
  canonical: { id: 5, name: 'canonical', key: 'number u64', value: 'block hash', doc: 'the canonical chain' },
  blockByHash: { id: 6, name: 'blockByHash', key: 'block hash', value: 'number u64', doc: 'position of a block' },
  txByHash: {
    id: 7,
    name: 'txByHash',
    key: 'transaction hash',
    value: 'number u64 ++ index u32',
    doc: 'position of a canonical transaction',
  },
  accounts: {
    id: 8,
    name: 'accounts',
    key: 'keccak(address)',
    value: 'RLP [nonce, balance, storage root or empty, code hash or empty]',
    doc: 'latest accounts; the leaves of the account trie',
  },
  storage: {
    id: 9,
    name: 'storage',
    key: 'keccak(address) ++ keccak(slot)',
    value: 'the value without leading zeros; never zero',
    doc: 'latest storage; the leaves of the storage tries',
  },
  code: { id: 10, name: 'code', isLong: true, key: 'code hash', value: 'code', doc: 'contract code; never removed' },
  accountNodes: {
    id: 11,
    name: 'accountNodes',
    key: place,
    value: 'node RLP',
    noticesLoss: true,
    doc: 'latest branches and extensions of the account trie',
  },
  storageNodes: {
    id: 12,
    name: 'storageNodes',
    noticesLoss: true,
    key: `keccak(address) ++ ${place}`,
    value: 'node RLP',
    doc: 'latest branches and extensions of the storage tries',
  },
  changes: {
    id: 13,
    name: 'changes',
    key: 'number u64 ++ table id u8 ++ key',
    value:
      '0x00: no row before the block; 0x02, or 0x03 when the block deleted the row, ++ the value before the block; schema 7: 0x01 ++ the value',
    doc: 'previous values that each block replaced in accounts and storage: for undo, and for the state at any retained block; blocks written by schema 3 also have those of accountNodes and storageNodes',
  },
  historyIndex: {
    id: 14,
    name: 'historyIndex',
    isLong: true,
    key: '0x40 + level ++ first block u64 ++ slice u32 (run); 0x60 ++ table id u8 ++ key ++ number u64 (deletion); schema 5: table id u8 ++ key ++ last block of the chunk u64',
    value:
      'run: digest u32 ++ block - first block u16 of each changed row, ascending; deletion: nothing; schema 5: ascending block numbers, u64 each',
    doc: 'blocks that changed accounts and slots, in runs of 4^level blocks that are merged from four of the level below; for older blocks a row for each account and slot',
  },
  logIndex: {
    id: 15,
    name: 'logIndex',
    isLong: true,
    key: '0x00 ++ first block u64 ++ last entry (page); 0x01 ++ last block u64 (segment); 0x02 ++ number u64 (block); 0x02 ++ number u64 ++ index u8 (slice of a block)',
    value:
      'page and slice: entries, digest u32 ++ transaction u32; segment: first block u64, then transactions up to the end of each block u32; block: transactions u32, then entries, or the bits of the index of a slice u8',
    doc: 'transactions that have logs with an address or a topic: the newest blocks one by one, older ones joined in segments, finalized ones in segment files',
  },
  nodeHistory: {
    id: 16,
    name: 'nodeHistory',
    isLong: true,
    key: '0x00 ++ number u64 (block); 0x01 ++ number u64 / 64 (segment)',
    value:
      'block: count u32, start u32 of the images of each 32 nodes, digest u48 ++ kind u8 of each node, then their images (state/nodeRow.ts); segment: digest u32 ++ block u8 of each node',
    doc: 'trie nodes before each block that changed them, for proofs at any retained block',
  },
  segments: {
    id: 17,
    name: 'segments',
    key: 'table id u8 ++ first number u64',
    value:
      'last number u64 ++ hash of the first block ++ hash of the last block ++ SHA-256 ++ size of the file u64 ++ size of the rows u64',
    doc: 'segment files with the rows of finalized blocks that left headers, bodies, receipts and logIndex',
  },
} as const satisfies Readonly<Record<string, TableSpec>>

/** Tables of the consensus half's own environment. */
export const consensusTables = {
  meta: { id: 1, name: 'meta', key: 'name (ASCII)', value: 'by name', doc: 'schema version' },
  safeHeads: {
    id: 2,
    name: 'safeHeads',
    key: 'L1 number u64 ++ L2 number u64',
    value: 'L1 hash ++ L2 hash',
    doc: 'L2 blocks that each L1 block made safe: restart point, finality',
  },
  l1Cache: {
    id: 3,
    name: 'l1Cache',
    isLong: true,
    hasHashes: true,
    key: 'L1 number u64 ++ kind u8 (0 block, 1 blob) ++ block or versioned hash ++ size of the value u32',
    value: 'zstd of RLP [header, transactions, receipts], or of a blob (++ commitment ++ proof)',
    doc: 'L1 data as read, bounded in bytes, lowest numbers evicted first; checked against its hash on each read',
  },
} as const satisfies Readonly<Record<string, TableSpec>>

/**
 * Tables of the environment of historical proofs. Tables that the chain has too have its ids and formats. They have the rows of the recorded blocks
 * only, and no latest state: a state is read from them and from the chain's own tables.
 */
export const proofsTables = {
  meta: { id: 1, name: 'meta', key: 'name (ASCII)', value: 'by name', doc: 'schema version, genesis, recorded regions, wanted start' },
  canonical: tables.canonical,
  historyIndex: {
    ...tables.historyIndex,
    key: '0x40 + level, 0x50 + level ++ first position u64 ++ slice u32 (run); 0x60 ++ table id u8 ++ key ++ number u64 (deletion)',
    value: 'run: digest u32 ++ position - first position u16 of each changed row, ascending; deletion: nothing',
    doc: 'blocks that changed accounts and slots, in runs of 16^level blocks; 0x50: of blocks recorded in descending order',
  },
  nodeHistory: { ...tables.nodeHistory, key: '0x00 ++ number u64 (block)', doc: 'trie nodes before each block that changed them' },
  values: {
    id: 18,
    name: 'values',
    isLong: true,
    key: 'number u64',
    value:
      'groups u32; for each, ascending: keccak(address) or zeros (accounts), end of its rows u32; then for each row key (32 bytes), end of its value u32; then 0x00 or 0x01 ++ value',
    doc: 'accounts and slots before each block that changed them',
  },
  nodeIndex: {
    id: 19,
    name: 'nodeIndex',
    isLong: true,
    key: '0x40 + level, 0x50 + level ++ first position u64 ++ slice u32',
    value: 'digest u32 ++ position - first position u16 ++ its only changed child + 1, or 0, u8 of each changed node, ascending',
    doc: 'blocks that changed trie nodes, in runs as in historyIndex',
  },
} as const satisfies Readonly<Record<string, TableSpec>>
