import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { ancestorsNeeded, type GivenBlock, verifyBaseBlocks } from '#blockchain/base/baseBlocks'
import { installBase } from '#blockchain/base/installBase'
import { readBaseTrust } from '#blockchain/baseTrust'
import { messagePasser } from '#chainspec/addresses'
import { numberAt, timestampOf } from '#chainspec/blockTime'
import { isActive } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { headerOfPayload } from '#engine/payloadHeader'
import type { SourceNode } from '#l2/l2Source'
import { stateSourceMetrics } from '#l2/metrics'
import { createStateSources } from '#l2/state/stateSources'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { Log } from '#lib/log'
import { defaultBackoff, type Random, retry } from '#lib/retry'
import { snapshotFault } from '#snapshot/faults'
import type { TrustPort } from '#snapshot/trustPort'
import { isPartialState } from '#state/partialState'
import type { StateRequest, StateSource } from '#state/stateSource'
import { openChainKv, openChainReader, segmentsDir } from '#store/chainTables'
import { agreeOnSchema, chainSchema } from '#store/schema'
import type { BlockId } from '#types/blockRef'
import type { Header } from '#types/header'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import type { Evidence, Grade } from '#types/trust'
import { nodeFault } from './faults.ts'
import { openSourceNode } from './sourceNode.ts'

export type AnchoredStartDeps = {
  readonly fetch: typeof fetch
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly signal: AbortSignal
}

export type AnchoredStartOptions = {
  /** hash of the block for which the operator vouches; absent: L1 vouches for it */
  readonly given?: Hash | undefined
  readonly trust?: TrustPort | undefined
  readonly config: RollupConfig
  /** an empty data directory; with `replaced` one with a partial state */
  readonly datadir: string
  /** the block with which a partial state began: once all of the new one is verified, the old chain is removed. The new block is a later one */
  readonly replaced?: BlockId | undefined
  /** nodes that have the state */
  readonly stateUrls: readonly string[]
  /** node of the chain that has its newest blocks */
  readonly l2Url: string
}

export type Anchored = { readonly number: number; readonly hash: Hash; readonly trust: Grade }

/** Without a given hash, blocks are tried from the finalized head backwards, at these distances, until L1 vouches for one: proposals come late. */
const step = { sec: 600, count: 10 }
const tries = 8
/** Blocks of one request. */
const batch = 32

type Candidate = { readonly header: Header; readonly payload: Payload }

/**
 * Begins the chain of a data directory with a recent block, of whose state only the root node is stored (ADR 0043). The block's hash is given, or L1 vouches for
 * it. Nothing is written before all is verified; one transaction writes all.
 * @throws Fault SNAPSHOT_UNTRUSTED, BASE_BLOCK_REFUSED, ANCHOR_TOO_OLD, ANCHOR_UNKNOWN (fatal); those of the nodes (retry); the signal's reason
 */
export async function startAnchored(deps: AnchoredStartDeps, options: AnchoredStartOptions): Promise<Anchored> {
  const { config, datadir, stateUrls, l2Url } = options
  const metrics = stateSourceMetrics.register(new Registry())
  const state = createStateSources({ ...deps, metrics }, { urls: stateUrls })
  using node = openSourceNode(deps, config, l2Url)
  const { header, payload, trust } = await chooseAnchor(deps, options, node)
  const { number, timestamp, stateRoot } = header
  const hash = payload.blockHash
  if (options.replaced && number <= options.replaced.number)
    throw nodeFault('ANCHOR_NOT_NEWER', { number, replaced: options.replaced.number })
  if (!isActive(config.schedule, 'ecotone', timestamp)) throw nodeFault('ANCHOR_TOO_OLD', { number })
  const genesis = config.genesis.l2
  const blocks = await blocksUpTo(deps, config, node, number)
  const verified = verifyBaseBlocks(blocks, hash, genesis)
  const rootNode = await rootNodeOf(state, { number, hash, stateRoot })
  const dir = join(datadir, 'chain')
  removeChain(datadir, options.replaced !== undefined)
  await using kv = openChainKv(dir)
  agreeOnSchema(kv, chainSchema)
  installBase({ kv, segmentsDir: segmentsDir(dir), genesis, rootNode }, verified, trust)
  return { number, hash, trust: trust.grade }
}

