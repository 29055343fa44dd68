import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CallMessage } from '../../callPorts.ts'
import type { CancellationToken } from '../../context.ts'
import { invalidInput, invalidParams, prunedHistory, timedOut, unsupported } from '../../errors.ts'
import type { Json } from '../../json.ts'
import type { TraceOutcome } from '../../tracePorts.ts'
import { outOfTime, outputOf } from '../eth/calls/callErrors.ts'

/**
 * What a tracer says, or the RpcError that tells why it says nothing.
 * @param message of a call
 */
export function tracedResult(outcome: TraceOutcome | 'pruned', message?: CallMessage): Json {
  if (outcome === 'pruned') throw prunedHistory()
  switch (outcome.kind) {
    case 'traced':
      return outcome.result
    case 'unsupported':
      throw unsupported(outcome.reason)
    case 'bad-request':
      throw invalidParams(outcome.reason)
    case 'refused':
      throw invalidInput(outcome.reason)
    case 'timeout':
      throw outOfTime(outcome.timeoutMs)
    case 'not-run':
      if (message !== undefined) outputOf(outcome.outcome, message)
      throw invalidInput('the call cannot run')
  }
}

/**
 * Works until there is nothing left to do, while others have their turns of the event loop.
 * @param work does some milliseconds of it. @returns false: there is more
 */
export async function inTurns(cancellation: CancellationToken, work: () => boolean | 'pruned'): Promise<void> {
  while (work() === false) {
    await nextTurn()
    if (cancellation.isCancelled) throw timedOut()
  }
}

/** `then` once the work is done: at once, if one turn is enough for it. */
export function whenReady<T>(cancellation: CancellationToken, work: () => boolean | 'pruned', then: () => T): T | Promise<T> {
  return work() === false ? inTurns(cancellation, work).then(then) : then()
}
