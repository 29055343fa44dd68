import type { Clock } from '#lib/clock'
import type { L1Ref } from '#types/blockRef'
import type { L1Source } from './ports.ts'

/** Last known heads of L1; undefined: L1 has no such block yet. */
export type L1Heads = { readonly latest: L1Ref | undefined; readonly safe: L1Ref | undefined; readonly finalized: L1Ref | undefined }

export type L1WatchOptions = {
  /** interval between polls of `latest` */
  readonly headPollMs: number
  /** interval between polls of `safe` and `finalized` */
  readonly labelPollMs: number
}

export interface L1Watch {
  readonly heads: L1Heads
  /** Time until the next poll; 0 when it is due. */
  dueInMs(): number
  /** Polls `latest`, and the other labels when they are due. A finalized block below the known one is ignored. */
  poll(signal: AbortSignal): Promise<void>
}

export function createL1Watch(deps: { readonly l1: Pick<L1Source, 'head'>; readonly clock: Clock }, options: L1WatchOptions): L1Watch {
  const { l1, clock } = deps
  let heads: L1Heads = { latest: undefined, safe: undefined, finalized: undefined }
  let headDueMs = Number.NEGATIVE_INFINITY
  let labelsDueMs = Number.NEGATIVE_INFINITY

  async function pollLabels(signal: AbortSignal): Promise<void> {
    const safe = await l1.head('safe', signal)
    const finalized = await l1.head('finalized', signal)
    const isNewer = finalized !== undefined && finalized.number >= (heads.finalized?.number ?? 0)
    heads = { ...heads, safe, finalized: isNewer ? finalized : heads.finalized }
    labelsDueMs = clock.elapsedMs() + options.labelPollMs
  }

  return {
    get heads(): L1Heads {
      return heads
    },
    dueInMs: () => Math.max(0, headDueMs - clock.elapsedMs()),
    async poll(signal): Promise<void> {
      const latest = await l1.head('latest', signal)
      heads = { ...heads, latest }
      if (clock.elapsedMs() >= labelsDueMs) await pollLabels(signal)
      headDueMs = clock.elapsedMs() + options.headPollMs
    },
  }
}