/**
 * Removes the chain of a data directory, and the rest of an interrupted removal. A chain goes as a whole, by a rename: a part of it would count as a chain.
 * @param isReplaced false: only the rest
 */
function removeChain(datadir: string, isReplaced: boolean): void {
  for (const name of ['consensus', 'chain']) {
    const [dir, removed] = [join(datadir, name), join(datadir, `${name}.removed`)]
    rmSync(removed, { recursive: true, force: true })
    if (!isReplaced || !existsSync(dir)) continue
    renameSync(dir, removed)
    rmSync(removed, { recursive: true })
  }
}

/** Returns the block with which the partial state of a data directory began; undefined: its state is whole. The directory is not in use. */
export async function anchorOf(datadir: string): Promise<BlockId | undefined> {
  await using source = openChainReader(join(datadir, 'chain'))
  using reader = source.snapshot()
  return isPartialState(reader) ? readBaseTrust(reader).block : undefined
}

const retried = <T>(deps: AnchoredStartDeps, run: (signal: AbortSignal) => Promise<T>): Promise<T> =>
  retry(deps, { backoff: defaultBackoff, signal: deps.signal, maxTries: tries }, run)

async function chooseAnchor(
  deps: AnchoredStartDeps,
  { config, given, trust }: AnchoredStartOptions,
  node: SourceNode,
): Promise<Candidate & { readonly trust: Evidence }> {
  const candidate = (payload: Payload): Candidate => ({ header: headerOfPayload(config.schedule, payload), payload })
  if (given !== undefined) {
    const payload = await retried(deps, (signal) => node.payload(given, signal))
    if (payload === undefined) throw nodeFault('ANCHOR_UNKNOWN', { endpoint: node.endpoint, what: `block ${given}` })
    return { ...candidate(payload), trust: { grade: 'given' } }
  }
  const finalized = await retried(deps, (signal) => node.head('finalized', signal))
  if (finalized === undefined) throw nodeFault('ANCHOR_UNKNOWN', { endpoint: node.endpoint, what: 'a finalized block' })
  const newestSec = timestampOf(config, finalized.number)
  for (let back = 0; ; back++) {
    const number = back === 0 ? finalized.number : (numberAt(config, 1_000 * (newestSec - back * step.sec)) ?? 0)
    const [payload] = await retried(deps, (signal) => node.payloads(number, 1, signal))
    if (payload === undefined) throw nodeFault('ANCHOR_UNKNOWN', { endpoint: node.endpoint, what: `block ${number}` })
    const found = candidate(payload)
    if (trust === undefined) {
      const reason = 'neither L1 endpoints nor a hash vouch for it'
      throw snapshotFault('SNAPSHOT_UNTRUSTED', { number, hash: payload.blockHash, reason })
    }
    try {
      return { ...found, trust: await trust.verifyHeader(found.header, payload.blockHash, deps.signal) }
    } catch (error) {
      if (!isFault(error, 'SNAPSHOT_UNTRUSTED') || back === step.count) throw error
      deps.log.info('L1 does not vouch for this block yet, trying an older one', { number })
    }
  }
}

/** Returns a block and those below it whose hashes its child can read. */
async function blocksUpTo(deps: AnchoredStartDeps, config: RollupConfig, node: SourceNode, last: number): Promise<readonly GivenBlock[]> {
  const blocks: GivenBlock[] = []
  for (let from = Math.max(config.genesis.l2.number, last - ancestorsNeeded); from <= last; ) {
    const payloads = await retried(deps, (signal) => node.payloads(from, Math.min(batch, last - from + 1), signal))
    if (payloads.length === 0) throw nodeFault('ANCHOR_UNKNOWN', { endpoint: node.endpoint, what: `block ${from}` })
    for (const payload of payloads) blocks.push({ header: headerOfPayload(config.schedule, payload), transactions: payload.transactions })
    from += payloads.length
  }
  return blocks
}

async function rootNodeOf(state: StateSource, at: StateRequest['at']): Promise<Uint8Array> {
  const wanted = { kind: 'account', address: messagePasser, addressKey: keccak256(fromHex(messagePasser)) } as const
  const { nodes } = await state.fetch({ at, wanted })
  const top = nodes.find(({ owner, path }) => owner === undefined && path.length === 0)
  if (top === undefined) throw new RangeError(`no root node of block ${at.number}`)
  return top.rlp
}
