import { defineFaults } from '#lib/fault'

export const consensusFault = defineFaults({
  L1_BEHIND: {
    severity: 'retry',
    says: (d: { l1Block: number }) => `L1 does not have block ${d.l1Block}, from which the safe head was derived`,
    fix: 'wait until the L1 node has caught up, or configure another one: --l1.rpc',
  },
  L1_MOVED: {
    severity: 'retry',
    says: (d: { l1Block: number }) => `L1 block ${d.l1Block} was replaced during the search for the start point`,
    fix: 'nothing, the search is repeated',
  },
  L1_CHAIN_MISMATCH: {
    severity: 'fatal',
    says: (d: { l2Block: number; l1Block: number; expected: string; found: string }) =>
      `finalized L2 block ${d.l2Block} builds on L1 block ${d.l1Block} ${d.expected}, but L1 has ${d.found} there`,
    fix: 'check that --l1.rpc is the L1 of this chain; after a new genesis of a devnet use a new --datadir',
  },
  DEPOSITS_INVALID: {
    severity: 'fatal',
    says: (d: { number: number; parent: string; reason: string }) =>
      `block ${d.number} on ${d.parent} cannot be built although it has deposits only: ${d.reason}`,
    fix: 'this contradicts the protocol: check the rollup config and genesis, then keep the data directory and report it',
  },
  BLOCK_MISSING: {
    severity: 'retry',
    says: (d: { block: string }) => `the execution half lacks block ${d.block} of its own safe chain`,
    fix: 'wait while it syncs; otherwise its data are damaged or pruned too far: restore them or start with a new data directory',
  },
  ENGINE_LOST: {
    severity: 'reset',
    says: (_: Record<never, never>) => 'the execution half has not responded for a long time; its heads are read again',
    fix: 'check that the execution half runs and that --engine and --jwt match it',
  },
  HEAD_LOST: {
    severity: 'reset',
    says: (d: { number: number; hash: string }) => `the execution half no longer has its head, block ${d.number} ${d.hash}`,
    fix: 'nothing, missing blocks are fetched or derived again',
  },
  RESETS_IN_VAIN: {
    severity: 'retry',
    says: (d: { reason: string }) => `derivation makes no progress after repeated resets; reason of the last one: ${d.reason}`,
    fix: 'fix the named cause; otherwise derivation is repeated from the finalized head after ten minutes',
  },
  WAIT_EXPIRED: {
    severity: 'reset',
    says: (d: { reason: string }) => `${d.reason} timed out; the start point is searched again`,
    fix: 'check the endpoint that the log names',
  },
  SEQUENCER_STATE: {
    severity: 'retry',
    says: (d: { reason: string }) => d.reason,
    fix: 'call admin_sequencerActive, and optimism_syncStatus for the hash of the unsafe head',
  },
  SEQUENCER_NO_ORIGIN: {
    severity: 'retry',
    says: (d: { number: number; reason: string }) => `block ${d.number} cannot be sequenced: ${d.reason}`,
    fix: 'wait for L1; if the fault persists, check the L1 endpoints',
  },
  SEQUENCER_TOO_FAR_AHEAD: {
    severity: 'retry',
    says: (d: { lagSec: number; maxSec: number }) => `the safe head is ${d.lagSec} s behind the unsafe head, the limit is ${d.maxSec} s`,
    fix: 'check that the batcher runs and can pay for its transactions',
  },
  SOURCE_STOPPED: {
    severity: 'retry',
    says: (d: { number: number; seconds: number }) => `the head of the followed node has been block ${d.number} for ${d.seconds} s`,
    fix: 'check the followed node, or follow another one: --source.l2.rpc=URL',
  },
  SOURCE_BEHIND: {
    severity: 'retry',
    says: (d: { theirs: number; ours: number }) => `the followed node is at block ${d.theirs}, behind this node at ${d.ours}`,
    fix: 'wait until it has caught up, or follow another node: --source.l2.rpc=URL',
  },
  SOURCE_EMPTY: {
    severity: 'retry',
    says: (d: { number: number; head: number }) => `the followed node reports head ${d.head} but lacks block ${d.number}`,
    fix: "wait, or follow a node that has all blocks after this node's head: --source.l2.rpc=URL",
  },
  SOURCE_REORGED: {
    severity: 'retry',
    says: (d: { number: number }) => `the followed node replaced block ${d.number} while it was read`,
    fix: 'nothing, its chain is read again from the common ancestor',
  },
  SOURCE_LEAVES_OUT: {
    severity: 'retry',
    says: (d: { label: string; number: number; hash: string }) =>
      `the followed node does not have this node's ${d.label} head, block ${d.number} ${d.hash}; its chain is refused`,
    fix: 'follow a node of the same chain (--source.l2.rpc=URL); if this node is wrong, start with a new data directory',
  },
  SOURCE_INVALID_BLOCK: {
    severity: 'retry',
    says: (d: { number: number; reason: string }) => `block ${d.number} of the followed node is invalid: ${d.reason}`,
    fix: 'follow another node (--source.l2.rpc=URL); if all have this block, keep the data directory and report it',
  },
  SOURCE_REFUSED_HERE: {
    severity: 'retry',
    says: (d: { reason: string }) => `the blocks of the followed node are refused: ${d.reason}`,
    fix: 'after an L1 reorg this ends by itself; otherwise check the chain of the followed node: --source.l2.rpc=URL',
  },
  SOURCE_GAP: {
    severity: 'retry',
    says: (d: { number: number; hash: string }) =>
      `the execution half lacks block ${d.number} ${d.hash}, an ancestor of the block to insert`,
    fix: 'nothing, the missing blocks are fetched again',
  },
})
