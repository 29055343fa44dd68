import type { MessagePort } from 'node:worker_threads'
import { Registry } from 'prom-client'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import { openExecutionReader } from '#executionThread/executionReader'
import { CacheSet } from '#lib/caches'
import type { Clock } from '#lib/clock'
import { transferError } from '#lib/errorTransfer'
import { createTransferLog } from '#lib/logTransfer'
import { createThreadGuard } from '#lib/memoryGuard'
import { ThreadLink } from '#lib/threadLink'
import type { CancellationToken, EthContext } from '#rpc/context'
import { ethRegistry } from '#rpc/methods'
import { rpcMetrics } from '#rpc/metrics'
import type { Readiness, SyncProgress } from '#rpc/ports'
import { healthPages } from '#rpc/server/healthPages'
import { createSlowLog, type SlowCall } from '#rpc/server/slowCalls'
import type { SequencerLink } from '#rpc/submitPorts'
import { createHistoryCaches } from '#state/historyCache'
import { answerBytesOf, maxAnswerBytesOf } from '../memory/serverLimits.ts'
import { createThreadMeter } from '../metrics/scrape.ts'
import { withCompletion } from '../serving/completedMethods.ts'
import { createEthContext, type EthContextDeps } from '../serving/ethContext.ts'
import { createHeadFeed } from '../serving/headFeed.ts'
import { createPendingFeed } from '../serving/pendingFeed.ts'
import { type Servers, startServers } from '../serving/servers.ts'
import { answerPassed, type FilterRoutes, filterIdsOf, withFilterRoutes } from './filterRoutes.ts'
import { remotePeers } from './peerCalls.ts'
import type { ForRpcWorker, OfRpcWorker, PassedAnswer, RpcWorkerSettings } from './rpcWorkerProtocol.ts'

/** Time limit of a call from another thread, whose client may have left without notice here. */
const passedTimeoutMs = 30_000
/** Longest wait for main's problems; main is slower only when its thread is blocked. */
const readinessTimeoutMs = 2_000

type Main = ThreadLink<ForRpcWorker, OfRpcWorker>
type Context = Omit<EthContext, 'cancellation'>

const sequencerOf = (main: Main): SequencerLink => ({
  send: (raw, condition) => main.ask('send', raw, condition),
  forwarded: (hash) => main.ask('forwarded', hash),
  status: (hash) => main.ask('status', hash),
})

/** Creates the context of this thread, which passes hashes of new transactions on to the other threads. */
function tellingContext(main: Main, deps: EthContextDeps): { readonly context: Context; readonly own: Context['filters'] } {
  const context = createEthContext(deps)
  const { filters: own } = context
  const filters: Context['filters'] = {
    ...own,
    notePending(hash): void {
      own.notePending(hash)
      main.tell('pending', hash)
    },
  }
  return { context: { ...context, filters }, own }
}

async function readinessOf(main: Main, clock: Clock): Promise<Readiness> {
  const late = Promise.withResolvers<Readiness>()
  using _timer = clock.after(readinessTimeoutMs, () =>
    late.resolve({ problems: [`the main thread of the node has not answered for ${readinessTimeoutMs / 1_000} s`] }),
  )
  return await Promise.race([main.ask('readiness'), late.promise])
}

/** Returns a function that reports the notified heads, each once. */
function announcer(main: Main, clock: Clock): (record: HeadRecord) => void {
  let last = ''
  return ({ heads: { unsafe } }) => {
    if (unsafe.hash !== last) main.tell('announced', { number: unsafe.number, hash: unsafe.hash }, clock.nowMs())
    last = unsafe.hash
  }
}

const reporter =
  (main: Main, clock: Clock) =>
  ({ params: _params, address: _address, ...call }: SlowCall): void =>
    main.tell('slow', { ...call, endMs: clock.nowMs() })

/** Cancels a call of another thread by time, because no message says that its client has left. */
function cancellationFor(clock: Clock, timeoutMs: number): CancellationToken {
  const endMs = clock.elapsedMs() + timeoutMs
  return {
    get isCancelled(): boolean {
      return clock.elapsedMs() > endMs
    },
  }
}

