import type { BlobParams, BlobSchedule } from '#chainspec/blobSchedule'
import { type BlobDifference, blobDifference, parseReportedBlobs } from '#chainspec/reportedBlobs'
import type { Clock } from '#lib/clock'
import type { Endpoint } from '#lib/endpoint'
import type { Log } from '#lib/log'
import type { L1Metrics } from './metrics.ts'
import type { Rpc } from './rpc.ts'

export type BlobScheduleWatchDeps = {
  /** JSON-RPC client with a limit of `maxConfigBytes`. */
  readonly rpc: Rpc
  readonly endpoints: readonly Endpoint[]
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<L1Metrics, 'otherBlobSchedule'>
}

export type BlobScheduleWatchOptions = {
  readonly chainId: number
  /** in use; absent: headers decide between Cancun's and Prague's parameters */
  readonly blobSchedule?: BlobSchedule
}

/** Limit of a response to `eth_config`, which has some 5 KB. */
export const maxConfigBytes = 65_536
/** The first requests of a start have priority. */
const firstAfterMs = 10_000
const everyMs = 3_600_000

const shown = ({ target, max, updateFraction }: BlobParams): string =>
  `target ${target}, max ${max}, baseFeeUpdateFraction ${updateFraction}`

/**
 * Requests `eth_config` from every endpoint shortly after the start and once an hour, and compares the blob schedule in it with the schedule in use.
 * A fork with the same ratio of target and max shows in no header while blobs are cheap, so this is the only notice of it. A difference is a warning
 * in the log, repeated each hour, and counts in a gauge, before the fork and after it: an unproven answer of an endpoint does not stop the node, only a
 * header does (L1_BLOB_SCHEDULE). A failed request, or a response without a valid schedule, changes nothing and is logged at debug level.
 * @returns disposed to stop it
 * @see EIP-7910; EIP-7918
 */
export function watchBlobSchedule(deps: BlobScheduleWatchDeps, { chainId, blobSchedule }: BlobScheduleWatchOptions): Disposable {
  const { rpc, endpoints, clock, log, metrics } = deps
  const stop = new AbortController()
  const different = new Set<Endpoint>()

  function warn({ name }: Endpoint, { atSec, reported, inUse }: BlobDifference): void {
    log.warn('L1 endpoint reports another blob schedule', {
      endpoint: name,
      activationSec: atSec,
      leftSec: Math.max(0, atSec - Math.floor(clock.nowMs() / 1_000)),
      reported: shown(reported),
      inUse: inUse.map(shown).join(' or ') || 'no blobs',
      fix: 'if the endpoint is right, L1 attributes are wrong from then on: configure the chain config of L1 with --l1.chain-config FILE, or install a version that has the fork',
    })
  }

  async function check(endpoint: Endpoint): Promise<void> {
    try {
      const [result] = await rpc.call(endpoint, [{ method: 'eth_config', params: [] }], stop.signal)
      const reported = parseReportedBlobs(result, chainId)
      if (reported === undefined) return log.debug('eth_config of L1 endpoint not understood', { endpoint: endpoint.name })
      const difference = blobDifference(blobSchedule, reported)
      if (difference === undefined) different.delete(endpoint)
      else {
        different.add(endpoint)
        warn(endpoint, difference)
      }
    } catch (error) {
      if (!stop.signal.aborted) log.debug('eth_config of L1 endpoint not available', { endpoint: endpoint.name, error })
    }
  }

  async function checkAll(): Promise<void> {
    await Promise.all(endpoints.map(check))
    metrics.otherBlobSchedule.set({}, different.size)
    if (!stop.signal.aborted) timer = clock.after(everyMs, () => void checkAll())
  }

  metrics.otherBlobSchedule.set({}, 0)
  let timer = clock.after(firstAfterMs, () => void checkAll())
  return {
    [Symbol.dispose](): void {
      stop.abort()
      timer[Symbol.dispose]()
    },
  }
}
