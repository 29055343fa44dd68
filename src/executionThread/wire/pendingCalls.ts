import { SharedSenders } from '#block/execution/sharedSenders'
import type { PendingOutcome, PendingPort } from '#pending/pendingPort'
import type { Flashblock } from '#types/flashblock'
import type { FlashblockLocation } from '#types/pendingBlock'
import type { WorkerCalls } from '../calls.ts'
import { packFlashblock, unpack } from './packedBlocks.ts'
import type { PendingAnswers, PendingCall } from './protocol.ts'

/** Execution of flashblocks whose senders another thread helps to recover. */
export type ServedPending = Omit<PendingPort, 'take'> & {
  take(flashblock: Flashblock, after: FlashblockLocation | undefined, freshUntilMs: number, senders: SharedSenders): Promise<PendingOutcome>
}

/** Answers one call of a client's `pending`. */
export async function answerPending(pending: ServedPending, call: PendingCall): Promise<PendingAnswers[keyof PendingAnswers]> {
  if (call.method === 'pendingTake')
    return pending.take(unpack(call.flashblock), call.after, call.freshUntilMs, new SharedSenders(call.senders))
  await pending.drop(call.reason)
  return undefined
}

/** Leaves out the rest of a pending block. */
const locationOf = ({ number, payloadId, index }: FlashblockLocation): FlashblockLocation => ({ number, payloadId, index })

/** Creates a client for the pending blocks of another thread. */
export function createPendingClient(calls: Pick<WorkerCalls, 'call'>): PendingPort {
  return {
    take(flashblock, after, freshUntilMs): Promise<PendingOutcome> {
      const { transactions } = flashblock
      const senders = SharedSenders.create(transactions.length)
      const answer = calls.call({
        method: 'pendingTake',
        flashblock: packFlashblock(flashblock),
        after: after && locationOf(after),
        freshUntilMs,
        senders,
      })
      new SharedSenders(senders).help(transactions)
      return answer
    },
    drop: async (reason) => void (await calls.call({ method: 'pendingDrop', reason })),
  }
}
