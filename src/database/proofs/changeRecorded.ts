import { mkdirSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { readHead } from '#blockchain/chainStore'
import { blockBefore } from '#blockchain/pruning/retention'
import type { Clock } from '#lib/clock'
import { openProofs } from '#proofs/openProofs'
import { dropNewest } from '#proofs/proofStore'
import { Recorder } from '#proofs/recorder'
import { readRegions } from '#proofs/regions'
import { requestWanted, writeWanted } from '#proofs/wanted'
import { oldestState } from '#state/chainState'
import type { KvReader, SnapshotSource } from '#store/ports'
import type { ChainDistance } from '#types/chainDistance'
import { openChain } from '../openChain.ts'
import { openForReading, openUnlessLocked, type ProofsPlace, proofsDirOf, readBoth } from './openBoth.ts'
import { factsOf, type ProofsFacts } from './proofsStatus.ts'

export type ChangeDeps = {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onProgress: (blocks: number, ofBlocks: number) => void
}

/** The window after a change. `done` false: interrupted; the same command continues. */
export type ChangeResult = { readonly done: boolean } & Pick<ProofsFacts, 'earliest' | 'latest' | 'head'>

const stepMs = 50
/** Pause between two looks at the work of a running node. */
const lookMs = 500

/** First wanted block: a number, or a distance before the head. */
export type WantedStart = number | ChainDistance

/**
 * Extends recorded proofs backwards, as far as the chain has values. A node that runs does the work; otherwise this process does.
 * @throws Fault DATABASE_MISSING, DATABASE_EMPTY, PROOFS_DAMAGED, PROOFS_OTHER_CHAIN, PROOFS_AHEAD, PROOFS_MISMATCH, DISK_FULL
 */
export async function initProofs(deps: ChangeDeps, place: ProofsPlace, start: WantedStart): Promise<ChangeResult> {
  const dir = proofsDirOf(place)
  await using chain = await openChain(place.datadir)
  mkdirSync(dir, { recursive: true })
  const wanted = wantedNumber(chain, start)
  await using kv = openUnlessLocked(dir)
  if (kv === undefined) {
    requestWanted(dir, wanted)
    return await watchWork(deps, place, wanted)
  }
  const recorder = new Recorder({ kv, chain, clock: deps.clock }, 'all')
  recorder.check(dir)
  kv.write((tx) => writeWanted(tx, wanted))
  const done = await runSteps(deps, recorder, wanted, () => readBoth(kv, chain, factsOf))
  return { done, ...readBoth(kv, chain, factsOf) }
}

/** Returns the number of the wanted block, at least that of the oldest state of the chain. */
function wantedNumber(chain: SnapshotSource, start: WantedStart): number {
  using reader = chain.snapshot()
  const [head, oldest] = [readHead(reader)?.number ?? 0, oldestState(reader)]
  return Math.max(typeof start === 'number' ? start : blockBefore(reader, head, start, oldest), oldest)
}

/** Runs a recorder until it has nothing to do. @returns false when interrupted */
async function runSteps(
  { signal, onProgress }: ChangeDeps,
  recorder: Recorder,
  wanted: number,
  facts: () => Pick<ProofsFacts, 'earliest'>,
): Promise<boolean> {
  let from: number | undefined
  for (;;) {
    if (signal.aborted) return false
    const { isBehind } = recorder.step(stepMs)
    const { earliest } = facts()
    if (earliest !== null) {
      from ??= earliest
      onProgress(from - earliest, Math.max(0, from - wanted))
    }
    if (!isBehind) return true
    await nextTurn()
  }
}

/** Waits until a running node has done its work. */
async function watchWork({ clock, signal, onProgress }: ChangeDeps, place: ProofsPlace, wanted: number): Promise<ChangeResult> {
  await using both = await openForReading(place)
  let from: number | undefined
  for (;;) {
    const facts = both.read(factsOf)
    const { earliest } = facts
    from ??= earliest ?? undefined
    if (from !== undefined && earliest !== null) onProgress(from - earliest, Math.max(0, from - wanted))
    const isDone = earliest !== null && earliest <= wanted
    if (isDone || signal.aborted) return { done: isDone, earliest, latest: facts.latest, head: facts.head }
    await clock.delay(lookMs, signal).catch(() => {})
  }
}

/**
 * Removes recorded blocks that are older than a distance; the node must be stopped.
 * @throws Fault DATADIR_LOCKED, and as `initProofs`
 */
export async function pruneProofs(deps: ChangeDeps, place: ProofsPlace, window: ChainDistance | 'all'): Promise<ChangeResult> {
  await using chain = await openChain(place.datadir)
  const dir = proofsDirOf(place)
  await using kv = openProofs(dir)
  const recorder = new Recorder({ kv, chain, clock: deps.clock }, window)
  recorder.check(dir)
  let pruned = 0
  for (;;) {
    const step = recorder.step(stepMs)
    pruned += step.pruned
    deps.onProgress(pruned, pruned)
    if (!step.isBehind || deps.signal.aborted) return { done: !step.isBehind, ...readBoth(kv, chain, factsOf) }
    await nextTurn()
  }
}

/**
 * Removes recorded blocks above a number; the node must be stopped. A node that records again adds those that its chain has.
 * @param to last block that stays
 * @throws Fault DATADIR_LOCKED, and as `initProofs` but for PROOFS_AHEAD
 */
export async function unwindProofs({ clock, signal, onProgress }: ChangeDeps, place: ProofsPlace, to: number): Promise<ChangeResult> {
  await using chain = await openChain(place.datadir)
  await using kv = openProofs(proofsDirOf(place))
  const lastOf = (): number => readBoth(kv, chain, ({ proofs }) => lastRecorded(proofs))
  const from = lastOf()
  for (let last = from; last > to && !signal.aborted; last = lastOf()) {
    const untilMs = clock.elapsedMs() + stepMs
    kv.write((tx) => {
      while (lastRecorded(tx) > to && clock.elapsedMs() < untilMs) dropNewest(tx)
    })
    onProgress(from - lastOf(), from - to)
    await nextTurn()
  }
  return { done: lastOf() <= to, ...readBoth(kv, chain, factsOf) }
}

/** Returns the last recorded block; −1: none is. */
const lastRecorded = (reader: KvReader): number => readRegions(reader).at(-1)?.last ?? -1
