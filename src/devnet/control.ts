import type { Registry as PrometheusRegistry } from 'prom-client'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { CallContext, CancellationToken } from '#rpc/context'
import type { Page } from '#rpc/healthPages'
import type { Json } from '#rpc/json'
import { ParamError } from '#rpc/paramError'
import { createRegistry, type Method, methodsOf, type ParamCodec, param, type Registry, type ResultCodec } from '#rpc/registry'
import { createRpcServer, type RpcServer } from '#rpc/server'
import type { DevnetFaults } from './ports.ts'
import type { DevnetStatus } from './status.ts'

/** URLs, ids and addresses of a devnet, for tools that know its control port only. */
export type DevnetFacts = {
  /** `flashblocks`: URL at which the sequencer publishes flashblocks; absent: it does not */
  readonly urls: Readonly<Record<'rpc' | 'ws' | 'rollup' | 'l1' | 'verifier' | 'verifierWs' | 'control', string>> & {
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
export type Controlled = { readonly faults: DevnetFaults; readonly facts: () => DevnetFacts; readonly status: () => DevnetStatus }
export type ControlContext = CallContext & { readonly devnet: Controlled }

/** Upper limits of faults. Longer ones would exceed the sequencing window or the time-outs of L1 clients; a test can repeat a call. */
export const controlBounds = { maxSeconds: 600, maxDropSeconds: 120, maxReorgBlocks: 4 } as const

const wholeNumber = (what: string, min: number, max: number): ParamCodec<number> => ({
  doc: `${what}: a whole number from ${min} to ${max}`,
  parse(value): number {
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
    const found = typeof value === 'number' ? String(value) : typeof value
    throw new ParamError(`${what} must be a whole number from ${min} to ${max}, not ${found}`, 'senseless')
  },
})

const nothing: ResultCodec<void> = { doc: 'null, once it has begun; it ends by itself', encode: () => null }
const asIs = <T>(doc: string): ResultCodec<T> => ({ doc, encode: (value) => value as Json })
const method = methodsOf<ControlContext>()

/** Methods of the control port. */
export const controlMethods: readonly Method<ControlContext>[] = [
  method({
    name: 'devnet_info',
    doc: 'URLs, chain ids, contracts and addresses of the devnet.',
    params: [],
    result: asIs<DevnetFacts>('the facts that the devnet prints when it starts, without the keys'),
    cost: 'instant',
    example: { params: [] },
    run: ({ devnet }) => devnet.facts(),
  }),
  method({
    name: 'devnet_status',
    doc: 'Heads of both nodes, whether they agree, and active faults.',
    params: [],
    result: asIs<DevnetStatus>('the status line as an object'),
    cost: 'instant',
    example: { params: [] },
    run: ({ devnet }) => devnet.status(),
  }),
  method({
    name: 'devnet_pauseSequencer',
    doc: 'Pauses new L2 blocks for a while; the missed blocks follow at once.',
    params: [param('seconds', wholeNumber('seconds', 1, controlBounds.maxSeconds))],
    result: nothing,
    cost: 'execution',
    example: { params: [5], result: null },
    run: ({ devnet }, seconds) => devnet.faults.pauseSequencer(seconds),
  }),
  method({
    name: 'devnet_stopBatcher',
    doc: 'Stops posting to L1 for a while, so the safe head does not move.',
    params: [param('seconds', wholeNumber('seconds', 1, controlBounds.maxSeconds))],
    result: nothing,
    cost: 'execution',
    example: { params: [10], result: null },
    run: ({ devnet }, seconds) => devnet.faults.stopBatcher(seconds),
  }),
  method({
    name: 'devnet_corruptBatch',
    doc: 'Changes a byte in the next channel on L1; nodes drop it, and the batcher posts its blocks again.',
    params: [],
    result: nothing,
    cost: 'execution',
    example: { params: [], result: null },
    run: ({ devnet }) => devnet.faults.corruptBatch(),
  }),
  method({
    name: 'devnet_reorgL1',
    doc: 'Replaces the last L1 blocks by the same number of blocks without transactions.',
    params: [param('depth', wholeNumber('depth', 1, controlBounds.maxReorgBlocks))],
    result: nothing,
    cost: 'execution',
    example: { params: [2], result: null },
    run: ({ devnet }, depth) => devnet.faults.reorgL1(depth),
  }),
  method({
    name: 'devnet_dropL1',
    doc: 'Makes L1 unreachable for the nodes for a while.',
    params: [param('seconds', wholeNumber('seconds', 1, controlBounds.maxDropSeconds))],
    result: nothing,
    cost: 'execution',
    example: { params: [5], result: null },
    run: ({ devnet }, seconds) => devnet.faults.dropL1(seconds),
  }),
]

export const controlRegistry: Registry<ControlContext> = createRegistry<ControlContext>(controlMethods)

/** Always loopback, because every client of the port may break the devnet. */
const host = '127.0.0.1'

/**
 * Serves the control methods, and `/metrics` of the devnet itself.
 * @param port 0: any free port
 * @throws Fault PORT_IN_USE, LISTEN_FAILED (fatal)
 */
export function startControl(
  deps: { readonly devnet: Controlled; readonly clock: Clock; readonly log: Log; readonly metrics: PrometheusRegistry },
  port: number,
): Promise<RpcServer> {
  const { devnet, clock, log, metrics } = deps
  const metricsPage = async (): Promise<Page> => ({ status: 200, text: await metrics.metrics() })
  const contextOf = (cancellation: CancellationToken): ControlContext => ({ cancellation, devnet })
  return createRpcServer(
    { registry: controlRegistry, contextOf, pages: new Map([['/metrics', metricsPage]]), clock, log },
    { host, port, flag: 'control.port', limits: { closeTimeoutMs: 500 } },
  )
}
