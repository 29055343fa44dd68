/**
 * The result, unless the signal is aborted before: nobody waits for it then. The signal may outlive the result, so it is let go of.
 * @throws the signal's reason
 */
export async function abortable<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let onAbort = (): void => {}
  const over = new Promise<never>((_, reject) => {
    onAbort = (): void => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([result, over])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
