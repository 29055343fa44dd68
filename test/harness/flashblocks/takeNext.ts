import type { Execution } from '#blockchain/execution'
import type { PendingOutcome } from '#pending/pendingPort'
import type { Flashblock } from '#types/flashblock'

/** Executes a flashblock as if it had been placed on the present head and pending blocks. */
export function takeNext(
  { published, pending }: Pick<Execution, 'published' | 'pending'>,
  flashblock: Flashblock,
  freshUntilMs = Number.MAX_SAFE_INTEGER,
): Promise<PendingOutcome> {
  return pending.take(flashblock, published.pending?.blocks.at(-1), freshUntilMs)
}
