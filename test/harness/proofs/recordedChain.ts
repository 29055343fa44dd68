import { join } from 'node:path'
import fc from 'fast-check'
import { u64Bytes } from '#lib/bytes'
import { silentLog } from '#lib/log'
import { openProofs } from '#proofs/openProofs'
import { Recorder } from '#proofs/recorder'
import { RecorderLoop } from '#proofs/recorderLoop'
import { pruneHistory } from '#state/pruneHistory'
import { openChainKv } from '#store/chainTables'
import type { Kv } from '#store/ports'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { tables } from '#store/tables'
import { ModelChain } from '#test/harness/chain/modelChain'
import { anyBlock } from '#test/harness/chain/stateModel'
import { createManualClock, type ManualClock } from '#test/harness/clock'
import type { ChainDistance } from '#types/chainDistance'

const blocks = fc.sample(anyBlock, { seed: 31, numRuns: 60 })

/** Directory of the proofs of a data directory. */
export const proofsIn = (datadir: string): string => join(datadir, 'proofs')

/** A chain of states in a data directory, as a node that executes has it open. */
export interface StoredModel extends AsyncDisposable {
  readonly chain: ModelChain
  append(count: number): void
}

/** Makes a chain in an empty data directory. @param other number of a chain with another genesis */
export function makeModel(datadir: string, other = 0): StoredModel {
  const kv = openChainKv(join(datadir, 'chain'))
  agreeOnSchema(kv, chainSchema)
  const chain = new ModelChain(kv, other)
  return {
    chain,
    append(count): void {
      for (let i = 0; i < count; i++) chain.append(blocks[(chain.head + other) % blocks.length] ?? [])
    },
    [Symbol.asyncDispose]: () => kv[Symbol.asyncDispose](),
  }
}

/** Records a chain until nothing is left to record. */
export function recordAll(kv: Kv, chain: ModelChain): void {
  const recorder = new Recorder({ kv, chain: chain.kv, clock: createManualClock() }, 'all')
  recorder.check('')
  while (recorder.step(100).isBehind);
}

/** Removes the blocks of a chain before a number, but for its genesis, and their history, as if the chain was restored at it. */
export function beginAt({ kv }: ModelChain, first: number): void {
  kv.write((tx) => {
    pruneHistory(tx, { values: first, nodes: first }, () => true)
    for (let number = 1; number < first; number++) tx.delete(tables.canonical.id, u64Bytes(number))
  })
}

export interface RecordingNode extends AsyncDisposable {
  /** its time; while it stands still nothing is recorded */
  readonly clock: ManualClock
}

/** Opens a data directory as a node that records proofs. Each step of the recorder has time for one block. */
export async function startRecording(
  datadir: string,
  window: ChainDistance | 'all',
  onFailure: (error: unknown) => void,
): Promise<RecordingNode> {
  await using parts = new AsyncDisposableStack()
  const chain = parts.use(openChainKv(join(datadir, 'chain')))
  const kv = parts.use(openProofs(proofsIn(datadir)))
  const clock = createManualClock()
  let ms = 0
  const recorder = new Recorder({ kv, chain, clock: { elapsedMs: () => (ms += 100) } }, window)
  parts.use(new RecorderLoop({ recorder, kv, dir: proofsIn(datadir), clock, log: silentLog, onStep() {}, onRetry() {}, onFailure }))
  const kept = parts.move()
  return { clock, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}
