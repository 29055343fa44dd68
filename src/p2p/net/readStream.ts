import type { Stream } from '@libp2p/interface'

/**
 * Reads a stream to its end, or until `enoughBytes` have arrived.
 * @throws Error when more than `maxBytes` arrive; the signal's reason when it is aborted
 */
export async function readStream(
  stream: Stream,
  { maxBytes, enoughBytes = Number.POSITIVE_INFINITY }: { readonly maxBytes: number; readonly enoughBytes?: number },
  signal: AbortSignal,
): Promise<Uint8Array> {
  signal.throwIfAborted()
  const onAbort = (): void => stream.abort(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    const parts: Uint8Array[] = []
    let total = 0
    for await (const part of stream) {
      const bytes = part.subarray()
      total += bytes.length
      if (total > maxBytes) throw new Error(`more than ${maxBytes} bytes`)
      parts.push(bytes)
      if (total >= enoughBytes) break
    }
    signal.throwIfAborted()
    return parts.length === 1 && parts[0] ? parts[0] : new Uint8Array(Buffer.concat(parts))
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
