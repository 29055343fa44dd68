import type { SendersAhead } from '#block/execution/senders'
import type { PendingOutcome, PendingPort } from '#pending/pendingPort'
import type { Flashblock } from '#types/flashblock'
import type { FlashblockLocation } from '#types/pendingBlock'
import type { WorkerCalls } from '../calls.ts'
import { sendersIn } from '../senderTable.ts'
import type { SenderThreads } from '../senderThreads.ts'
import { packFlashblock, unpack } from './packedBlocks.ts'
import type { PendingAnswers, PendingCall } from './protocol.ts'

/** `PendingPort` that takes senders which other threads recover. */
export type PendingWithSenders = PendingPort & {
  take(flashblock: Flashblock, after: FlashblockLocation | undefined, freshUntilMs: number, ahead?: SendersAhead): Promise<PendingOutcome>
}

/** Answers one call of a client's `pending`. */
export async function answerPending(pending: PendingWithSenders, call: PendingCall): Promise<PendingAnswers[keyof PendingAnswers]> {
  if (call.method === 'pendingTake') return pending.take(unpack(call.flashblock), call.after, call.freshUntilMs, sendersIn(call.senders))
  await pending.drop(call.reason)
  return undefined
}

/** Leaves out the rest of a pending block. */
const locationOf = ({ number, payloadId, index }: FlashblockLocation): FlashblockLocation => ({ number, payloadId, index })

/** Creates a client for the pending blocks of another thread. */
export function createPendingClient(calls: Pick<WorkerCalls, 'call'>, threads: Pick<SenderThreads, 'post'> | undefined): PendingPort {
  return {
    async take(flashblock, after, freshUntilMs): Promise<PendingOutcome> {
      const packed = packFlashblock(flashblock)
      using senders = threads?.post(packed.transactions)
      const call = { method: 'pendingTake', flashblock: packed, after: after && locationOf(after), freshUntilMs } as const
      return await calls.call({ ...call, senders: senders?.memory })
    },
    drop: async (reason) => void (await calls.call({ method: 'pendingDrop', reason })),
  }
}
