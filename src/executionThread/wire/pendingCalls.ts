import type { PendingPort } from '#pending/pendingPort'
import type { FlashblockLocation } from '#types/pendingBlock'
import type { WorkerCalls } from '../calls.ts'
import { packFlashblock, unpack } from './packedBlocks.ts'
import type { PendingAnswers, PendingCall } from './protocol.ts'

/** Answers one call of a client's `pending`. */
export async function answerPending(pending: PendingPort, call: PendingCall): Promise<PendingAnswers[keyof PendingAnswers]> {
  if (call.method === 'pendingTake') return pending.take(unpack(call.flashblock), call.after, call.freshUntilMs)
  await pending.drop(call.reason)
  return undefined
}

/** Leaves out the rest of a pending block. */
const locationOf = ({ number, payloadId, index }: FlashblockLocation): FlashblockLocation => ({ number, payloadId, index })

/** Creates a client for the pending blocks of another thread. */
export function createPendingClient(calls: Pick<WorkerCalls, 'call'>): PendingPort {
  return {
    take: (flashblock, after, freshUntilMs) =>
      calls.call({ method: 'pendingTake', flashblock: packFlashblock(flashblock), after: after && locationOf(after), freshUntilMs }),
    drop: async (reason) => void (await calls.call({ method: 'pendingDrop', reason })),
  }
}
