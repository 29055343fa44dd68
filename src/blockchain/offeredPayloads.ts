import type { ExecutionGuard } from '#block/execution/executionGuard'
import type { ExecutionWatch } from '#block/execution/executionWatch'
import { engineFault } from '#engine/faults'
import { BoundedMap } from '#lib/boundedMap'
import type { Clock } from '#lib/clock'
import { type Fault, isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'

export type OfferedPayloadsDeps = {
  readonly guard: ExecutionGuard
  readonly watch: ExecutionWatch
  readonly clock: Pick<Clock, 'elapsedMs'>
  readonly log: Log
}

const maxRemembered = 1_024
/** An abandoned payload is executed again after this multiple of its limit, so the thread stays free most of the time. */
const restFactor = 10
/** The limit doubles with each attempt, up to this multiple, so a valid block is executed on a slow machine too. */
const mostFactor = 8

type Abandoned = { readonly fault: Fault; readonly maxMs: number; readonly untilMs: number }

/**
 * Executes payloads of peers and callers, each within a time limit. A payload that exceeds it is neither valid nor invalid: its execution is abandoned,
 * and the payload is refused without execution for a while.
 */
export class OfferedPayloads {
  readonly #deps: OfferedPayloadsDeps
  readonly #maxMs: number
  readonly #abandoned = new BoundedMap<Hash, Abandoned>(maxRemembered)

  constructor(deps: OfferedPayloadsDeps, maxMs: number) {
    this.#deps = deps
    this.#maxMs = maxMs
  }

  /** @throws Fault BLOCK_NOT_EXECUTED, EXECUTION_CLOSING (retry) */
  execute<T>({ blockHash, blockNumber }: Pick<Payload, 'blockHash' | 'blockNumber'>, execute: () => T): T {
    const { clock, guard } = this.#deps
    const before = this.#abandoned.get(blockHash)
    if (before && clock.elapsedMs() < before.untilMs) throw before.fault
    const maxMs = before ? Math.min(2 * before.maxMs, mostFactor * this.#maxMs) : this.#maxMs
    const startMs = clock.elapsedMs()
    try {
      return guard.run(blockNumber, { maxMs }, execute)
    } catch (error) {
      const fault = abandonedBy(error, blockNumber)
      if (fault) this.#remember({ blockHash, blockNumber }, { fault, maxMs }, clock.elapsedMs() - startMs)
      throw fault ?? error
    }
  }

  #remember(
    { blockHash: hash, blockNumber: number }: Pick<Payload, 'blockHash' | 'blockNumber'>,
    { fault, maxMs }: Omit<Abandoned, 'untilMs'>,
    ms: number,
  ): void {
    const { clock, watch, log } = this.#deps
    this.#abandoned.set(hash, { fault, maxMs, untilMs: clock.elapsedMs() + restFactor * maxMs })
    watch.abandonedPayload(number, ms)
    log.warn('payload execution abandoned', { number, hash, ms: Math.round(ms), reason: fault.message, fix: fault.fix })
  }
}

/** Returns the fault of a payload whose execution was abandoned; undefined for any other error. */
function abandonedBy(error: unknown, number: number): Fault | undefined {
  if (isFault(error, 'BLOCK_NOT_EXECUTED')) return error
  return isFault(error, 'EVM_TOO_LARGE') ? engineFault('BLOCK_NOT_EXECUTED', { number, reason: error.message }, error) : undefined
}
