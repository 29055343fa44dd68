import { Buffer, isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { exceedsDepth } from '#lib/jsonDepth'
import { parseError, type RpcError } from '../errors.ts'

/** `cut`: the client went away before the end. `busy`: others hold too much already. */
export type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too-big' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'cut' }

/** Bounds what the bodies of all requests hold together. */
export class ByteBudget {
  readonly maxBytes: number
  #left: number

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
    this.#left = maxBytes
  }

  /** @param freeBytes of one hold that do not count: what holds them is bounded otherwise */
  hold(freeBytes = 0): Hold {
    return new Hold(this, freeBytes)
  }

  /** Called by a hold. @returns whether there were as many bytes left */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }

  /** Called by a hold. */
  giveBack(bytes: number): void {
    this.#left += bytes
  }
}

/** So much of a body that arrives slowly does not count: the number of connections bounds it, and large bodies keep no small one out. */
export const freeBodyBytes = 65_536

/** What one request holds of a budget; disposing of it gives all back. */
export class Hold implements Disposable {
  readonly #budget: ByteBudget
  #free: number
  #held = 0

  constructor(budget: ByteBudget, freeBytes: number) {
    this.#budget = budget
    this.#free = freeBytes
  }

  /** @returns whether there were as many bytes left */
  take(bytes: number): boolean {
    const counted = Math.max(0, bytes - this.#free)
    if (!this.#budget.take(counted)) return false
    this.#free -= bytes - counted
    this.#held += counted
    return true
  }

  [Symbol.dispose](): void {
    this.#budget.giveBack(this.#held)
    this.#held = 0
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

/** No request that a method reads nests or holds more. Base's client refuses the same depth (serde_json, "recursion limit"). */
const [maxLevels, maxValues] = [128, 1_000_000]
/** A body of so many bytes is parsed within microseconds, whatever is in it. */
const unscannedBytes = 1_024

/** Parses a body. Its bounds are checked before, for `JSON.parse` takes seconds for a hostile one. */
export function parseBody(bytes: Buffer): { readonly value: unknown } | { readonly refused: RpcError } {
  if (!isUtf8(bytes)) return { refused: parseError() }
  if (bytes.length > unscannedBytes && exceedsDepth(bytes, maxLevels, maxValues))
    return { refused: parseError(`nested deeper than ${maxLevels} levels, or more than ${maxValues} values`) }
  try {
    return { value: JSON.parse(bytes.toString('utf8')) as unknown }
  } catch {
    return { refused: parseError() }
  }
}
