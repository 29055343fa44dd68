import { join } from 'node:path'
import { parseBlobSchedule } from '#chainspec/blobSchedule'
import { blockIntervalMs, numberAt } from '#chainspec/blockTime'
import { type RollupConfig, rederivedSec } from '#chainspec/rollupConfig'
import { systemClock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import type { MemoryOptions, NodeOptions } from '#node/nodeOptions'
import type { PageListen } from '#node/serving/servers'
import type { ChainDistance, Retention } from '#types/chainDistance'
import { datadirOf } from './datadir.ts'
import { cliFault } from './faults.ts'
import { readJsonFile } from './files.ts'
import { type FlagName, type FlagValues, flags, type RawFlags } from './flags.ts'
import { agreeWithSecretFile, isSecretFileUnused, sharedSecret } from './jwtFile.ts'
import { executionPeersFlagNames, executionPeersOf, p2pFlagNames, p2pOf } from './p2pOptions.ts'
import { limitFlags, rateLimitOf } from './serverLimits.ts'

/** Flags of `basalt node` that become options of the node, besides those of the chain and of the log. */
export const optionFlags = [
  'mode',
  'datadir',
  'l1.rpc',
  'l1.beacon',
  'l1.poll-interval',
  'l1.max-rps',
  'l1.chain-config',
  'forks.from-l1',
  'trust.require',
  'l1.trust-transactions',
  'l1.slot-seconds',
  'engine',
  'jwt',
  'jwt.secret',
  'engine.addr',
  'engine.port',
  'payload.max-time',
  'source.l2.rpc',
  'source.proofs',
  'source.max-ahead',
  'source.state',
  'fill.bandwidth',
  'fill.max-disk',
  'ready.max-lag',
  'http.addr',
  'http.port',
  'ws.addr',
  'ws.port',
  'rollup.addr',
  'rollup.port',
  'rollup.admin',
  'metrics.addr',
  'metrics.port',
  'metrics.page',
  'health.addr',
  'health.port',
  'rpc.hosts',
  'http.api',
  'http.cors',
  'ws.api',
  'ws.origins',
  'ipc.path',
  ...limitFlags,
  'flashblocks.url',
  'flashblocks.max-age',
  'flashblocks.max-time',
  'pending.fallback',
  'flashblocks.addr',
  'flashblocks.port',
  'flashblocks.interval',
  'rpc.evm-timeout',
  'rpc.slow-log',
  'trace.otlp',
  'trace.headers',
  'trace.sample',
  'trace.service',
  'rpc.workers',
  'sequencer.http',
  'cache',
  'memory-max',
  'db.min-free',
  'retain.history',
  'rpc.eth-proof-window',
  'proofs-history',
  'proofs-history.window',
  'proofs.path',
  'proofs.required',
  'retain.bodies',
  'retain.receipts',
  'retain.logs',
  ...p2pFlagNames,
  'p2p.nat',
  ...executionPeersFlagNames,
] as const satisfies readonly FlagName[]
/** Every flag of `basalt node`. */
export const nodeFlags = [
  'network',
  'rollup.config',
  'genesis',
  ...optionFlags,
  'log.level',
  'log.format',
  'snapshot',
  'start',
  'start.block-hash',
] as const satisfies readonly FlagName[]

/** The sample secret in the env files of base/node, which many operators have not changed. */
export const publishedSecret = '688f5d737bad920bdfb2fc2f488d6b6209eebda1dae949a8de91398d932c517a'

type OptionFlag = (typeof optionFlags)[number]
export type OptionValues = FlagValues<OptionFlag>

const missing = (flag: OptionFlag, doc: string): Error => cliFault('MISSING_FLAG', { flag, variable: flags[flag].env, doc })

/** Returns a distance in seconds; blocks count with the time between blocks at `nowMs`. */
function seconds(distance: ChainDistance, config: RollupConfig, nowMs: number): number {
  if ('sec' in distance) return distance.sec
  const intervalMs = blockIntervalMs(config, numberAt(config, nowMs) ?? config.genesis.l2.number)
  return Math.ceil((distance.blocks * intervalMs) / 1000)
}

const servers = {
  http: flags['http.port'].modes,
  ws: flags['ws.port'].modes,
  engine: flags['engine.port'].modes,
  rollup: flags['rollup.port'].modes,
  metrics: flags['metrics.port'].modes,
  health: flags['health.port'].modes,
} as const

/** Namespaces, origins and rate limit of a public server. */
function admissionOf(given: OptionValues, server: 'http' | 'ws', rateLimit: PageListen['rateLimit']): Partial<PageListen> {
  const api = given[`${server}.api`]
  const origins = server === 'http' ? given['http.cors'] : given['ws.origins']
  return {
    ...(api !== 'all' && { api }),
    ...(origins && { cors: origins === 'any' ? true : origins }),
    ...(rateLimit && { rateLimit }),
  }
}

function listenOf(given: OptionValues): NodeOptions['listen'] {
  const hostNames = given['rpc.hosts']
  const rateLimit = given.mode === 'consensus' ? undefined : rateLimitOf(given)
  const entries = (Object.keys(servers) as (keyof typeof servers)[]).flatMap((name) => {
    const port = given[`${name}.port`]
    if (port === 'off' || !servers[name].includes(given.mode)) return []
    const admission = name === 'http' || name === 'ws' ? admissionOf(given, name, rateLimit) : {}
    return [[name, { host: given[`${name}.addr`], port, ...(hostNames && { hostNames }), ...admission }] as const]
  })
  const path = given.mode === 'consensus' ? undefined : given['ipc.path']
  return { ...Object.fromEntries(entries), ...(path !== undefined && { ipc: { path } }), ...publisherOf(given) }
}

function followedOf(given: OptionValues): Pick<NodeOptions, 'flashblocks' | 'pendingFallback'> {
  if (given.mode === 'consensus') return {}
  const urls = given['flashblocks.url']
  const maxAgeMs = given['flashblocks.max-age']
  const maxTimeMs = given['flashblocks.max-time']
  const flashblocks = urls && { urls, ...(maxAgeMs !== undefined && { maxAgeMs }), ...(maxTimeMs !== undefined && { maxTimeMs }) }
  return { ...(flashblocks && { flashblocks }), pendingFallback: given['pending.fallback'] }
}

function publisherOf(given: OptionValues): Pick<NodeOptions['listen'], 'flashblocks'> {
  const port = given['flashblocks.port']
  if (port === 'off' || given.mode === 'consensus') return {}
  return { flashblocks: { host: given['flashblocks.addr'], port, intervalMs: given['flashblocks.interval'] } }
}

/** Checks that the flags which the mode requires are set. @throws Fault MISSING_FLAG (fatal) */
function checkMode(given: OptionValues): void {
  if (given.mode !== 'execution' && given['l1.rpc'] === undefined && given['source.l2.rpc'] === undefined) {
    throw missing('l1.rpc', `${flags['l1.rpc'].doc}; a node that only follows another one needs --source.l2.rpc instead`)
  }
  if (given['l1.rpc'] === undefined && given['l1.beacon'] !== undefined) throw missing('l1.rpc', flags['l1.rpc'].doc)
  if (given.mode === 'consensus' && given.engine === undefined) {
    throw missing('engine', `${flags.engine.doc}, such as http://127.0.0.1:8551; without one choose --mode all`)
  }
  if (given.mode === 'execution' && given['engine.port'] === 'off') {
    throw cliFault('BAD_FLAG', { flag: 'engine.port', value: 'off', expected: 'a port, over which a consensus half drives this half' })
  }
}

/** @throws Fault INVALID_CONFIG, UNREADABLE_FILE, BAD_FILE (fatal) */
function withL1ChainConfig(config: RollupConfig, path: string | undefined): RollupConfig {
  return path === undefined ? config : { ...config, l1BlobSchedule: parseBlobSchedule(readJsonFile(path), config.l1ChainId) }
}

/** Reads the secret of the Engine API from its file. */
export type SecretReader = (path: string) => Uint8Array

/** A secret given as a value overrides the file, which compose.yaml may name for every operator. */
function secretOf({ jwt, 'jwt.secret': digits }: OptionValues, datadir: string, readFile: SecretReader): Uint8Array {
  return digits === undefined ? readFile(jwt ?? join(datadir, 'jwt.hex')) : fromHex(`0x${digits}`)
}

/**
 * Returns the file of --jwt that --jwt.secret overrides; undefined: no file, or a file with the same secret.
 * @throws Fault JWT_CONFLICT, JWT_FILE_BAD, UNREADABLE_FILE (fatal) when both are on the command line and do not agree
 */
export function unusedSecretFile(
  { jwt, 'jwt.secret': digits }: Pick<OptionValues, 'jwt' | 'jwt.secret'>,
  raw: RawFlags,
): string | undefined {
  if (jwt === undefined || digits === undefined) return undefined
  if ((['jwt', 'jwt.secret'] as const).every((flag) => raw[flag] !== undefined)) agreeWithSecretFile(digits, jwt)
  return isSecretFileUnused(digits, jwt) ? jwt : undefined
}

/** Returns the older states to keep. Proofs go as far back as states when all states are kept. */
export function retentionOf(given: FlagValues<'retain.history'> & Partial<FlagValues<'rpc.eth-proof-window'>>): Retention {
  const { 'retain.history': history, 'rpc.eth-proof-window': proofs = history === 'all' ? history : undefined } = given
  return { history, ...(proofs && { proofs }) }
}

function proofsOf(given: OptionValues, datadir: string, config: RollupConfig, nowMs: number): Pick<NodeOptions, 'proofs'> {
  if (!given['proofs-history']) return {}
  const window = given['proofs-history.window']
  const proofs = {
    dir: datadirOf(given['proofs.path'] ?? join(datadir, 'proofs'), config.l2ChainId),
    windowSec: window === 'all' ? Number.MAX_SAFE_INTEGER : seconds(window, config, nowMs),
    isRequired: given['proofs.required'],
  }
  return { proofs: window !== 'all' && 'blocks' in window ? { ...proofs, windowBlocks: window.blocks } : proofs }
}

/** Returns the options of the execution half, if it runs here. */
function executionOf(given: OptionValues, datadir: string, config: RollupConfig, nowMs: number): Partial<NodeOptions> {
  if (given.mode === 'consensus') return {}
  const { 'source.state': stateUrls, 'fill.max-disk': maxDiskBytes } = given
  return {
    ...(stateUrls && { stateUrls }),
    fill: { bytesPerSec: given['fill.bandwidth'], ...(maxDiskBytes !== undefined && { maxDiskBytes }) },
    ...{ callTimeoutMs: given['rpc.evm-timeout'], rpcThreads: given['rpc.workers'] },
    ...{ maxPayloadMs: given['payload.max-time'], retention: retentionOf(given), trustRequired: given['trust.require'] },
    ...proofsOf(given, datadir, config, nowMs),
    rows: {
      ...{ bodies: given['retain.bodies'], receipts: given['retain.receipts'], logs: given['retain.logs'] },
      leastBodies: { sec: rederivedSec(config, given['l1.slot-seconds']) },
    },
  }
}

/** Returns the memory that the flags give to the process. */
export function memoryOf(given: FlagValues<'memory-max' | 'cache'>): MemoryOptions {
  const { 'memory-max': memoryMaxBytes, cache: cacheBytes } = given
  return { ...(memoryMaxBytes !== undefined && { memoryMaxBytes }), ...(cacheBytes !== undefined && { cacheBytes }) }
}

function traceOf(given: OptionValues): Pick<NodeOptions, 'trace'> {
  const { 'trace.otlp': url, 'trace.headers': headers, 'trace.service': service, 'trace.sample': sample } = given
  return url === undefined ? {} : { trace: { url, service, sample, ...(headers && { headers }) } }
}

const hasPage = (given: FlagValues<'metrics.page' | 'metrics.port'>): boolean =>
  given['metrics.page'] === 'on' && given['metrics.port'] !== 'off'

/**
 * Makes the options of the node from its flags. Reads or creates the secret of the Engine API where the mode needs it.
 * @param nowMs wall clock
 * @param readSecret by default the file is created when it does not exist
 * @throws Fault MISSING_FLAG, BAD_FLAG, JWT_FILE_BAD, JWT_FILE_UNWRITABLE, UNREADABLE_FILE, BAD_FILE, INVALID_CONFIG (fatal)
 */
export function nodeOptionsOf(
  given: OptionValues,
  chain: Pick<NodeOptions, 'config' | 'genesis'>,
  version: string,
  nowMs = systemClock.nowMs(),
  readSecret: SecretReader = sharedSecret,
): NodeOptions {
  checkMode(given)
  const { mode, engine } = given
  const config = withL1ChainConfig(chain.config, mode === 'execution' ? undefined : given['l1.chain-config'])
  const datadir = datadirOf(given.datadir, config.l2ChainId)
  const rpcUrls = mode === 'execution' ? undefined : given['l1.rpc']
  const source = mode === 'execution' ? undefined : given['source.l2.rpc']
  const maxRequestsPerSec = given['l1.max-rps']
  const slotSec = given['l1.slot-seconds']
  const sequencerUrl = mode === 'consensus' ? undefined : given['sequencer.http']
  const slowCallMs = given['rpc.slow-log']
  const secret = mode === 'all' ? undefined : secretOf(given, datadir, readSecret)
  const p2p = p2pOf(given, config)
  return {
    ...chain,
    config,
    mode,
    datadir,
    version,
    ...(rpcUrls && {
      l1: {
        rpcUrls,
        beaconUrls: given['l1.beacon'] ?? [],
        pollMs: given['l1.poll-interval'],
        ...(maxRequestsPerSec !== undefined && { maxRequestsPerSec }),
        ...(given['l1.trust-transactions'] && { trustTransactions: true }),
        ...(slotSec !== undefined && { slotSec }),
      },
    }),
    ...(given['forks.from-l1'] && { forksFromL1: true }),
    ...(source !== undefined && {
      source: { url: source, hasProofs: given['source.proofs'], maxAheadSec: seconds(given['source.max-ahead'], chain.config, nowMs) },
    }),
    ...(mode === 'consensus' && engine !== undefined && { engine: { url: engine } }),
    ...(secret && { jwtSecret: () => secret }),
    ...(sequencerUrl !== undefined && { sequencerUrl }),
    listen: listenOf(given),
    ...(slowCallMs !== undefined && { slowCallMs }),
    ...traceOf(given),
    ...followedOf(given),
    ...executionOf(given, datadir, config, nowMs),
    ...p2p,
    ...(given['p2p.nat'] === 'upnp' && { nat: 'upnp' as const }),
    ...executionPeersOf(given, config, p2p.p2p !== undefined),
    hasPage: hasPage(given),
    isAdminOn: given['rollup.admin'],
    readyMaxLagSec: given['ready.max-lag'],
    ...memoryOf(given),
    minFreeBytes: given['db.min-free'],
  }
}
