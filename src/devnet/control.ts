import type { Registry as PrometheusRegistry } from 'prom-client'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { LocalPage } from '#page/page'
import type { DevnetState, TransactionWay } from '#page/state'
import { ParamError } from '#rpc/codecs/paramError'
import type { CallContext, CancellationToken, EthContext } from '#rpc/context'
import type { Json } from '#rpc/json'
import { lookupRegistry } from '#rpc/methods'
import type { PendingFeed } from '#rpc/pendingPorts'
import { createRegistry, type Method, methodsOf, type ParamCodec, param, type Registry, type ResultCodec } from '#rpc/registry'
import type { Page, PageHandler } from '#rpc/server/healthPages'
import { createRpcServer, type RpcServer } from '#rpc/server/httpServer'
import type { DevnetChainFiles } from './devnetChain.ts'
import type { DevnetFaults } from './ports.ts'
import { agreementText, type DevnetStatus } from './status.ts'

/** URLs, ids and addresses of a devnet, for tools that know its control port only. */
export type DevnetFacts = {
  /** `flashblocks`: URL at which the sequencer publishes flashblocks; absent: it does not */
  readonly urls: Readonly<Record<'rpc' | 'ws' | 'rollup' | 'l1' | 'l1Beacon' | 'verifier' | 'verifierWs' | 'control', string>> & {
    readonly flashblocks?: string
  }
  readonly chainId: number
  readonly l1ChainId: number
  readonly blockTimeSec: number
  readonly l1BlockTimeSec: number
  /** addresses; this port never returns keys */
  readonly accounts: readonly string[]
  /** account that may change the system config */
  readonly owner: string
  readonly contracts: { readonly portal: string; readonly systemConfig: string }
}

/** Parts of a devnet that the control port uses. */
export type Controlled = {
  readonly faults: DevnetFaults
  readonly facts: () => DevnetFacts
  readonly status: () => DevnetStatus
  readonly chain: () => DevnetChainFiles
}
export type ControlContext = CallContext & { readonly devnet: Controlled }

/** Upper limits of faults. Longer ones would exceed the sequencing window or the time-outs of L1 clients; a test can repeat a call. */
const controlBounds = { maxSeconds: 600, maxDropSeconds: 120, maxReorgBlocks: 4 } as const

const wholeNumber = (what: string, min: number, max: number): ParamCodec<number> => ({
  doc: `${what}: a whole number from ${min} to ${max}`,
  parse(value): number {
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
    const found = typeof value === 'number' ? String(value) : typeof value
    throw new ParamError(`${what} must be a whole number from ${min} to ${max}, not ${found}`, 'senseless')
  },
})

const nothing: ResultCodec<void> = { doc: 'null, once it has begun; it ends by itself', encode: () => null }
const method = methodsOf<ControlContext>()

/** Returns a method without parameters that returns a value as it is. */
const fact = <T>(name: string, doc: string, resultDoc: string, read: (devnet: Controlled) => T): Method<ControlContext> =>
  method({
    ...{ name, doc, params: [], cost: 'instant', example: { params: [] } },
    result: { doc: resultDoc, encode: (value: T) => value as Json },
    run: ({ devnet }) => read(devnet),
  })

/** Returns a method that injects a fault, with one whole number from 1 to `max` as its parameter. */
const injection = (
  name: string,
  doc: string,
  parameter: { readonly name: string; readonly max: number; readonly example: number },
  inject: (faults: DevnetFaults, value: number) => Promise<void>,
): Method<ControlContext> =>
  method({
    ...{ name, doc, result: nothing, cost: 'execution', example: { params: [parameter.example], result: null } },
    params: [param(parameter.name, wholeNumber(parameter.name, 1, parameter.max))],
    run: ({ devnet }, value) => inject(devnet.faults, value),
  })

