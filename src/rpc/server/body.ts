import { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'

/** `cut`: the client went away before the end. */
export type Body = { readonly kind: 'whole'; readonly bytes: Uint8Array } | { readonly kind: 'too-big' } | { readonly kind: 'cut' }

/**
 * Reads a request's body. One that is too big is answered at once; what still comes is read and dropped, so that the client gets to see
 * the answer, up to as much again; then the connection ends.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let length = 0
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) resolve({ kind: 'too-big' })
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= maxBytes) {
        chunks.push(chunk)
        return
      }
      chunks.length = 0
      resolve({ kind: 'too-big' })
      if (length > maxBytes * 2) request.destroy()
    })
    request.once('end', () => resolve({ kind: 'whole', bytes: Buffer.concat(chunks) }))
    request.on('error', () => resolve({ kind: 'cut' }))
    request.once('close', () => resolve({ kind: 'cut' }))
  })
}

/** undefined when the bytes are not UTF-8 or not JSON. */
export function parseJson(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown }
  } catch {
    return undefined
  }
}
