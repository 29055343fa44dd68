import type { ConsensusDeps, Feed } from '#consensus/consensus'
import { defaultFollowOptions, Follower, type FollowStatus } from '#consensus/follow'
import { followMetrics } from '#consensus/metrics'
import type { L2Source } from '#consensus/ports'
import { httpUrlOf } from '#engine/engineHttp'
import { createL2Source, defaultL2SourceOptions } from '#l2/l2Source'
import { l2Metrics } from '#l2/metrics'
import { createProofsStatus } from '#l2/proofsStatus'
import { BoundedMap } from '#lib/boundedMap'
import { signJwt } from '#lib/jwt'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { nodeFault } from '../faults.ts'
import type { PartDeps } from '../nodeDeps.ts'
import type { EngineEndpoint, NodeOptions, SourceOptions } from '../nodeOptions.ts'

/** With `l1`, the safe and finalized heads come from L1. */
export type FollowPartOptions = Pick<NodeOptions, 'config' | 'l1'> & {
  readonly source: SourceOptions
  /** Engine API of an execution half in another process */
  readonly endpoint?: EngineEndpoint
  /** Returns the last block with recorded proofs of the execution half in this process; absent: it records none. */
  readonly recorded?: () => number | undefined
}

/** Follow mode, before consensus gives it an inbox. */
export type Follow = Disposable & {
  createFeed(parts: Parameters<NonNullable<ConsensusDeps['createFeed']>>[0]): Feed
  /** undefined before the feed is created */
  status(): FollowStatus | undefined
}

/** Takes announced blocks. */
export type ExpectedBlocks = {
  /** Announces a block that will be executed, on a block with a state root. */
  readonly expect: (block: BlockId, parentStateRoot: Hash) => void
  /** Returns the state root of an executed block. */
  readonly stateRootOf: (hash: Hash) => Hash | undefined
}

const proofsTimeoutMs = 10_000

/** Returns how far the execution half has recorded proofs. @throws Fault OPTION_MISSING (fatal) */
function proofsOf({ fetch, clock }: PartDeps, { endpoint, recorded }: FollowPartOptions): ReturnType<typeof createProofsStatus> {
  if (recorded) return () => Promise.resolve({ latest: recorded() })
  if (endpoint === undefined)
    throw nodeFault('OPTION_MISSING', { mode: 'all and --source.proofs', option: 'recorded proofs (--proofs-history)' })
  const headers = (): Readonly<Record<string, string>> => ({
    authorization: `Bearer ${signJwt(endpoint.jwtSecret(), Math.floor(clock.nowMs() / 1000))}`,
  })
  return createProofsStatus({ fetch, clock }, { url: httpUrlOf(endpoint.url), headers, timeoutMs: proofsTimeoutMs })
}

/** Blocks whose state roots are remembered: those of all responses that are requested ahead. */
const rememberedRoots = 512

/** Announces each block of a source once, when its parent has come too: responses come in any order. */
export function announced(source: L2Source, { expect, stateRootOf }: ExpectedBlocks): L2Source {
  const roots = new BoundedMap<Hash, Hash>(rememberedRoots)
  /** blocks whose parents have not come, by the parent */
  const early = new BoundedMap<Hash, BlockId>(rememberedRoots)
  function announce({ blockNumber: number, blockHash: hash, parentHash, stateRoot }: Payload): void {
    // the follower reads single blocks again
    if (roots.get(hash)) return
    const parentStateRoot = roots.get(parentHash) ?? stateRootOf(parentHash)
    if (parentStateRoot) expect({ number, hash }, parentStateRoot)
    else early.set(parentHash, { number, hash })
    roots.set(hash, stateRoot)
    const child = early.get(hash)
    if (child) expect(child, stateRoot)
    early.delete(hash)
  }
  return {
    head: (label, signal) => source.head(label, signal),
    async payloads(from, count, signal): Promise<readonly Payload[]> {
      const payloads = await source.payloads(from, count, signal)
      for (const payload of payloads) announce(payload)
      return payloads
    },
    payload: (hash, signal) => source.payload(hash, signal),
    waitForHead: (signal, withinMs) => source.waitForHead(signal, withinMs),
  }
}

/** @throws Fault SOURCE_URL_INVALID, OPTION_MISSING (fatal) */
export function openFollow(deps: PartDeps & { readonly expected?: ExpectedBlocks }, options: FollowPartOptions): Follow {
  const { registry } = deps
  const { config, source, l1 } = options
  const log = deps.log.child('follow')
  const { url, hasProofs, maxAheadSec, pollMs } = source
  const proofs = hasProofs ? proofsOf(deps, options) : undefined
  const l2Options = { ...defaultL2SourceOptions(config, deps.clock.nowMs()), url, config, ...(pollMs !== undefined && { pollMs }) }
  const node = createL2Source({ ...deps, log: deps.log.child('l2'), metrics: l2Metrics.register(registry) }, l2Options)
  const metrics = followMetrics.register(registry)
  let follower: Follower | undefined
  return {
    createFeed({ inbox, waits }): Feed {
      follower = new Follower(
        { ...deps, inbox, waits, source: deps.expected ? announced(node, deps.expected) : node, log, metrics, ...(proofs && { proofs }) },
        { ...defaultFollowOptions, config, labels: l1 ? 'l1' : 'source', maxAheadSec },
      )
      return follower
    },
    status: () => follower?.status(),
    [Symbol.dispose]: () => node[Symbol.dispose](),
  }
}
