// Simulated import of blocks of 50 Mgas over the Engine API on 1 to 8 cores, from the processor time of each stage as measured by `importHttp` on two cores:
// shows which stages overlap and what bounds the import where a machine with more cores is not available.
// npm run bench -- pipeline
import { type Row, row } from '../format.ts'
import { type Schedule, type Stage, simulate } from './schedule.ts'

/**
 * Processor time in ms of a block of 50 Mgas with 800 transactions. `execute` and `seal` are by share of the execution thread's CPU profile; all are of the
 * same run under other load, so only their ratios count.
 */
const costs = { client: 12, parse: 10, senders: 40, execute: 83, seal: 52, publish: 12, commit: 57, collect: 64 }
const blocks = 200

/** How a node divides the work. `aheadBlocks`: the caller sends a block before the previous one is answered. */
type Division = {
  readonly name: string
  readonly commitThread: boolean
  readonly senderThreads: (cores: number) => number
  readonly isAhead: boolean
}

const senderThreads = (cores: number): number => Math.min(4, Math.max(0, cores - 1))
const divisions: readonly Division[] = [
  { name: 'commits in the execution thread', commitThread: false, senderThreads, isAhead: false },
  { name: 'commits in a thread', commitThread: true, senderThreads, isAhead: false },
  { name: 'commits in a thread, blocks read ahead as by basalt import', commitThread: true, senderThreads, isAhead: true },
]

/** Part of the senders that execution recovers beside one sender thread, and beside several (ADR 0026). */
const ownPart = (threads: number): number => (threads === 0 ? 1 : threads === 1 ? 0.08 : 0)

/** Returns the stages of a block. Execution does not wait for the sender threads. */
export function stagesOf({ commitThread, senderThreads: threadsOn, isAhead }: Division, cores: number): readonly Stage[] {
  const threads = threadsOn(cores)
  const answered = isAhead ? [] : ['publish']
  const sendersMs = (1 - ownPart(threads)) * costs.senders
  const senders: Stage = { name: 'senders', ms: sendersMs, after: ['parse'], afterPrevious: [], thread: 'senders', threads }
  const executeMs = costs.execute + ownPart(threads) * costs.senders
  return [
    { name: 'client', ms: costs.client, after: [], afterPrevious: answered, thread: 'client' },
    { name: 'parse', ms: costs.parse, after: ['client'], afterPrevious: [], thread: 'main' },
    ...(threads > 0 ? [senders] : []),
    // at most one transaction is in progress: with a commit thread a block waits for the commit of the block before the last one
    { name: 'execute', ms: executeMs, after: ['parse'], afterPrevious: commitThread ? ['waited'] : ['commit'], thread: 'execution' },
    { name: 'seal', ms: costs.seal, after: ['execute'], afterPrevious: [], thread: 'execution' },
    { name: 'publish', ms: costs.publish, after: ['seal'], afterPrevious: [], thread: 'execution' },
    { name: 'commit', ms: costs.commit, after: ['publish'], afterPrevious: ['commit'], thread: commitThread ? 'commits' : 'execution' },
    // ends with the commit of the block before
    { name: 'waited', ms: 0, after: ['publish'], afterPrevious: ['commit'], thread: 'none' },
    { name: 'collect', ms: costs.collect, after: ['parse'], afterPrevious: ['collect'], thread: 'V8 workers', threads: 2 },
  ]
}

/** Returns the thread that works all the time, or all cores, or else the caller, who sends the next block after an answer. */
function boundOf({ busy, usedCores }: Schedule, cores: number): string {
  const [thread, part] = Object.entries(busy).sort((a, b) => b[1] - a[1])[0] ?? ['', 0]
  if (usedCores > 0.97 * cores) return 'all cores'
  return part > 0.97 ? thread : 'the order of calls'
}

export async function run(): Promise<readonly Row[]> {
  const [usual] = divisions
  const one = usual && simulate(stagesOf(usual, 1), blocks, 1).ms
  if (one === undefined) throw new RangeError('no division')
  return [1, 2, 3, 4, 8].flatMap((cores) =>
    divisions.map((division): Row => {
      const schedule = simulate(stagesOf(division, cores), blocks, cores)
      const busy = Object.entries(schedule.busy).map(([thread, part]) => [`${thread}, busy part`, part.toFixed(2)] as const)
      const facts = { 'bounded by': boundOf(schedule, cores), 'threads at once': schedule.mostAtOnce, ...Object.fromEntries(busy) }
      return { ...row(`simulated import, ${cores} cores, ${division.name}`, '× one core', [one / schedule.ms]), facts }
    }),
  )
}
