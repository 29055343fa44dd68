import type { EngineApi, ForkchoiceAnswer, PayloadStatus } from '#engine/engineApi'
import type { Clock } from '#lib/clock'
import type { ChainReader, ChainView, SyncProgress } from '#rpc/ports'

/** What an execution half can know of the consensus half that moves it. */
export type EngineWatch = {
  /** the API, watched */
  readonly api: EngineApi
  /** A chain whose every view counts as a call of the other half. */
  heard(chain: ChainReader): ChainReader
  /** since the other half asked or told anything; undefined: it never did */
  silentMs(): number | undefined
  /** while it names blocks that are not known here */
  sync(): SyncProgress | undefined
}

/** @param head number of the canonical head */
export function createEngineWatch({ api, clock }: { readonly api: EngineApi; readonly clock: Clock }, head: () => number): EngineWatch {
  const starting = head()
  let heardMs: number | undefined
  let isBehind = false
  let highest = 0
  const hear = <T>(call: T): T => {
    heardMs = clock.elapsedMs()
    return call
  }
  return {
    api: {
      async newPayload(version, request): Promise<PayloadStatus> {
        const status = await hear(api.newPayload(version, request))
        if (status.status === 'SYNCING') highest = Math.max(highest, request.payload.blockNumber)
        return status
      },
      async forkchoiceUpdated(version, state, attributes): Promise<ForkchoiceAnswer> {
        const answer = await hear(api.forkchoiceUpdated(version, state, attributes))
        isBehind = answer.payloadStatus.status === 'SYNCING'
        return answer
      },
      getPayload: (version, id) => hear(api.getPayload(version, id)),
      block: (hash) => hear(api.block(hash)),
      bodiesByHash: (hashes) => hear(api.bodiesByHash(hashes)),
      bodiesByRange: (start, count) => hear(api.bodiesByRange(start, count)),
    },
    heard: ({ view, sync }) => ({ view: (): ChainView => hear(view()), sync }),
    silentMs: () => (heardMs === undefined ? undefined : clock.elapsedMs() - heardMs),
    sync(): SyncProgress | undefined {
      const current = head()
      return isBehind ? { starting, current, highest: Math.max(current, highest) } : undefined
    },
  }
}
