import { Fault } from '#lib/fault'

/**
 * Runs what ends by a throw only: by the signal's reason, or by a fault.
 * @param onFault told of the Fault that ended it
 * @throws what it throws; once the signal is aborted, only a fatal Fault
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
