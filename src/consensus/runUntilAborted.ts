import { Fault } from '#lib/fault'

/**
 * Runs a task that ends only by throwing: the signal's reason or a fault.
 * @param onFault called with the Fault that ended the task
 * @throws the task's error; after an abort, only a fatal Fault
 */
export async function runUntilAborted(signal: AbortSignal, run: () => Promise<void>, onFault: (fault: Fault) => void): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (signal.aborted && !(error instanceof Fault && error.severity === 'fatal')) return
    if (error instanceof Fault) onFault(error)
    throw error
  }
}
