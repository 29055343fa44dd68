import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { blockIntervalMs } from '#chainspec/blockTime'
import type { Clock } from '#lib/clock'
import { KzgThread } from '#lib/kzg/kzgThread'
import type { Log } from '#lib/log'
import type { Random } from '#lib/retry'
import { type Node, startNode } from '#node/node'
import type { NodeOptions } from '#node/nodeOptions'
import { Agreement, type Difference } from './agreement.ts'
import { createBatcherPart } from './batcherPart.ts'
import { type ControlPage, type DevnetFacts, startControl } from './control.ts'
import { partFolders, writeDevnet } from './datadir.ts'
import { type DevnetChain, makeDevnetChain, toChainFiles } from './devnetChain.ts'
import { createDevnetFaults } from './devnetFaults.ts'
import { devnetFault } from './faults.ts'
import { mineOnTime } from './l1/miner.ts'
import { portalAddress, systemConfigAddress } from './l1Contracts.ts'
import { createL1Gate } from './l1Gate.ts'
import { startL1 } from './l1Start.ts'
import { devnetMetrics } from './metrics.ts'
import { comparedNode, type NodeBasics, peerAddressOf, peerOptions, sequencerOptions, verifierOptions } from './nodes.ts'
import type { ResolvedOptions } from './options.ts'
import type { DevnetFaults, DevnetL1 } from './ports.ts'
import { makeScratch, sweepScratch } from './scratch.ts'
import { shiftedClock } from './shiftedClock.ts'
import type { DevnetStatus } from './status.ts'
import { createStatusReader } from './statusReader.ts'
import { createBlockIntervals } from './timing/blockIntervals.ts'
import { watchTransactions } from './timing/transactionWatch.ts'

export type RunDeps = {
  readonly clock: Clock
  readonly random: Random
  readonly fetch: typeof fetch
  readonly log: Log
  readonly version: string
  /** aborted: a pending start ends with its reason, and everything it started is removed */
  readonly signal?: AbortSignal
}

/** Reason why a devnet ended by itself. */
export type DevnetEnd =
  | { readonly kind: 'disagreement'; readonly difference: Difference }
  | { readonly kind: 'fault'; readonly fault: Error }

/** Nodes of a devnet. `peers`: further verifying nodes. */
type DevnetNodes = { readonly sequencer: Node; readonly verifier: Node; readonly peers: readonly Node[] }

/** Running devnet. Disposing ends its parts, verifier and sequencer first, L1 last. */
export interface RunningDevnet extends AsyncDisposable {
  readonly facts: DevnetFacts
  readonly faults: DevnetFaults
  readonly nodes: DevnetNodes
  status(): DevnetStatus
  /** Resolves when it cannot continue; it must then be disposed. */
  readonly ended: Promise<DevnetEnd>
}

/** Parts on which the others depend. */
type Base = { readonly l1: DevnetL1; readonly chain: DevnetChain; readonly clock: Clock; readonly folder: string }

/** Number of slots by which genesis precedes the start, so that the first blocks are due at once. */
const headStartSlots = 1

/**
 * Starts L1 and its chain, new or stored; the clock of a stored devnet continues at its L1 head. Effects for a new stored devnet, in order: 1 a file
 * that marks its start, 2 its L1, 3 the file with the chain.
 */
async function openBase(deps: RunDeps, options: ResolvedOptions, parts: AsyncDisposableStack): Promise<Base> {
  const { datadir, kept, fixed } = options
  const genesisTimeSec = kept?.genesisTimeSec ?? Math.floor(deps.clock.nowMs() / 1_000) - headStartSlots * fixed.slotSec
  if (datadir === undefined) sweepScratch(tmpdir(), deps.clock)
  const folder = datadir ?? makeScratch(tmpdir())
  if (datadir === undefined) parts.defer(() => rm(folder, { recursive: true, force: true }))
  else if (kept === undefined) writeDevnet(datadir, { options: fixed, genesisTimeSec, chain: undefined })
  const l1 = parts.use(await startL1({ ...deps, log: deps.log.child('l1') }, options, genesisTimeSec, folder))
  deps.signal?.throwIfAborted()
  if (kept?.chain) {
    const { timestamp } = await l1.head()
    return { l1, chain: kept.chain, clock: shiftedClock(deps.clock, timestamp * 1_000 - deps.clock.nowMs()), folder }
  }
  const origin = { genesis: l1.genesis, genesisTimeSec, portal: portalAddress, systemConfig: systemConfigAddress }
  const chain = makeDevnetChain(fixed, origin)
  if (datadir !== undefined) writeDevnet(datadir, { options: fixed, genesisTimeSec, chain })
  return { l1, chain, clock: deps.clock, folder }
}

