import type { CallOutcome } from '#rpc/callPorts'

/** Maximum return data of all messages of a request, in bytes. Its hex is far below the maximum size of an answer. */
export const maxOutputBytes = 16_000_000

/** Bounds the return data that is kept for the messages of one request. */
export class OutputBound {
  #bytes = 0

  /** Counts the return data of a message. @returns whether all of it fits */
  take(outcome: CallOutcome): boolean {
    if ('output' in outcome) this.#bytes += outcome.output.length
    return this.#bytes <= maxOutputBytes
  }
}
