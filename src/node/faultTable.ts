import { executionFault } from '#block/faults'
import { chainFault } from '#chainspec/faults'
import { consensusFault } from '#consensus/faults'
import { engineFault } from '#engine/faults'
import { evmFault } from '#evm/faults'
import { executionPeersFault } from '#executionPeers/faults'
import { flashblocksFault } from '#flashblocks/faults'
import { l1Fault } from '#l1/faults'
import { l2Fault, stateSourceFault } from '#l2/faults'
import type { FaultSpec } from '#lib/fault'
import { listenFault } from '#lib/faults'
import { p2pFault } from '#p2p/faults'
import { proofsFault } from '#proofs/faults'
import { rpcFault } from '#rpc/faults'
import { rethFault, snapshotFault } from '#snapshot/faults'
import { stateFault } from '#state/faults'
import { storeFault } from '#store/faults'
import { trieFault } from '#trie/faults'
import { trustFault } from '#trust/faults'
import { nodeFault } from './faults.ts'

const makers = [
  chainFault,
  consensusFault,
  engineFault,
  evmFault,
  executionFault,
  flashblocksFault,
  l1Fault,
  l2Fault,
  nodeFault,
  listenFault,
  p2pFault,
  executionPeersFault,
  proofsFault,
  rethFault,
  rpcFault,
  snapshotFault,
  stateFault,
  stateSourceFault,
  storeFault,
  trieFault,
  trustFault,
]

/** Faults that a running node can report, with their codes; two modules may use one code. */
export const nodeFaults: readonly (readonly [string, FaultSpec])[] = makers.flatMap((maker) =>
  Object.entries(maker.specs as Readonly<Record<string, FaultSpec>>),
)
