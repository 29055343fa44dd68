import { setImmediate as nextTurn } from 'node:timers/promises'
import { checkRecorded, type ProofsDifference } from '#proofs/verifyProofs'
import { openForReading, type ProofsPlace } from './openBoth.ts'
import { factsOf } from './proofsStatus.ts'

export type ProofsVerifyDeps = {
  readonly signal: AbortSignal
  /** Returns a random integer from 0 to below a bound. */
  readonly random: (below: number) => number
  readonly onProgress: (blocks: number, ofBlocks: number) => void
}

export type ProofsVerifyResult = {
  /** false: interrupted */
  readonly done: boolean
  /** checked ones, without those that left the window meanwhile */
  readonly blocks: number
  readonly earliest: number | null
  readonly latest: number | null
  readonly differences: readonly ProofsDifference[]
}

/** Differences that are reported at most. */
const maxDifferences = 100

/**
 * Checks recorded blocks against the headers of the chain; a node may run meanwhile.
 * @param count of random blocks; all: every block of the window
 * @throws as `openForReading`
 */
export async function verifyRecorded(deps: ProofsVerifyDeps, place: ProofsPlace, count: number | 'all'): Promise<ProofsVerifyResult> {
  const { signal, random, onProgress } = deps
  await using both = await openForReading(place)
  const { earliest, latest } = both.read(factsOf)
  const size = earliest === null || latest === null ? 0 : latest - earliest
  const ofBlocks = count === 'all' ? size : Math.min(count, size)
  const differences: ProofsDifference[] = []
  let blocks = 0
  for (let step = 0; step < ofBlocks && differences.length < maxDifferences && !signal.aborted; step++) {
    const number = (earliest ?? 0) + 1 + (count === 'all' ? step : random(size))
    const found = both.read((recorded) => {
      // pruning and reorgs may have moved the window
      const now = factsOf(recorded)
      const isThere = now.earliest !== null && now.latest !== null && number > now.earliest && number <= now.latest
      return isThere ? checkRecorded(recorded, number) : undefined
    })
    if (found) {
      differences.push(...found)
      blocks++
    }
    onProgress(step + 1, ofBlocks)
    await nextTurn()
  }
  return { done: !signal.aborted, blocks, earliest, latest, differences: differences.slice(0, maxDifferences) }
}
