import { Registry } from 'prom-client'
import { createExecution, type Execution } from '#blockchain/execution'
import type { Genesis } from '#chainspec/genesis'
import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { type Consensus, createConsensus } from '#consensus/consensus'
import { defaultDriverOptions } from '#consensus/driver'
import { defaultFollowOptions, Follower } from '#consensus/follow'
import { consensusMetrics, followMetrics } from '#consensus/metrics'
import { createL2Source, defaultL2SourceOptions, type SourceNode } from '#l2/l2Source'
import { l2Metrics } from '#l2/metrics'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { createEthContext } from '#node/serving/ethContext'
import { createHeadFeed } from '#node/serving/headFeed'
import type { SocketContext } from '#rpc/context'
import { ethRegistry, socketRegistry } from '#rpc/methods'
import { rpcMetrics } from '#rpc/metrics'
import { createRpcServer } from '#rpc/server/httpServer'
import { createWsServer } from '#rpc/server/wsServer'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { BlockId } from '#types/blockRef'
import type { Payload } from '#types/payload'

export type FollowChain = { readonly config: RollupConfig; readonly genesis: Genesis }

/** Execution half in this thread that serves its chain and imports blocks from the test. */
export type ServedExecution = AsyncDisposable & {
  readonly execution: Execution
  readonly httpUrl: string
  readonly wsUrl: string
  /** Makes linked payloads canonical, with one change of the head for each. */
  extend(payloads: readonly Payload[], labels?: { safe?: Payload; finalized?: Payload }): Promise<void>
}

export async function serveExecution({ config, genesis }: FollowChain): Promise<ServedExecution> {
  await using parts = new AsyncDisposableStack()
  const common = { config, clock: systemClock, log: silentLog, evm: sharedEvm }
  const feed = createHeadFeed(() => execution.view())
  const execution = parts.use(
    createExecution({ ...common, kv: createMemoryKv(), genesis: () => genesis, onPublish: (record) => feed.publish(record) }),
  )
  const eth = createEthContext({ ...common, execution, heads: feed, version: '0.0.0', sync: () => undefined })
  const listen = { host: '127.0.0.1', port: 0, flag: 'http.port' }
  const http = parts.use(
    await createRpcServer(
      { ...common, pages: new Map(), registry: ethRegistry, contextOf: (cancellation) => ({ ...eth, cancellation }) },
      listen,
    ),
  )
  const ws = parts.use(
    await createWsServer<SocketContext>(
      {
        ...common,
        registry: socketRegistry,
        heads: feed,
        contextOf: (cancellation, subscriptions) => ({ ...eth, cancellation, subscriptions }),
        metrics: rpcMetrics.register(new Registry()),
      },
      listen,
    ),
  )
  const kept = parts.move()
  return {
    execution,
    httpUrl: http.url,
    wsUrl: ws.url,
    async extend(payloads, { safe, finalized } = {}) {
      for (const payload of payloads) {
        const inserted = execution.insertPayload(payload)
        if (inserted.kind === 'invalid') throw new Error(`block ${payload.blockNumber}: ${inserted.reason}`)
        const heads = await execution.heads()
        await execution.setHeads({ ...heads, unsafe: l2RefOf(config, payload) })
      }
      const heads = await execution.heads()
      const at = (payload: Payload | undefined, otherwise: typeof heads.safe) => (payload ? l2RefOf(config, payload) : otherwise)
      await execution.setHeads({ ...heads, safe: at(safe, heads.safe), finalized: at(finalized, heads.finalized) })
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Node that follows a URL: execution and consensus in this thread, without L1. */
export type FollowingNode = AsyncDisposable & {
  readonly execution: Execution
  readonly consensus: Consensus
  readonly follower: Follower
  readonly source: SourceNode
  /** Blocks executed so far. */
  readonly executed: readonly BlockId[]
  /** Resolves when the unsafe head has the hash. Rejects with the error that stopped the node. */
  reached(hash: string): Promise<void>
}

export function followUrl({ config, genesis }: FollowChain, url: string, pollMs?: number): FollowingNode {
  const executed: BlockId[] = []
  const waiting = new Set<() => void>()
  const common = { config, clock: systemClock, log: silentLog, random: Math.random }
  const execution = createExecution({
    ...common,
    kv: createMemoryKv(),
    evm: sharedEvm,
    genesis: () => genesis,
    onExecuted: ({ hash, header }) => executed.push({ hash, number: header.number }),
    onPublish: () => {
      for (const check of waiting) check()
    },
  })
  const registry = new Registry()
  const source = createL2Source(
    { ...common, fetch, metrics: l2Metrics.register(registry) },
    { ...defaultL2SourceOptions(config, systemClock.nowMs()), url, config, ...(pollMs !== undefined && { pollMs }) },
  )
  let follower: Follower | undefined
  const consensus = createConsensus(
    {
      ...common,
      engine: execution,
      metrics: consensusMetrics.register(registry),
      createFeed({ inbox, waits }) {
        follower = new Follower(
          { ...common, source, inbox, waits, metrics: followMetrics.register(registry) },
          { ...defaultFollowOptions, config, labels: 'source', maxAheadSec: 1_024 },
        )
        return follower
      },
    },
    { ...defaultDriverOptions, config },
  )
  if (follower === undefined) throw new Error('no follower')
  const stop = new AbortController()
  const stopped = consensus.run(stop.signal)
  const failed = stopped.then(() => Promise.withResolvers<never>().promise)
  failed.catch(() => {})
  return {
    ...{ execution, consensus, follower, source, executed },
    async reached(hash) {
      const there = Promise.withResolvers<void>()
      const check = (): void => {
        if (execution.published.heads.unsafe.hash === hash) there.resolve()
      }
      waiting.add(check)
      check()
      await Promise.race([there.promise, failed])
      waiting.delete(check)
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await stopped.catch(() => {})
      source[Symbol.dispose]()
      await execution.close()
    },
  }
}