/** State that calls from main use while this thread runs. */
type Opened = { readonly context: Context; readonly own: Context['filters']; servers?: Servers }

/**
 * Answers JSON-RPC in this thread, on ports shared with other RPC threads, until main closes it or the execution thread ends. Reports a failed start to
 * main.
 * @param port to main; closed at the end
 */
export async function runRpcWorker(port: MessagePort, settings: RpcWorkerSettings, clock: Clock): Promise<void> {
  const {
    number,
    threads,
    config,
    version,
    listen,
    memoryMaxBytes,
    cacheBytes,
    callTimeoutMs,
    pendingFallback,
    hasPending,
    hasSequencer,
    hasPeers,
    slowCallMs,
    isTraced,
  } = settings
  const closing = Promise.withResolvers<void>()
  const metrics = new Registry()
  const caches = new CacheSet(cacheBytes)
  const answerBytes = answerBytesOf(memoryMaxBytes, threads)
  using memory = createThreadGuard(clock, memoryMaxBytes, caches)
  using meter = createThreadMeter(metrics, caches)
  let sync: SyncProgress | undefined = settings.sync
  let opened: Opened | undefined
  const here: OfRpcWorker = {
    sync(progress): void {
      sync = progress
    },
    pending: (hash) => opened?.own.notePending(hash),
    async passed(call): Promise<PassedAnswer> {
      if (opened === undefined) throw new RangeError('call for a thread that does not listen yet')
      return await answerPassed(ethRegistry, { ...opened.context, cancellation: cancellationFor(clock, passedTimeoutMs) }, call)
    },
    metrics: () => meter.read(),
    apiKeys: (keys) => opened?.servers?.setApiKeys(keys),
    alive(): void {},
    close: () => closing.resolve(),
  }
  const onFailure = (error: unknown): void => log.error('message of the main thread failed', { error })
  const main: Main = new ThreadLink({ post: (message) => port.postMessage(message), here, onFailure })
  const log = createTransferLog((line) => main.tell('log', line), 'rpc')
  port.on('message', (message) => main.receive(message))
  try {
    const heads = createHeadFeed(() => execution.view())
    const preconfirmed = createPendingFeed(config)
    const announced = isTraced ? announcer(main, clock) : undefined
    const onPublish = (record: HeadRecord): void => {
      heads.publish(record)
      preconfirmed.publish(record)
      announced?.(record)
    }
    const history = createHistoryCaches((share) => caches.lru('history', share))
    await using execution = await openExecutionReader(settings.chain, { clock, history, onPublish })
    opened = tellingContext(main, {
      ...{ execution, config, clock, heads, pool: execution.pool, callTimeoutMs, pendingFallback },
      preconfirmed: hasPending ? preconfirmed : undefined,
      sequencer: hasSequencer ? sequencerOf(main) : undefined,
      peers: hasPeers ? remotePeers((name, args) => main.ask('peers', name, args)) : undefined,
      version,
      newFilterId: filterIdsOf(number),
      ...{ caches, maxAnswerBytes: maxAnswerBytesOf(answerBytes) },
      sync: () => sync,
    })
    const routes: FilterRoutes = { here: number, threads, passOn: (to, call) => main.ask('passOn', to, call) }
    await using servers = await startServers(
      {
        ...{ log, clock, metrics: rpcMetrics.register(metrics), rollup: undefined, metricsPages: new Map() },
        memory: { guard: memory, answerBytes },
        ...(slowCallMs !== undefined && {
          slow: createSlowLog({ clock, log, ...(isTraced && { onSlow: reporter(main, clock) }) }, slowCallMs),
        }),
        eth: {
          ...{ context: opened.context, heads },
          route: (registry) =>
            withFilterRoutes(
              withCompletion(registry, clock, (wanted, withinMs) => execution.complete(wanted, withinMs)),
              routes,
            ),
        },
        health: healthPages({ readiness: () => readinessOf(main, clock) }, version),
      },
      listen,
    )
    opened.servers = servers
    main.tell('opened', servers.urls)
    await Promise.race([closing.promise, execution.ended])
  } catch (error) {
    main.tell('failed', transferError(error))
  } finally {
    port.close()
  }
}
