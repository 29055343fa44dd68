import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { Random } from '#lib/retry'
import { type Node, startNode } from '#node/node'
import type { Hash } from '#types/ids'
import { serveL1 } from './l1Server.ts'
import { type RecordedChain, readRecordedChain } from './recordedChain.ts'
import { createRecordedL1 } from './recordedL1.ts'

export type DemoDeps = { readonly clock: Clock; readonly random: Random; readonly fetch: typeof fetch; readonly log: Log }
export type DemoOptions = { readonly httpPort: number; readonly rollupPort: number; readonly version: string }

/** First block that differs from the recorded one. */
export type Difference = { readonly number: number; readonly expected: Hash; readonly found: Hash | undefined }

/** Node that derives the recorded chain from its L1 alone, with a temporary data directory. */
export interface Demo extends AsyncDisposable {
  readonly chain: RecordedChain
  readonly node: Node
  readonly urls: { readonly http: string; readonly rollup: string }
  /**
   * Resolves when all recorded blocks are derived, when the node has stopped, or when the signal is aborted.
   * @throws the fault that stopped derivation
   */
  derived(signal: AbortSignal): Promise<void>
  /** Returns the first difference; undefined when every block hash equals the recorded one */
  difference(): Difference | undefined
}

const host = '127.0.0.1'
const lookEveryMs = 20

/** Starts the demo. @throws Fault PORT_IN_USE and others of the node (fatal) */
export async function startDemo(deps: DemoDeps, options: DemoOptions): Promise<Demo> {
  const chain = readRecordedChain('op-bedrock-to-holocene')
  const last = chain.blocks.length - 1
  await using parts = new AsyncDisposableStack()
  const datadir = await mkdtemp(join(tmpdir(), 'basalt-demo-'))
  parts.defer(() => rm(datadir, { recursive: true, force: true }))
  const recorded = createRecordedL1(chain.l1, { head: chain.l1.blocks.length - 1 })
  const l1 = parts.use(await serveL1((exchange) => recorded.reply(exchange), 0))
  const node = parts.use(
    await startNode(deps, {
      mode: 'all',
      config: chain.config,
      genesis: () => chain.genesis,
      datadir,
      version: options.version,
      l1: { rpcUrls: [l1.url], beaconUrls: [l1.url], pollMs: 1_000 },
      listen: { http: { host, port: options.httpPort }, rollup: { host, port: options.rollupPort } },
      isAdminOn: false,
      readyMaxLagSec: 30,
      minFreeBytes: 0,
    }),
  )
  const { execution, urls } = node
  if (!execution || !urls.http || !urls.rollup) throw new RangeError('a demo requires both halves and both ports')
  const kept = parts.move()
  return {
    chain,
    node,
    urls: { http: urls.http, rollup: urls.rollup },
    async derived(signal): Promise<void> {
      let hasStopped = false
      const stopped = node.stopped.then(() => {
        hasStopped = true
      })
      const isDone = (): boolean => signal.aborted || hasStopped || execution.published.heads.safe.number >= last
      while (!isDone()) await Promise.race([deps.clock.delay(lookEveryMs), stopped])
    },
    difference(): Difference | undefined {
      using view = execution.view()
      for (const [number, { hash }] of chain.blocks.entries()) {
        const found = view.canonicalHash(number)
        if (found !== hash) return { number, expected: hash, found }
      }
      return undefined
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
