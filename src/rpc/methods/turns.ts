import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CancellationToken } from '../context.ts'
import { timedOut } from '../errors.ts'

/** @throws RpcError −32002 when the call was cancelled */
export function throwIfCancelled(cancellation: CancellationToken): void {
  if (cancellation.isCancelled) throw timedOut()
}

/** Yields to the event loop. @throws RpcError −32002 when the call was cancelled */
export async function yieldTurn(cancellation: CancellationToken): Promise<void> {
  await nextTurn()
  throwIfCancelled(cancellation)
}

/**
 * Does work in slices until it is finished, with a turn of the event loop between them.
 * @param work does some milliseconds of work; returns false while more is left
 */
export async function inTurns(cancellation: CancellationToken, work: () => boolean | 'pruned'): Promise<void> {
  while (work() === false) await yieldTurn(cancellation)
}

/** Runs `then` after the work; synchronously when one slice is enough. */
export function whenReady<T>(cancellation: CancellationToken, work: () => boolean | 'pruned', then: () => T): T | Promise<T> {
  return work() === false ? inTurns(cancellation, work).then(then) : then()
}
