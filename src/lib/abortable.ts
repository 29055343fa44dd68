/**
 * Returns the result unless the signal is aborted before; then a later failure of the result has no effect. The listener is removed, because the signal may
 * outlive the result.
 * @throws the signal's reason
 */
export async function abortable<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = Promise.withResolvers<never>()
  const onAbort = (): void => over.reject(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([over.promise, result])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
