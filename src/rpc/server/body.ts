import { Buffer, isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { exceedsDepth } from '#lib/jsonDepth'
import { parseError, type RpcError } from '../errors.ts'
import { losesId, parseWithIds } from './messages.ts'

/** Body of a request. `cut`: the client disconnected early. `busy`: other requests hold the whole budget. */
export type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too-big' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'cut' }

/** Bounds the bytes that the bodies of all requests hold together. */
export class ByteBudget {
  readonly maxBytes: number
  #left: number

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
    this.#left = maxBytes
  }

  /** @param freeBytes of this hold that do not count; another limit must bound them */
  hold(freeBytes = 0): Hold {
    return new Hold(this, freeBytes)
  }

  /** Called by a hold. @returns whether that many bytes were left */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#left += bytes
  }
}

/** Bytes of each body that do not count: the number of connections bounds them, so large bodies cannot block small ones. */
export const freeBodyBytes = 65_536

/** Bytes that one request holds of a budget. Disposing of it returns them. */
export class Hold implements Disposable {
  readonly #budget: ByteBudget
  #free: number
  #held = 0

  constructor(budget: ByteBudget, freeBytes: number) {
    this.#budget = budget
    this.#free = freeBytes
  }

  /** @returns whether that many bytes were left */
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
 * Reads a request's body. A body over `maxBytes`, or over the budget, resolves at once. The rest of it is read and dropped, up to twice the limit,
 * so that the client can read the answer; then the connection ends.
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

/** Bounds of a request's nesting and values; no method needs more. Base's client has the same depth (serde_json, "recursion limit"). */
const [maxLevels, maxValues] = [128, 1_000_000]
/** Values of a message that is parsed with the text of its ids, which takes a microsecond for each. */
const maxSlowValues = 4_096
/** A body up to this size parses within microseconds, whatever its content. */
const unscannedBytes = 1_024

/** Parses a body after a check of its bounds: `JSON.parse` takes seconds for a hostile body. */
export function parseBody(bytes: Buffer): { readonly value: unknown } | { readonly refused: RpcError } {
  if (!isUtf8(bytes)) return { refused: parseError() }
  if (bytes.length > unscannedBytes && exceedsDepth(bytes, maxLevels, maxValues))
    return { refused: parseError(`nested deeper than ${maxLevels} levels, or more than ${maxValues} values`) }
  try {
    const text = bytes.toString('utf8')
    const value: unknown = JSON.parse(text)
    return { value: losesId(value) && !exceedsDepth(bytes, maxLevels, maxSlowValues) ? parseWithIds(text) : value }
  } catch {
    return { refused: parseError() }
  }
}
