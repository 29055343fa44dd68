import { MissingState, type WantedState } from '#evm/ports'
import type { Result } from '#rpc/json'
import type { Method, Registry } from '#rpc/registry'

/** Most parts that one call may wait for. */
const maxParts = 1_000

/**
 * Returns the registry for a state that may be partial (ADR 0043): a call that lacks a part of it is run again once the part is stored. The time of its cost
 * class bounds it. A synchronous call that lacks nothing stays synchronous.
 * @param complete fetches and stores a part
 */
export function withCompletion<Context>(registry: Registry<Context>, complete: (wanted: WantedState) => Promise<void>): Registry<Context> {
  return new Map([...registry].map(([name, method]) => [name, completed(method, complete)]))
}

function completed<Context>(method: Method<Context>, complete: (wanted: WantedState) => Promise<void>): Method<Context> {
  async function again(error: unknown, run: () => Result | Promise<Result>): Promise<Result> {
    for (let missing = error, parts = 0; ; parts++) {
      if (!(missing instanceof MissingState) || parts === maxParts) throw missing
      await complete(missing.wanted)
      try {
        return await run()
      } catch (next) {
        missing = next
      }
    }
  }
  return {
    ...method,
    call(context, params): Result | Promise<Result> {
      const run = (): Result | Promise<Result> => method.call(context, params)
      try {
        const result = run()
        return result instanceof Promise ? result.catch((error) => again(error, run)) : result
      } catch (error) {
        if (error instanceof MissingState) return again(error, run)
        throw error
      }
    },
  }
}
