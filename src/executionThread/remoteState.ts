import { restoreError } from '#lib/errorTransfer'
import type { FetchedState } from '#state/fetchedState'
import type { StateRequest, StateSource } from '#state/stateSource'
import type { FetchedAnswer, FromWorker } from './wire/protocol.ts'

/** Source of state in the main thread, which requests it from other nodes. */
export class RemoteState implements StateSource {
  readonly #send: (message: FromWorker) => void
  readonly #waiting = new Map<number, PromiseWithResolvers<FetchedState>>()
  #next = 0

  constructor(send: (message: FromWorker) => void) {
    this.#send = send
  }

  fetch(request: StateRequest): Promise<FetchedState> {
    const id = this.#next++
    const answer = Promise.withResolvers<FetchedState>()
    this.#waiting.set(id, answer)
    this.#send({ kind: 'state-wanted', id, request })
    return answer.promise
  }

  take(message: FetchedAnswer): void {
    const answer = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if (message.kind === 'state') answer?.resolve(message.fetched)
    else answer?.reject(restoreError(message.error))
  }
}
