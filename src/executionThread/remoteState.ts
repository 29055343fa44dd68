import { executionFault } from '#block/faults'
import { restoreError } from '#lib/errorTransfer'
import type { FetchedState } from '#state/fetchedState'
import type { StateRequest, StateSource } from '#state/stateSource'
import type { FetchedAnswer, FromWorker } from './wire/protocol.ts'

const closing = (number: number): Error => executionFault('EXECUTION_CLOSING', { number })

/** Source of state in the main thread, which requests it from other nodes. */
export class RemoteState implements StateSource {
  readonly #send: (message: FromWorker) => void
  readonly #waiting = new Map<number, PromiseWithResolvers<FetchedState> & { readonly number: number }>()
  #next = 0
  #isClosed = false

  constructor(send: (message: FromWorker) => void) {
    this.#send = send
  }

  /** @throws those of the source; Fault EXECUTION_CLOSING (retry) */
  async fetch(request: StateRequest): Promise<FetchedState> {
    if (this.#isClosed) throw closing(request.at.number)
    const id = this.#next++
    const answer = Promise.withResolvers<FetchedState>()
    this.#waiting.set(id, { ...answer, number: request.at.number })
    this.#send({ kind: 'state-wanted', id, request })
    return answer.promise
  }

  /** Ends all requests, since no answer is read any more. */
  close(): void {
    this.#isClosed = true
    for (const { reject, number } of this.#waiting.values()) reject(closing(number))
    this.#waiting.clear()
  }

  take(message: FetchedAnswer): void {
    const answer = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if (message.kind === 'state') answer?.resolve(message.fetched)
    else answer?.reject(restoreError(message.error))
  }
}