function needed<T>(part: T | undefined, what: string): T {
  if (part === undefined) throw new RangeError(`a devnet requires ${what}`)
  return part
}

/** Starts a loop that ends with the devnet. An error in the loop ends the devnet. */
function startLoop(parts: AsyncDisposableStack, run: (signal: AbortSignal) => Promise<void>, failed: (error: Error) => void): void {
  const stop = new AbortController()
  const running = run(stop.signal).catch((error: unknown) => {
    if (!stop.signal.aborted) failed(error instanceof Error ? error : new Error(String(error)))
  })
  parts.defer(async () => {
    stop.abort()
    await running
  })
}

/** Returns the reason why a node has stopped. */
async function stoppedNode(node: Node, name: string): Promise<Error> {
  const fault = await node.stopped.then(
    () => node.status()?.fault,
    (error: unknown) => error,
  )
  return fault instanceof Error ? fault : devnetFault('DEVNET_NODE_STOPPED', { node: name })
}

type NodesDeps = Pick<RunDeps, 'log' | 'signal'> & {
  readonly nodeDeps: Omit<Parameters<typeof startNode>[0], 'log'>
  readonly basics: NodeBasics
  readonly folder: string
}

/** Starts the nodes one after the other: each follows the sequencer. @throws Fault of the node that cannot start; the signal's reason */
async function startNodes(
  { log, signal, nodeDeps, basics, folder }: NodesDeps,
  options: ResolvedOptions,
  parts: AsyncDisposableStack,
): Promise<DevnetNodes> {
  const start = async (name: string, optionsAt: (directory: string) => NodeOptions): Promise<Node> => {
    const node = parts.use(await startNode({ ...nodeDeps, log: log.child(name) }, optionsAt(join(folder, name))))
    signal?.throwIfAborted()
    return node
  }
  const sequencer = await start(partFolders.sequencer, (directory) => sequencerOptions(basics, directory))
  const { http: rpc = '', ws = '', flashblocks } = sequencer.urls
  const joining: NodeBasics = { ...basics, ...(basics.peers && { peers: { ...basics.peers, staticPeers: [peerAddressOf(sequencer)] } }) }
  const verifier = await start(partFolders.verifier, (directory) => verifierOptions(joining, directory, { rpc, ws, flashblocks }))
  const peers: Node[] = []
  for (let i = 2; i <= options.nodes; i++)
    peers.push(await start(`${partFolders.verifier}${i}`, (directory) => peerOptions(joining, directory)))
  return { sequencer, verifier, peers }
}

type FactsOf = Pick<DevnetNodes, 'sequencer' | 'verifier'> & {
  readonly l1: DevnetL1
  readonly chain: DevnetChain
  readonly controlUrl: string
}

function factsOf({ sequencer, verifier, l1, chain, controlUrl }: FactsOf, { fixed, accounts, roles }: ResolvedOptions): DevnetFacts {
  const { http: rpc = '', ws = '', rollup = '', flashblocks } = sequencer.urls
  return {
    urls: {
      ...{ rpc, ws, rollup, l1: l1.rpcUrl, l1Beacon: l1.beaconUrl, control: controlUrl },
      verifier: verifier.urls.http ?? '',
      verifierWs: verifier.urls.ws ?? '',
      ...(flashblocks !== undefined && { flashblocks }),
    },
    chainId: fixed.chainId,
    l1ChainId: fixed.l1ChainId,
    blockTimeSec: blockIntervalMs(chain.config, chain.config.genesis.l2.number + 1) / 1_000,
    l1BlockTimeSec: fixed.slotSec,
    accounts: accounts.map(({ address }) => address),
    owner: roles.owner.address,
    contracts: { portal: portalAddress, systemConfig: systemConfigAddress },
  }
}

