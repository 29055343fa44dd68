import { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'

/** `cut`: the client went away before the end. `busy`: others hold too much already. */
export type Body =
  | { readonly kind: 'whole'; readonly bytes: Uint8Array }
  | { readonly kind: 'too-big' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'cut' }

/** What one request holds of a budget; disposing of it gives all back. */
export interface Hold extends Disposable {
  /** @returns whether there were as many bytes left */
  take(bytes: number): boolean
}

/** Bounds what the bodies of all requests hold together. */
export class ByteBudget {
  #left: number

  constructor(maxBytes: number) {
    this.#left = maxBytes
  }

  hold(): Hold {
    let held = 0
    return {
      take: (bytes): boolean => {
        if (bytes > this.#left) return false
        this.#left -= bytes
        held += bytes
        return true
      },
      [Symbol.dispose]: (): void => {
        this.#left += held
        held = 0
      },
    }
  }
}

/**
 * Reads a request's body. One that is too big, or that there is no room for, is answered at once; what still comes is read and dropped, so that
 * the client gets to see the answer, up to twice the limit; then the connection ends.
 */
export function readBody(request: IncomingMessage, maxBytes: number, hold: Hold): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let length = 0
    let isRefused = false
    const refuse = (kind: 'too-big' | 'busy'): void => {
      isRefused = true
      chunks.length = 0
      resolve({ kind })
    }
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) refuse('too-big')
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > maxBytes * 2) request.destroy()
      if (isRefused) return
      if (length > maxBytes) refuse('too-big')
      else if (hold.take(chunk.length)) chunks.push(chunk)
      else refuse('busy')
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
