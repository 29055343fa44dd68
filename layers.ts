/**
 * Which module of `src/` may import which: the table of ARCHITECTURE.md as data. `test/architecture.test.ts` holds the imports against it.
 * An edge lists either a whole module or, after a colon, the one file of it that may be imported (`evm:ports`).
 */
export const layers: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  types: ['lib'],
  chain: ['types', 'lib'],
  trie: ['types', 'lib'],
  store: ['types', 'lib'],
  evm: ['chain', 'types', 'lib'],
  state: ['evm:ports', 'trie', 'store', 'chain', 'types', 'lib'],
  engine: ['trie:proof', 'trie:orderedRoot', 'chain', 'types', 'lib'],
  execution: ['engine', 'state', 'evm', 'trie', 'store', 'chain', 'types', 'lib'],
  derive: ['chain', 'types', 'lib'],
  consensus: ['engine', 'derive', 'chain', 'types', 'lib'],
  l1: ['derive:ports', 'consensus:ports', 'trie:orderedRoot', 'chain', 'types', 'lib'],
  l2: ['consensus:ports', 'engine', 'chain', 'types', 'lib'],
  flashblocks: ['execution', 'chain', 'types', 'lib'],
  rpc: ['engine', 'chain', 'types', 'lib'],
  node: [
    'rpc',
    'flashblocks',
    'l1',
    'l2',
    'consensus',
    'derive',
    'execution',
    'engine',
    'state',
    'evm',
    'store',
    'trie',
    'chain',
    'types',
    'lib',
  ],
  batcher: ['derive', 'chain', 'types', 'lib'],
  devnet: ['node', 'batcher', 'rpc', 'execution', 'evm', 'trie', 'derive', 'chain', 'types', 'lib'],
  cli: ['node', 'devnet', 'chain', 'types', 'lib'],
}

/** Modules whose work is synchronous from end to end: an `async` function there is a mistake (design: synchronous core). */
export const synchronous: readonly string[] = ['evm', 'trie', 'state', 'derive']

/** A file longer than this hides something that wants its own name. */
export const maxLinesPerFile = 400
