import { defineFaults } from '#lib/fault'

export const consensusFault = defineFaults({
  L1_BEHIND: {
    severity: 'retry',
    says: (d: { l1Block: number }) => `L1 does not have block ${d.l1Block} (any more), from which the safe head was derived`,
    fix: 'wait until the L1 node has caught up, or give another one: --l1.rpc',
  },
  L1_MOVED: {
    severity: 'retry',
    says: (d: { l1Block: number }) => `L1 block ${d.l1Block} was replaced while the start point was looked for`,
    fix: 'nothing: the search begins again',
  },
  L1_CHAIN_MISMATCH: {
    severity: 'fatal',
    says: (d: { l2Block: number; l1Block: number; expected: string; found: string }) =>
      `finalized L2 block ${d.l2Block} builds on L1 block ${d.l1Block} ${d.expected}, but L1 has ${d.found} there`,
    fix: 'check that --l1.rpc belongs to the L1 of this chain; after a new genesis of a devnet use a new --datadir',
  },
  DEPOSITS_INVALID: {
    severity: 'fatal',
    says: (d: { number: number; parent: string; reason: string }) =>
      `block ${d.number} on ${d.parent} cannot be built although it holds deposits only: ${d.reason}`,
    fix: 'this contradicts the protocol: check the rollup config and genesis, then report it with the data directory kept',
  },
  BLOCK_MISSING: {
    severity: 'fatal',
    says: (d: { block: string }) => `the execution half does not have block ${d.block} of its own safe chain`,
    fix: 'the data directory is damaged or was pruned too far: restore it or derive anew with a new --datadir',
  },
})
