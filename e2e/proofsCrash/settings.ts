import { join } from 'node:path'
import type { ProofsOptions } from '#node/nodeOptions'
import type { Retention } from '#types/chainDistance'

/** Blocks of the chains. They are ten minutes apart. */
export const chainBlocks = 300
/** Blocks of which `prune` keeps the states before the head. */
export const keptBlocks = 20
/** Last block that `unwind` keeps. */
export const unwindTo = 60
/** Blocks of which a recording node keeps the states before the head. */
export const windowBlocks = 200

/** Proofs of a recording node: so short that most of its lives remove blocks. */
export const proofsOf = (datadir: string, blocks: number = windowBlocks): ProofsOptions => ({
  dir: join(datadir, 'proofs'),
  windowSec: blocks * 600,
  isRequired: false,
})

/** The chain of a recording node keeps all values, and trie nodes of six hours. */
export const recordingRetention: Retention = { history: 'all' }
