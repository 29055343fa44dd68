import { abortable } from '#lib/abortable'
import { readRpcAnswer } from '#types/jsonRpc'
import { l2Fault } from './faults.ts'

const limitPattern = /rate.?limit|too many requests|quota|throttl/i
const limitCodes: readonly number[] = [-32_005, -32_016, -32_029, 429]
/** Wait after a limit reported as a JSON-RPC error, which has no `Retry-After`. */
const limitWaitMs = 2_000
/** Error messages by which clients report that a label has no block yet. */
const noSuchBlock = /unknown block|not found/i

/** Runs at most `count` tasks at once, in the order of the calls. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** @throws the signal's reason, when it is aborted before the task begins */
  async run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    if (this.#free > 0) this.#free--
    else await this.#turn(signal)
    try {
      return await task()
    } finally {
      this.#release()
    }
  }

  /** Waits for the slot of a finished task. */
  async #turn(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push(resolve)
    try {
      await abortable(promise, signal)
    } catch (error) {
      const at = this.#waiting.indexOf(resolve)
      if (at === -1) this.#release()
      else this.#waiting.splice(at, 1)
      throw error
    }
  }

  #release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}

/**
 * Returns the result in a JSON-RPC response.
 * @throws Fault SOURCE_RATE_LIMITED, SOURCE_RPC_ERROR (retry); ShapeError
 */
export function resultOf(endpoint: string, asked: string, value: unknown): unknown {
  const answer = readRpcAnswer(value)
  if (answer.kind === 'result') return answer.result
  const { code, message } = answer
  if (limitCodes.includes(code) || limitPattern.test(message))
    throw l2Fault('SOURCE_RATE_LIMITED', { endpoint, asked, retryAfterMs: limitWaitMs })
  throw l2Fault('SOURCE_RPC_ERROR', { endpoint, asked, code, isUnknownBlock: noSuchBlock.test(message) })
}
