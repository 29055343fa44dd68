import type { MessagePort } from 'node:worker_threads'
import { restoreError } from '#lib/errorTransfer'
import type { CallNews, ToWorker, WorkerAnswers, WorkerCall } from './wire/protocol.ts'

type Pending = {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Error) => void
  readonly onForcedExecuted: (() => void) | undefined
}

/** Unanswered calls to another thread. */
export class WorkerCalls {
  readonly #port: Pick<MessagePort, 'postMessage'>
  readonly #pending = new Map<number, Pending>()
  #last = 0
  #failure: Error | undefined

  constructor(port: Pick<MessagePort, 'postMessage'>) {
    this.#port = port
  }

  /** Returns the id for the next call. */
  newId(): number {
    return ++this.#last
  }

  call<C extends WorkerCall>(call: C, id = this.newId(), onForcedExecuted?: () => void): Promise<WorkerAnswers[C['method']]> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure)
      this.#pending.set(id, { resolve: resolve as Pending['resolve'], reject, onForcedExecuted })
      this.#port.postMessage({ kind: 'call', id, call } satisfies ToWorker)
    })
  }

  take(news: CallNews): void {
    switch (news.kind) {
      case 'answer':
        this.#settled(news.id)?.resolve(news.answer)
        break
      case 'refusal':
        this.#settled(news.id)?.reject(restoreError(news.error))
        break
      case 'forced-executed':
        this.#pending.get(news.id)?.onForcedExecuted?.()
        break
    }
  }

  /** Rejects all calls, unanswered and later ones, with the error. */
  fail(error: Error): void {
    this.#failure = error
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }

  #settled(id: number): Pending | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    return pending
  }
}
