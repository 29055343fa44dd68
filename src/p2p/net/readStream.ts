import type { Stream, StreamMessageEvent } from '@libp2p/interface'

/**
 * Reads a stream to its end, or until `enoughBytes` have arrived. Also reads what arrived before the call, and streams that both ends have closed
 * since: the stream's own iterator waits forever for the end of those.
 * @throws Error when more than `maxBytes` arrive, and when the peer resets the stream; the signal's reason when it is aborted
 */
export async function readStream(
  stream: Stream,
  { maxBytes, enoughBytes = Number.POSITIVE_INFINITY }: { readonly maxBytes: number; readonly enoughBytes?: number },
  signal: AbortSignal,
): Promise<Uint8Array> {
  signal.throwIfAborted()
  const parts: Uint8Array[] = []
  let total = 0
  const done = Promise.withResolvers<void>()
  const onMessage = ({ data }: StreamMessageEvent): void => {
    total += data.byteLength
    parts.push(data.subarray())
    if (total > maxBytes) done.reject(new Error(`more than ${maxBytes} bytes`))
    else if (total >= enoughBytes) done.resolve()
  }
  const isReset = (): boolean => stream.status === 'reset' || stream.status === 'aborted'
  const onEnd = (): void => {
    // a reset also ends the readable side, before it is reported as a close
    if (isReset()) done.reject(new Error('the peer has reset the stream'))
    else done.resolve()
  }
  const onClose = ({ error }: { readonly error?: Error }): void => {
    if (error !== undefined) done.reject(error)
  }
  const onAbort = (): void => done.reject(signal.reason)
  stream.addEventListener('message', onMessage)
  stream.addEventListener('end', onEnd)
  stream.addEventListener('close', onClose)
  signal.addEventListener('abort', onAbort, { once: true })
  if (isReset() || stream.readableEnded) onEnd()
  try {
    await done.promise
    return parts.length === 1 && parts[0] ? parts[0] : new Uint8Array(Buffer.concat(parts))
  } finally {
    stream.removeEventListener('message', onMessage)
    stream.removeEventListener('end', onEnd)
    stream.removeEventListener('close', onClose)
    signal.removeEventListener('abort', onAbort)
  }
}
