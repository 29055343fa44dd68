/**
 * Returns the result unless the signal is aborted before. The listener is removed, because the signal may outlive the result.
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
