import { statSync } from 'node:fs'
import { recordedStates } from '#proofs/olderStates'
import { joined, readRegions } from '#proofs/regions'
import type { RecordedChain } from '#proofs/verifyProofs'
import { readWanted } from '#proofs/wanted'
import { HistoryCache } from '#state/historyCache'
import { dataFile } from '#store/environmentFiles'
import { openForReading, type ProofsPlace, proofsDirOf } from './openBoth.ts'

/** State of recorded proofs. Block numbers. */
export type ProofsFacts = {
  /** first and last block whose state can be proved; null: none */
  readonly earliest: number | null
  readonly latest: number | null
  readonly head: number
  /** first block that the operator asked for, if it is not reached yet */
  readonly wanted: number | null
  /** recorded blocks below a gap, which is computed while the node runs */
  readonly belowGap: readonly { readonly first: number; readonly last: number }[]
  readonly fileBytes: number
}

export function factsOf({ proofs, chain, head }: RecordedChain): Omit<ProofsFacts, 'fileBytes'> {
  const { window } = recordedStates(proofs, chain, head, new HistoryCache())
  const regions = readRegions(proofs)
  const wanted = readWanted(proofs)
  return {
    earliest: window?.earliest ?? null,
    latest: window?.latest ?? null,
    head,
    wanted: wanted !== undefined && window && wanted < window.earliest ? wanted : null,
    belowGap: regions.slice(0, -joined(regions).length || undefined).map(({ first, last }) => ({ first, last })),
  }
}

/** Reads the state of recorded proofs; a node may run meanwhile. @throws as `openForReading` */
export async function proofsStatus(place: ProofsPlace): Promise<ProofsFacts> {
  await using both = await openForReading(place)
  return { ...both.read(factsOf), fileBytes: statSync(dataFile(proofsDirOf(place))).size }
}
