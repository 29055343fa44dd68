import { readRpcAnswer } from '#types/jsonRpc'
import { l2Fault } from './faults.ts'

const limitPattern = /rate.?limit|too many requests|quota|throttl/i
const limitCodes: readonly number[] = [-32_005, -32_016, -32_029, 429]
/** Wait after a limit reported as a JSON-RPC error, which has no `Retry-After`. */
const limitWaitMs = 2_000
/** Error messages by which clients report that a label has no block yet. */
const noSuchBlock = /unknown block|not found/i

/** Runs at most `count` tasks at once, in order of arrival. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve)) // a finished task passes its slot on
    try {
      return await task()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
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
