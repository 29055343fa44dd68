import { setImmediate as nextTurn } from 'node:timers/promises'
import { readHead } from '#blockchain/chainStore'
import { blockBefore } from '#blockchain/pruning/retention'
import type { Clock } from '#lib/clock'
import { requireSameChain } from '#proofs/checkProofs'
import { openProofs, requireProofs } from '#proofs/openProofs'
import { dropNewest, leftToPrune } from '#proofs/proofStore'
import { Recorder } from '#proofs/recorder'
import { readRegions } from '#proofs/regions'
import type { RecordedChain } from '#proofs/verifyProofs'
import { acceptRequest, hasRequest, readWanted, requestWanted, writeWanted } from '#proofs/wanted'
import { oldestState } from '#state/chainState'
import type { KvReader, SnapshotSource } from '#store/ports'
import type { ChainDistance } from '#types/chainDistance'
import { openChain } from '../openChain.ts'
import { isLocked, openForReading, openUnlessLocked, type ProofsPlace, type ProofsReader, proofsDirOf, readBoth } from './openBoth.ts'
import { factsOf, type ProofsFacts } from './proofsStatus.ts'

export type ChangeDeps = {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onProgress: (blocks: number, ofBlocks: number) => void
}

/** The window after a change. `done` false: not whole, because it was interrupted; the same command continues. */
export type ChangeResult = { readonly done: boolean } & Pick<ProofsFacts, 'earliest' | 'latest' | 'head'>

export type InitResult = ChangeResult & {
  /** block that was asked for, or the first that the chain has values of, if that is later */
  readonly wanted: number
  /** whether the chain lacks values of earlier blocks, back to the one that was asked for */
  readonly isCut: boolean
  /** node: a running node does the work, and continues when the command is interrupted */
  readonly by: 'node' | 'command'
}

const stepMs = 50
/** Interval between polls of a running node's progress. */
const lookMs = 500

/** First wanted block: a number, or a distance before the head. */
export type WantedStart = number | ChainDistance

/**
 * Extends recorded proofs backwards, as far as the chain has values. A node that runs does the work; otherwise this process does.
 * @throws Fault DATABASE_MISSING, DATABASE_EMPTY, PROOFS_DAMAGED, PROOFS_OTHER_CHAIN, PROOFS_AHEAD, PROOFS_BELOW, PROOFS_MISMATCH, DISK_FULL,
 * DATADIR_UNWRITABLE
 */
export async function initProofs(deps: ChangeDeps, place: ProofsPlace, start: WantedStart): Promise<InitResult> {
  const dir = proofsDirOf(place)
  await using chain = await openChain(place.datadir)
  const { wanted, isCut } = wantedBlock(chain, start)
  const progress = createProgress(deps, wanted)
  await using kv = openUnlessLocked(dir)
  if (kv === undefined) {
    await using both = await openForReading(place)
    requestWanted(dir, wanted)
    return { ...(await watchWork(deps, { dir, both, wanted, progress })), wanted, isCut, by: 'node' }
  }
  const recorder = new Recorder({ kv, chain, clock: deps.clock }, 'all')
  recorder.check(dir)
  kv.write((tx) => writeWanted(tx, wanted))
  const facts = (): ChangeFacts => pickFacts(readBoth(kv, chain, factsOf))
  progress(facts())
  for (;;) {
    acceptRequest(kv, dir)
    const { isBehind } = deps.signal.aborted ? { isBehind: true } : recorder.step(stepMs)
    const now = facts()
    progress(now)
    const done = !isBehind || (now.latest === now.head && readBoth(kv, chain, (recorded) => isPassed(recorded, wanted)))
    if (done || deps.signal.aborted) return { done, ...now, wanted, isCut, by: 'command' }
    await nextTurn()
  }
}

/** Whether all blocks back to a wanted one are recorded, and an earlier request, which a node continues, reaches further back. */
function isPassed(recorded: RecordedChain, wanted: number): boolean {
  const { earliest } = factsOf(recorded)
  return earliest !== null && earliest <= wanted && (readWanted(recorded.proofs) ?? wanted) < wanted
}

type ChangeFacts = Omit<ChangeResult, 'done'>
const pickFacts = ({ earliest, latest, head }: ChangeFacts): ChangeFacts => ({ earliest, latest, head })

