import type { EngineApi, ForkchoiceAnswer, PayloadStatus } from '#engine/engineApi'
import type { Clock } from '#lib/clock'
import type { ChainReader, SyncProgress } from '#rpc/ports'
import type { ChainView } from '#types/chainView'
import { maxSilentMs, maxUnansweredMs } from './engineSilence.ts'

/** State of the consensus half that drives an execution half, as far as the calls show it. */
export type EngineWatch = {
  readonly api: EngineApi
  /** Returns a chain whose every view counts as a call of the consensus half. */
  heard(chain: ChainReader): ChainReader
  /** since the last call of the consensus half; undefined: it never called */
  silentMs(): number | undefined
  /** since the start of its oldest call without an answer; 0: every call has one */
  unansweredMs(): number
  /** set while it names blocks that this node does not have */
  behind(): SyncProgress | undefined
  /** its last payload, if that was invalid or its call failed, and the head has not reached its number */
  refused(): { readonly number: number; readonly head: number } | undefined
  /** Returns the progress for `eth_syncing`. Without a consensus half, or while it waits for long, the node does not know whether it is at the head. */
  sync(): SyncProgress | undefined
}

export type EngineWatchDeps = {
  readonly api: EngineApi
  readonly clock: Clock
  readonly onCall?: () => void
}

/** @param head number of the canonical head */
export function createEngineWatch({ api, clock, onCall }: EngineWatchDeps, head: () => number): EngineWatch {
  const starting = head()
  let heardMs: number | undefined
  /** calls without an answer, oldest first */
  const open = new Set<{ readonly sinceMs: number }>()
  let isBehind = false
  let highest = 0
  let refusedAt: number | undefined
  const hear = <T>(call: T): T => {
    heardMs = clock.elapsedMs()
    onCall?.()
    return call
  }
  /** A caller that waits for its answer counts as not silent. */
  async function answer<T>(call: Promise<T>): Promise<T> {
    hear(undefined)
    const waiting = { sinceMs: clock.elapsedMs() }
    open.add(waiting)
    try {
      return await call
    } finally {
      open.delete(waiting)
      heardMs = clock.elapsedMs()
    }
  }
  const silentMs = (): number | undefined => (heardMs === undefined ? undefined : open.size > 0 ? 0 : clock.elapsedMs() - heardMs)
  function unansweredMs(): number {
    const [oldest] = open
    return oldest ? clock.elapsedMs() - oldest.sinceMs : 0
  }
  function behind(): SyncProgress | undefined {
    const current = head()
    return isBehind ? { starting, current, highest: Math.max(current, highest) } : undefined
  }
  function refused(): { readonly number: number; readonly head: number } | undefined {
    const current = head()
    if (refusedAt !== undefined && refusedAt <= current) refusedAt = undefined
    return refusedAt === undefined ? undefined : { number: refusedAt, head: current }
  }
  function alone(): SyncProgress | undefined {
    const current = head()
    const isSilent = (silentMs() ?? Number.POSITIVE_INFINITY) > maxSilentMs
    return isSilent || unansweredMs() > maxUnansweredMs ? { starting, current, highest: current } : undefined
  }
  return {
    api: {
      async newPayload(version, request): Promise<PayloadStatus> {
        const { blockNumber } = request.payload
        let kind: PayloadStatus['status'] | 'FAILED' = 'FAILED'
        try {
          const status = await answer(api.newPayload(version, request))
          kind = status.status
          return status
        } finally {
          if (kind === 'SYNCING') highest = Math.max(highest, blockNumber)
          refusedAt = kind === 'INVALID' || kind === 'FAILED' ? blockNumber : undefined
        }
      },
      async forkchoiceUpdated(version, state, attributes): Promise<ForkchoiceAnswer> {
        const given = await answer(api.forkchoiceUpdated(version, state, attributes))
        isBehind = given.payloadStatus.status === 'SYNCING'
        return given
      },
      getPayload: (version, id) => answer(api.getPayload(version, id)),
      block: (hash) => answer(api.block(hash)),
      bodiesByHash: (hashes) => answer(api.bodiesByHash(hashes)),
      bodiesByRange: (start, count) => answer(api.bodiesByRange(start, count)),
    },
    heard: ({ view, sync }) => ({ view: (): ChainView => hear(view()), sync }),
    silentMs,
    unansweredMs,
    behind,
    refused,
    sync: () => behind() ?? alone(),
  }
}
