import { setTimeout as delay } from 'node:timers/promises'
import type { ProcessChain } from '#test/harness/process/chain'
import type { NodeProcess } from '../nodeProcess.ts'

/**
 * Polls the newest block of a node, over all its restarts: each must be a block of the chain, and none below an earlier one. A separate execution half
 * moves its head to the parent when it builds, and back when labels are set before those of the new blocks: its head may move back, but never below
 * a head that was safe.
 */
export interface HeadWatch extends AsyncDisposable {
  readonly node: NodeProcess
  /** number of the highest block that it has served */
  readonly head: number
  /** Returns the head of some milliseconds of serving ago: time in which the node was down or starting does not count. */
  headBefore(ms: number): number
  /** @throws Error when the node has served a wrong block */
  check(): void
}

/** Returns whether another process builds the derived blocks. */
export type Halves = 'together' | 'apart'

type RpcBlock = { readonly number: string; readonly hash: string }

const everyMs = 20
const keptMs = 30_000

export function watchHead(node: NodeProcess, { blocks }: Pick<ProcessChain, 'blocks'>, halves: Halves): HeadWatch {
  /** heads by milliseconds of serving, oldest first */
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
    if (number < highest()) failure ??= new Error(`${run}: the head moved back from ${highest()} to ${number}`)
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
      // a killed node does not answer, which is no failure
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