/** Returns the wanted block, at least the oldest that the chain has values of. */
function wantedBlock(chain: SnapshotSource, start: WantedStart): Pick<InitResult, 'wanted' | 'isCut'> {
  using reader = chain.snapshot()
  const [head, oldest] = [readHead(reader)?.number ?? 0, oldestState(reader)]
  const asked = typeof start === 'number' ? start : blockBefore(reader, head, start, 0)
  return { wanted: Math.max(asked, oldest), isCut: asked < oldest }
}

/** Returns a function that reports how far the work is since its first call with a readable block. */
function createProgress({ onProgress }: ChangeDeps, wanted: number): (facts: ChangeFacts) => void {
  let from: number | undefined
  return ({ earliest }) => {
    if (earliest === null) return
    from ??= earliest
    onProgress(from - earliest, Math.max(0, from - wanted))
  }
}

type WatchedWork = {
  readonly dir: string
  readonly both: ProofsReader
  readonly wanted: number
  readonly progress: (facts: ChangeFacts) => void
}

/** Waits until a running node has done its work, has given it up, in which case its log has the reason, or has ended. */
async function watchWork({ clock, signal }: ChangeDeps, { dir, both, wanted, progress }: WatchedWork): Promise<ChangeResult> {
  for (;;) {
    // before the window: a node that has ended changes it no more
    const hasEnded = !isLocked(dir)
    const isTaken = !hasRequest(dir)
    const { facts, isOver } = both.read((recorded) => ({
      facts: pickFacts(factsOf(recorded)),
      isOver: isTaken && (readWanted(recorded.proofs) === undefined || isPassed(recorded, wanted)),
    }))
    progress(facts)
    if (isOver || hasEnded || signal.aborted) return { done: facts.earliest !== null && facts.earliest <= wanted, ...facts }
    await clock.delay(lookMs, signal).catch(() => {})
  }
}

/**
 * Removes recorded blocks that are older than a distance; the node must be stopped. First records the blocks that the chain has meanwhile.
 * @throws Fault DATADIR_LOCKED, PROOFS_MISSING, and as `initProofs`
 */
export async function pruneProofs(deps: ChangeDeps, place: ProofsPlace, window: ChainDistance | 'all'): Promise<ChangeResult> {
  await using chain = await openChain(place.datadir)
  const dir = proofsDirOf(place)
  requireProofs(dir)
  await using kv = openProofs(dir)
  const recorder = new Recorder({ kv, chain, clock: deps.clock }, window)
  recorder.check(dir)
  let pruned = 0
  for (;;) {
    // a step computes older blocks only when none is to be pruned
    const step = deps.signal.aborted ? undefined : recorder.step(stepMs)
    pruned += step?.pruned ?? 0
    deps.onProgress(pruned, pruned + readBoth(kv, chain, ({ proofs }) => leftToPrune(proofs)))
    const done = step !== undefined && (!step.isBehind || step.computed > 0)
    if (done || deps.signal.aborted) return { done, ...pickFacts(readBoth(kv, chain, factsOf)) }
    await nextTurn()
  }
}

/**
 * Removes recorded blocks above a number; the node must be stopped. A node that records again adds those that its chain has.
 * @param to last block that stays; below the first one nothing stays
 * @throws Fault DATADIR_LOCKED, PROOFS_MISSING, and as `initProofs` but for PROOFS_AHEAD and PROOFS_BELOW
 */
export async function unwindProofs({ clock, signal, onProgress }: ChangeDeps, place: ProofsPlace, to: number): Promise<ChangeResult> {
  await using chain = await openChain(place.datadir)
  const dir = proofsDirOf(place)
  requireProofs(dir)
  await using kv = openProofs(dir)
  readBoth(kv, chain, (recorded) => requireSameChain(recorded.proofs, recorded.chain, dir))
  const lastOf = (): number => readBoth(kv, chain, ({ proofs }) => lastRecorded(proofs))
  const from = lastOf()
  const first = readBoth(kv, chain, ({ proofs }) => readRegions(proofs)[0]?.first ?? 0) - 1
  for (let last = from; last > to && !signal.aborted; last = lastOf()) {
    const untilMs = clock.elapsedMs() + stepMs
    kv.write((tx) => {
      while (lastRecorded(tx) > to && clock.elapsedMs() < untilMs) dropNewest(tx)
    })
    onProgress(from - Math.max(to, lastOf()), from - Math.max(to, first))
    await nextTurn()
  }
  return { done: lastOf() <= to, ...pickFacts(readBoth(kv, chain, factsOf)) }
}

/** Returns the last recorded block; −1: none is. */
const lastRecorded = (reader: KvReader): number => readRegions(reader).at(-1)?.last ?? -1
