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
    severity: 'retry',
    says: (d: { block: string }) => `the execution half does not have block ${d.block} of its own safe chain`,
    fix: 'wait while it syncs; if it does not, its data are damaged or were pruned too far: restore them or begin with a new data directory',
  },
  ENGINE_LOST: {
    severity: 'reset',
    says: (_: Record<never, never>) => 'the execution half has not answered for long: what it still has is looked up again',
    fix: 'check that the execution half runs and that --engine and --jwt belong to it',
  },
  HEAD_LOST: {
    severity: 'reset',
    says: (d: { number: number; hash: string }) => `the execution half no longer has its head, block ${d.number} ${d.hash}`,
    fix: 'nothing: what is missing is fetched or derived again',
  },
  RESETS_IN_VAIN: {
    severity: 'retry',
    says: (d: { reason: string }) => `derivation comes no further, reset after reset; the last one was for this: ${d.reason}`,
    fix: 'see to what it names; without help, derivation is repeated from the finalized head after ten minutes',
  },
  WAIT_EXPIRED: {
    severity: 'reset',
    says: (d: { reason: string }) => `${d.reason} has been waited for in vain: a start point is looked for again`,
    fix: 'check the endpoint that the log names',
  },
  SEQUENCER_STATE: {
    severity: 'retry',
    says: (d: { reason: string }) => d.reason,
    fix: 'ask admin_sequencerActive, and optimism_syncStatus for the hash of the unsafe head',
  },
  SEQUENCER_NO_ORIGIN: {
    severity: 'retry',
    says: (d: { number: number; reason: string }) => `block ${d.number} cannot be sequenced: ${d.reason}`,
    fix: 'wait for L1; if it goes on, check the endpoints of L1',
  },
  SEQUENCER_TOO_FAR_AHEAD: {
    severity: 'retry',
    says: (d: { lagSec: number; maxSec: number }) => `the safe head is ${d.lagSec} s behind the unsafe head, more than ${d.maxSec} s`,
    fix: 'check that the batcher runs and can pay for its transactions',
  },
  SOURCE_STOPPED: {
    severity: 'retry',
    says: (d: { number: number; seconds: number }) => `the node that is followed has stood at block ${d.number} for ${d.seconds} s`,
    fix: 'check the node that is followed, or follow another one: --source.l2.rpc=URL',
  },
  SOURCE_BEHIND: {
    severity: 'retry',
    says: (d: { theirs: number; ours: number }) => `the node that is followed is at block ${d.theirs}, behind ours, ${d.ours}`,
    fix: 'wait until it has caught up, or follow another node: --source.l2.rpc=URL',
  },
  SOURCE_EMPTY: {
    severity: 'retry',
    says: (d: { number: number; head: number }) =>
      `the node that is followed says that its head is ${d.head}, and has no block ${d.number}`,
    fix: 'wait, or follow a node that has every block from ours on: --source.l2.rpc=URL',
  },
  SOURCE_REORGED: {
    severity: 'retry',
    says: (d: { number: number }) => `the node that is followed has replaced block ${d.number} while it was read`,
    fix: 'nothing: its chain is read again from the block that both have',
  },
  SOURCE_LEAVES_OUT: {
    severity: 'retry',
    says: (d: { label: string; number: number; hash: string }) =>
      `the node that is followed does not have our ${d.label} head, block ${d.number} ${d.hash}: it is not followed`,
    fix: 'follow a node of the same chain (--source.l2.rpc=URL); when it is right and ours is wrong, begin with a new data directory',
  },
  SOURCE_INVALID_BLOCK: {
    severity: 'retry',
    says: (d: { number: number; reason: string }) => `block ${d.number} of the node that is followed is not valid: ${d.reason}`,
    fix: 'follow another node (--source.l2.rpc=URL); if all have this block, keep the data directory and report it',
  },
  SOURCE_REFUSED_HERE: {
    severity: 'retry',
    says: (d: { reason: string }) => `the blocks of the node that is followed are not taken: ${d.reason}`,
    fix: 'after an L1 reorg this passes by itself; if it stays, check which chain the followed node is on: --source.l2.rpc=URL',
  },
  SOURCE_GAP: {
    severity: 'retry',
    says: (d: { number: number; hash: string }) =>
      `the execution half does not have block ${d.number} ${d.hash}, below what is to be inserted`,
    fix: 'nothing: what is missing is fetched again',
  },
})