export const controlMethods: readonly Method<ControlContext>[] = [
  fact(
    'devnet_info',
    'URLs, chain ids, contracts and addresses of the devnet.',
    'the facts that the devnet prints when it starts, without the keys',
    (devnet) => devnet.facts(),
  ),
  fact('devnet_status', 'Heads of both nodes, whether they agree, and active faults.', 'the status line as an object', (devnet) =>
    devnet.status(),
  ),
  fact(
    'devnet_chain',
    'Rollup config and genesis of the chain; `basalt devnet export` writes the files that other clients read.',
    "`rollup` in op-node's format, `genesis` by its differences from Base mainnet's",
    (devnet) => devnet.chain(),
  ),
  injection(
    'devnet_pauseSequencer',
    'Pauses new L2 blocks for a while; the missed blocks follow at once.',
    { name: 'seconds', max: controlBounds.maxSeconds, example: 5 },
    (faults, seconds) => faults.pauseSequencer(seconds),
  ),
  injection(
    'devnet_stopBatcher',
    'Stops posting to L1 for a while, so the safe head does not move.',
    { name: 'seconds', max: controlBounds.maxSeconds, example: 10 },
    (faults, seconds) => faults.stopBatcher(seconds),
  ),
  method({
    name: 'devnet_corruptBatch',
    doc: 'Changes a byte in the next channel on L1; nodes drop it, and the batcher posts its blocks again.',
    params: [],
    result: nothing,
    cost: 'execution',
    example: { params: [], result: null },
    run: ({ devnet }) => devnet.faults.corruptBatch(),
  }),
  injection(
    'devnet_reorgL1',
    'Replaces the last L1 blocks by the same number of blocks without transactions.',
    { name: 'depth', max: controlBounds.maxReorgBlocks, example: 2 },
    (faults, depth) => faults.reorgL1(depth),
  ),
  injection(
    'devnet_dropL1',
    'Makes L1 unreachable for the nodes for a while.',
    { name: 'seconds', max: controlBounds.maxDropSeconds, example: 5 },
    (faults, seconds) => faults.dropL1(seconds),
  ),
]

const controlRegistry: Registry<ControlContext> = createRegistry<ControlContext>(controlMethods)

/** Always loopback, because every client of the port may break the devnet. */
const host = '127.0.0.1'

/** The sequencer's chain and page, for the page of the devnet. */
export type ControlPage = {
  readonly page: LocalPage
  readonly context: Omit<EthContext, 'cancellation'>
  /** flashblocks, which the verifier follows */
  readonly preconfirmed: PendingFeed | undefined
  /** returns the newest transactions, oldest first */
  readonly ways: () => readonly TransactionWay[]
}

/** Returns the facts that the page shows besides those of the sequencer. Pure. */
function stateOf(status: DevnetStatus, ways: readonly TransactionWay[]): DevnetState {
  return {
    isSequencing: status.sequencer.isActive,
    isPosting: status.batcher.isPosting,
    isL1Reachable: status.l1.isReachable,
    agreement: agreementText(status),
    problems: status.problems,
    ways,
  }
}

/**
 * Serves the control methods, the local page with the methods that it calls, and `/metrics` of the devnet itself.
 * @param port 0: any free port
 * @throws Fault PORT_IN_USE, LISTEN_FAILED (fatal)
 */
export function startControl(
  deps: {
    readonly devnet: Controlled
    readonly clock: Clock
    readonly log: Log
    readonly metrics: PrometheusRegistry
    readonly page: ControlPage
  },
  port: number,
): Promise<RpcServer> {
  const { devnet, clock, log, metrics, page } = deps
  const metricsPage = async (): Promise<Page> => ({ status: 200, text: await metrics.metrics() })
  const registry = createRegistry<ControlContext & EthContext>([...controlRegistry.values(), ...lookupRegistry.values()])
  const contextOf = (cancellation: CancellationToken): ControlContext & EthContext => ({ ...page.context, cancellation, devnet })
  const pages = new Map<string, PageHandler>([
    ['/metrics', metricsPage],
    ...page.page.pages({ state: () => stateOf(devnet.status(), page.ways()), preconfirmed: page.preconfirmed }),
  ])
  return createRpcServer({ registry, contextOf, pages, clock, log }, { host, port, flag: 'control.port', limits: { closeTimeoutMs: 500 } })
}
