/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/**
 * The result, unless the signal is aborted before: nobody waits for it then.
 * @throws the signal's reason
 */
export async function abortable<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  const first = await Promise.race([result, aborted(signal)])
  signal.throwIfAborted()
  return first as T
}