/** Starts a devnet. @throws Fault of the part that cannot start (all fatal) */
export async function runDevnet(deps: RunDeps, options: ResolvedOptions): Promise<RunningDevnet> {
  await using parts = new AsyncDisposableStack()
  const { l1, chain, clock, folder } = await openBase(deps, options, parts)
  const { log, random } = deps
  const registry = new Registry()
  const metrics = devnetMetrics.register(registry)
  const end = Promise.withResolvers<DevnetEnd>()
  let isClosing = false
  const failed = (fault: Error): void => {
    if (!isClosing) end.resolve({ kind: 'fault', fault })
  }
  void l1.ended.then(failed)

  startLoop(parts, (signal) => mineOnTime({ clock, log: log.child('l1') }, l1, signal), failed)
  const gate = createL1Gate(deps.fetch, [l1.rpcUrl, l1.beaconUrl])
  const kzg = parts.use(new KzgThread())
  const nodeDeps = { clock, random, fetch: gate.fetch, kzg }
  const basics: NodeBasics = {
    config: chain.config,
    genesis: chain.genesis,
    version: deps.version,
    l1,
    ports: options.ports,
    hasFlashblocks: options.hasFlashblocks,
    retention: options.retention,
    ...(options.nodes > 1 && { peers: { key: new Uint8Array(randomBytes(32)), staticPeers: [] } }),
  }
  const nodes = await startNodes({ ...deps, nodeDeps, basics, folder }, options, parts)
  const { sequencer, verifier, peers } = nodes
  const named = [
    ['sequencer', sequencer] as const,
    ['verifier', verifier] as const,
    ...peers.map((node, i) => [`verifier ${i + 2}`, node] as const),
  ]
  for (const [name, node] of named) void stoppedNode(node, name).then(failed)
  const executions = { sequencer: needed(sequencer.execution, 'execution'), verifier: needed(verifier.execution, 'execution') }

  // takes two seconds of CPU time in a thread that cannot be ended meanwhile, so not without blobs
  if (options.dataAvailability !== 'calldata') kzg.warmUp()
  const batcher = createBatcherPart(
    { l1, sequencer, execution: executions.sequencer, kzg, clock, random, fetch: deps.fetch, log, registry },
    { config: chain.config, account: options.roles.batcher, carrier: options.dataAvailability },
  )
  startLoop(parts, (signal) => batcher.run(signal), failed)
  const faults = parts.use(
    createDevnetFaults({
      batcher,
      clock,
      l1,
      gate,
      metrics,
      sequencer: needed(sequencer.sequencer, 'a sequencer'),
      unsafeHead: () => sequencer.status()?.heads?.unsafe.hash,
      log,
    }),
  )
  const agreement = new Agreement({
    sequencer: comparedNode(sequencer, executions.sequencer),
    verifier: comparedNode(verifier, executions.verifier),
    clock,
    log: log.child('agreement'),
    metrics,
  })
  startLoop(
    parts,
    async (signal) => {
      const difference = await agreement.run(signal)
      if (difference) end.resolve({ kind: 'disagreement', difference })
    },
    failed,
  )
  const feeds = { sequencer: needed(sequencer.feeds, 'feeds'), verifier: needed(verifier.feeds, 'feeds') }
  const blocks = createBlockIntervals(clock)
  parts.use(feeds.sequencer.heads.subscribe((sealed) => blocks.sealed(sealed.length)))
  const transactions = parts.use(watchTransactions(clock, feeds.sequencer, feeds.verifier))
  const reader = createStatusReader({ clock, batcher, sequencer, verifier, executions, agreement, faults, blocks, transactions })
  startLoop(parts, (signal) => reader.run(signal), failed)

  const facts = (): DevnetFacts => factsOf({ ...nodes, l1, chain, controlUrl: control.url }, options)
  const status = (): DevnetStatus => reader.read()
  const page: ControlPage = {
    page: needed(sequencer.page, 'a page'),
    context: feeds.sequencer,
    preconfirmed: feeds.verifier.preconfirmed,
    ways: () => transactions.newest(),
  }
  const control = parts.use(
    await startControl(
      { devnet: { faults, facts, status, chain: () => toChainFiles(chain) }, clock, log: log.child('control'), metrics: registry, page },
      options.ports.control ?? 0,
    ),
  )
  const kept = parts.move()
  return {
    facts: facts(),
    faults,
    nodes,
    status,
    ended: end.promise,
    async [Symbol.asyncDispose](): Promise<void> {
      isClosing = true
      await kept.disposeAsync()
    },
  }
}
