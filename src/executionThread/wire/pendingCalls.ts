import type { SendersAhead } from '#block/execution/senders'
import type { PendingOutcome, PendingPort } from '#pending/pendingPort'
import type { Flashblock, ReceivedFlashblock } from '#types/flashblock'
import type { FlashblockLocation } from '#types/pendingBlock'
import type { WorkerCalls } from '../calls.ts'
import { SenderTable, sendersIn } from '../senderTable.ts'
import type { SenderThreads } from '../senderThreads.ts'
import { packFlashblock, unpack } from './packedBlocks.ts'
import type { PendingAnswers, PendingCall } from './protocol.ts'

/** `PendingPort` that takes senders which other threads recover. */
export type PendingWithSenders = PendingPort & {
  take(flashblock: Flashblock, after: FlashblockLocation | undefined, freshUntilMs: number, ahead?: SendersAhead): Promise<PendingOutcome>
}

/** Answers one call of a client's `pending`. */
export async function answerPending(pending: PendingWithSenders, call: PendingCall): Promise<PendingAnswers[keyof PendingAnswers]> {
  if (call.method === 'pendingTake') {
    const { flashblock, after, freshUntilMs } = call
    return pending.take(unpack<Flashblock>(flashblock), after, freshUntilMs, sendersIn(flashblock.senders))
  }
  await pending.drop(call.reason)
  return undefined
}

/** Leaves out the rest of a pending block. */
const locationOf = ({ number, payloadId, index }: FlashblockLocation): FlashblockLocation => ({ number, payloadId, index })

/** Creates a client for the pending blocks of another thread. Its `take` ends the recovery of a flashblock's senders. */
export function createPendingClient(calls: Pick<WorkerCalls, 'call'>, threads: Pick<SenderThreads, 'count'> | undefined): PendingPort {
  return {
    async take(flashblock: ReceivedFlashblock, after, freshUntilMs): Promise<PendingOutcome> {
      using _senders = flashblock.senders && new SenderTable(flashblock.senders, (counts) => threads?.count(counts))
      const packed = packFlashblock(flashblock)
      return await calls.call({ method: 'pendingTake', flashblock: packed, after: after && locationOf(after), freshUntilMs })
    },
    drop: async (reason) => void (await calls.call({ method: 'pendingDrop', reason })),
  }
}
