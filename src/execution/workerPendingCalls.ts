import type { Increment } from '#types/increment'
import type { PendingPort } from './pendingPort.ts'
import { aloneIn, type Packed, packBytes, unpack } from './workerBlocks.ts'
import type { WorkerCalls } from './workerCalls.ts'
import type { PendingAnswers, PendingCall } from './workerProtocol.ts'

/** Answers one call of a client's `pending`. */
export async function answerPending(pending: PendingPort, call: PendingCall): Promise<PendingAnswers[keyof PendingAnswers]> {
  if (call.method === 'pendingTake') return pending.take(unpack(call.increment), call.freshUntilMs)
  await pending.drop(call.reason)
  return undefined
}

const packIncrement = ({ base, outcome, transactions, ...place }: Increment): Packed<Increment> => ({
  ...place,
  ...(base && { base: aloneIn(base) }),
  outcome: aloneIn(outcome),
  transactions: packBytes(transactions),
})

/** The blocks that are not sealed of another thread. */
export function createPendingClient(calls: Pick<WorkerCalls, 'call'>): PendingPort {
  return {
    take: (increment, freshUntilMs) => calls.call({ method: 'pendingTake', increment: packIncrement(increment), freshUntilMs }),
    drop: async (reason) => void (await calls.call({ method: 'pendingDrop', reason })),
  }
}
