import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CallMessage } from '../../callPorts.ts'
import type { CancellationToken } from '../../context.ts'
import { invalidInput, invalidParams, prunedHistory, timedOut, unsupported } from '../../errors.ts'
import type { Json } from '../../json.ts'
import type { TraceOutcome } from '../../tracePorts.ts'
import { outOfTime, outputOf } from '../eth/calls/callErrors.ts'

/**
 * Result of a tracer.
 * @param message present for a call
 * @throws RpcError with the reason when there is no result
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
 * Does work in slices until it is finished, with a turn of the event loop between them.
 * @param work does some milliseconds of work; returns false while more is left
 */
export async function inTurns(cancellation: CancellationToken, work: () => boolean | 'pruned'): Promise<void> {
  while (work() === false) {
    await nextTurn()
    if (cancellation.isCancelled) throw timedOut()
  }
}

/** Runs `then` after the work; synchronously when one slice is enough. */
export function whenReady<T>(cancellation: CancellationToken, work: () => boolean | 'pruned', then: () => T): T | Promise<T> {
  return work() === false ? inTurns(cancellation, work).then(then) : then()
}
