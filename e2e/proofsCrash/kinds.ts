import { systemClock } from '#lib/clock'
import { startChain } from '#test/harness/process/builtChain'
import { must } from '../crash/tally.ts'
import { chainBlocks, keptBlocks, proofsOf, recordingRetention, unwindTo, windowBlocks } from './settings.ts'
import { chainWithoutNodes, recordedChain, settleProofs } from './templates.ts'

/** First and last block whose state can be proved; null: none. */
export type Range = { readonly earliest: number | null; readonly latest: number | null }
type Window = { readonly earliest: number; readonly latest: number }

/** Work that is killed. */
export type Kind = {
  readonly name: string
  /** Makes the data directory on which it begins. */
  make(datadir: string): Promise<unknown>
  /** Transactions after which a kill is at most, and rows of such a transaction; 0 transactions: it writes none. */
  readonly transactions: number
  readonly rows: number
  /** maximum time of a kill after the start of the process, and after its first piece of work */
  readonly startMs: number
  readonly maxMs: number
  /** Returns whether the window may change so in a life of the process. */
  isForward(before: Range, after: Range): boolean
  /** Checks the result of the process. @throws Error */
  judge(done: string): void
  /** Does what a process may leave to the next one. */
  settle(datadir: string): Promise<unknown>
  /** the window of the whole work */
  readonly expected: Window
}

const nothing = async (): Promise<void> => {}
/** Deepest reorg of a recording node. */
const mostReplaced = 8

function judgeDone(done: string): void {
  must((JSON.parse(done) as { done: boolean }).done, `ended with ${done}`)
}

/** Makes a chain of one block, of which nothing but the genesis state is recorded. */
async function recordedGenesis(datadir: string): Promise<void> {
  await using node = await startChain(datadir, 'kept', () => {}, { retention: recordingRetention, proofs: proofsOf(datadir) })
  for (;;) {
    using view = node.execution?.view()
    if (view?.proofs?.window) return
    await systemClock.delay(20)
  }
}

export const kinds: readonly Kind[] = [
  {
    name: 'record',
    make: recordedGenesis,
    ...{ transactions: 12, rows: 40, startMs: 1_200, maxMs: 800 },
    // no window: the chain has removed the nodes of the last recorded block, and the next process computes those of the gap
    isForward: (before, after) => after.latest === null || after.latest >= (before.latest ?? 0) - mostReplaced,
    judge: () => {},
    settle: (datadir) => settleProofs(datadir, { sec: windowBlocks * 600 }),
    expected: { earliest: chainBlocks - windowBlocks, latest: chainBlocks },
  },
  {
    name: 'init',
    make: chainWithoutNodes,
    ...{ transactions: 40, rows: 12, startMs: 700, maxMs: 600 },
    isForward: (before, after) => before.earliest === null || (after.earliest !== null && after.earliest <= before.earliest),
    judge: judgeDone,
    settle: nothing,
    expected: { earliest: 0, latest: chainBlocks },
  },
  {
    name: 'prune',
    make: recordedChain,
    ...{ transactions: 40, rows: 12, startMs: 700, maxMs: 300 },
    isForward: (before, after) => (after.earliest ?? 0) >= (before.earliest ?? 0) && after.latest === before.latest,
    judge: judgeDone,
    settle: nothing,
    expected: { earliest: chainBlocks - keptBlocks, latest: chainBlocks },
  },
  {
    name: 'unwind',
    make: recordedChain,
    ...{ transactions: 40, rows: 12, startMs: 700, maxMs: 300 },
    isForward: (before, after) => after.earliest === before.earliest && (after.latest ?? 0) <= (before.latest ?? 0),
    judge: judgeDone,
    settle: nothing,
    expected: { earliest: 0, latest: unwindTo },
  },
  {
    name: 'verify',
    make: recordedChain,
    ...{ transactions: 0, rows: 0, startMs: 700, maxMs: 1_000 },
    isForward: (before, after) => after.earliest === before.earliest && after.latest === before.latest,
    judge(done): void {
      const { differences, blocks } = JSON.parse(done) as { differences: readonly unknown[]; blocks: number }
      must(differences.length === 0 && blocks === chainBlocks, `verify: ${done}`)
    },
    settle: nothing,
    expected: { earliest: 0, latest: chainBlocks },
  },
]
