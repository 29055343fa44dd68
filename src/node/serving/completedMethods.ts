import { MissingState, type WantedState } from '#evm/ports'
import type { Clock } from '#lib/clock'
import type { Result } from '#rpc/json'
import { costClasses, type Method, type Registry } from '#rpc/registry'

/** Maximum number of parts that one call may wait for. */
const maxParts = 1_000

/** Share of the method's time limit spent waiting for parts; the rest is left to return an error that names the missing part. */
const waitingShare = 0.8

/** Fetches and stores a part. @param withinMs longest wait */
type Complete = (wanted: WantedState, withinMs: number) => Promise<void>

/**
 * Returns the registry for a state that may be partial (ADR 0043): a call that lacks a part of it is run again once the part is stored. The time of its cost
 * class bounds it. A synchronous call that lacks nothing stays synchronous.
 */
export function withCompletion<Context>(
  registry: Registry<Context>,
  clock: Pick<Clock, 'elapsedMs'>,
  complete: Complete,
): Registry<Context> {
  return new Map([...registry].map(([name, method]) => [name, completed(method, clock, complete)]))
}

function completed<Context>(method: Method<Context>, clock: Pick<Clock, 'elapsedMs'>, complete: Complete): Method<Context> {
  async function again(error: unknown, run: () => Result | Promise<Result>): Promise<Result> {
    const untilMs = clock.elapsedMs() + waitingShare * costClasses[method.cost].timeoutMs
    for (let missing = error, parts = 0; ; parts++) {
      if (!(missing instanceof MissingState) || parts === maxParts) throw missing
      await complete(missing.wanted, Math.max(0, Math.round(untilMs - clock.elapsedMs())))
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
