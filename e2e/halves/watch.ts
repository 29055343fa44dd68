import { setTimeout as delay } from 'node:timers/promises'
import type { ProcessChain } from '#test/harness/process/chain'
import type { NodeProcess } from '../nodeProcess.ts'

/**
 * Asks a node for its newest block again and again, over all its restarts: each must be one of the chain, and none below one shown before. An
 * execution half elsewhere that is told to build moves its head to the parent, and back when labels are set before the new blocks have theirs:
 * the head of such a one may step back, but never below what was shown as safe.
 */
export interface HeadWatch extends AsyncDisposable {
  readonly node: NodeProcess
  /** number of the highest block that it has shown */
  readonly head: number
  /** the same, so many milliseconds of serving ago: time in which the node was down or starting does not count */
  headBefore(ms: number): number
  /** @throws Error when the node has shown what it must not */
  check(): void
}

/** Whether derived blocks are built by another process. */
export type Halves = 'together' | 'apart'

type RpcBlock = { readonly number: string; readonly hash: string }

const everyMs = 20
const keptMs = 30_000

export function watchHead(node: NodeProcess, { blocks }: Pick<ProcessChain, 'blocks'>, halves: Halves): HeadWatch {
  /** by milliseconds of serving, oldest first */
  let seen: { readonly atMs: number; readonly number: number }[] = [{ atMs: 0, number: 0 }]
  let servedMs = 0
  let failure: Error | undefined
  let safe = 0
  const highest = (): number => seen.at(-1)?.number ?? 0
  const isFixed = (number: number): boolean => halves === 'together' || number <= safe

  function take(block: RpcBlock, safeBlock: RpcBlock): void {
    const number = Number(block.number)
    const run = `${node.name}, start ${node.starts}`
    if (blocks[number]?.blockHash !== block.hash) failure ??= new Error(`${run}: block ${number} is ${block.hash}`)
    if (number < highest() && !isFixed(highest())) seen = seen.filter((one) => one.number <= Math.max(number, safe))
    if (number < highest()) failure ??= new Error(`${run}: the head went back from ${highest()}, which was shown, to ${number}`)
    safe = Math.max(safe, Number(safeBlock.number))
    if (number === highest()) return
    const oldest = seen.findLastIndex(({ atMs }) => servedMs - atMs >= keptMs)
    seen = [...seen.slice(Math.max(0, oldest)), { atMs: servedMs, number }]
  }

  const stop = new AbortController()
  async function run(): Promise<void> {
    let lastMs = performance.now()
    while (!stop.signal.aborted && failure === undefined) {
      const nowMs = performance.now()
      if (node.isUp) servedMs += nowMs - lastMs
      lastMs = nowMs
      // a node that is being killed does not answer: that is no failure
      const ask = async (label: string): Promise<RpcBlock | null | undefined> =>
        node.isUp ? ((await node.rpc('http', 'eth_getBlockByNumber', [label, false]).catch(() => undefined)) as RpcBlock | null) : undefined
      const safeBlock = await ask('safe')
      const block = safeBlock && (await ask('latest'))
      if (block && safeBlock) take(block, safeBlock)
      await delay(everyMs)
    }
  }
  const running = run()
  return {
    node,
    get head() {
      return highest()
    },
    headBefore(ms) {
      const atMs = servedMs - ms
      return seen.findLast((one) => one.atMs <= atMs)?.number ?? seen[0]?.number ?? 0
    },
    check() {
      if (failure) throw failure
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}
