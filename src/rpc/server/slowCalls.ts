import { networkOfClient } from '#lib/clientName'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import { type CostClass, isSubmission } from '../registry.ts'
import { shownParams } from './shownParams.ts'

/** A call that took at least the threshold. */
export type SlowCall = {
  readonly method: string
  readonly cost: CostClass
  /** from the parsed request to the encoded answer */
  readonly ms: number
  /** of these, until the call had its turn */
  readonly queueMs: number
  /** length of the answer */
  readonly answerBytes: number
  /** code of the error; absent: the call has a result */
  readonly errorCode?: number
  readonly params: readonly unknown[]
  /** address of the connection's other end; absent: not known */
  readonly address?: string | undefined
}

/** Where slow calls are reported. */
export type SlowCalls = { readonly thresholdMs: number; note(call: SlowCall): void }

/** Reported lines in one window. */
export const slowLogLimits = { lines: 10, windowMs: 10_000 }

/**
 * Writes a line for each slow call, at most ten in ten seconds; the next line has the number of those left out. Of the client it has the network, of the
 * parameters a short form without free text.
 * @param onSlow called for each call with a line
 */
export function createSlowLog(
  { clock, log, onSlow }: { readonly clock: Clock; readonly log: Log; readonly onSlow?: ((call: SlowCall) => void) | undefined },
  thresholdMs: number,
): SlowCalls {
  let [windowEndMs, lines, dropped] = [0, 0, 0]
  return {
    thresholdMs,
    note(call): void {
      const nowMs = clock.elapsedMs()
      if (nowMs >= windowEndMs) [windowEndMs, lines] = [nowMs + slowLogLimits.windowMs, 0]
      if (lines >= slowLogLimits.lines) {
        dropped++
        return
      }
      lines++
      onSlow?.(call)
      const { method, cost, ms, queueMs, answerBytes, errorCode, params, address } = call
      log.warn('slow request', {
        ...{ method, class: cost, ms: Math.round(ms), queueMs: Math.round(queueMs), answerBytes },
        ...(errorCode !== undefined && { errorCode }),
        ...(address !== undefined && { client: networkOfClient(address) }),
        params: isSubmission(cost) ? `(${params.length} not shown)` : shownParams(params),
        ...(dropped > 0 && { dropped }),
      })
      dropped = 0
    },
  }
}
