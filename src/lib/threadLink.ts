import { restoreError, type TransferredError, transferError } from './errorTransfer.ts'

/** Functions that one thread offers to another, by name. Arguments and results must be cloneable. */
export type Answers<T> = { readonly [N in keyof T]: (...args: never[]) => unknown }

type Crossing =
  | { readonly kind: 'ask'; readonly id: number; readonly name: string; readonly args: readonly never[] }
  | { readonly kind: 'tell'; readonly name: string; readonly args: readonly never[] }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly error: TransferredError }

type Waiting = { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }

type ArgsOf<F> = F extends (...args: infer A) => unknown ? A : never
type AnswerOf<F> = F extends (...args: never[]) => infer R ? Awaited<R> : never

export type ThreadLinkDeps<Here> = {
  /** Sends a message to the other thread, whose link must `receive` it. */
  readonly post: (message: unknown) => void
  readonly here: Here
  /** Called with the error of a one-way request, which has no caller to reject. */
  readonly onFailure: (error: unknown) => void
}

/** Request and response between two threads, in both directions. Each request is answered once, with a result or with the error thrown. */
export class ThreadLink<There extends Answers<There>, Here extends Answers<Here>> {
  readonly #deps: ThreadLinkDeps<Here>
  readonly #waiting = new Map<number, Waiting>()
  #last = 0
  #end: Error | undefined

  constructor(deps: ThreadLinkDeps<Here>) {
    this.#deps = deps
  }

  ask<N extends keyof There & string>(name: N, ...args: ArgsOf<There[N]>): Promise<AnswerOf<There[N]>> {
    return new Promise((resolve, reject) => {
      if (this.#end) return reject(this.#end)
      const id = ++this.#last
      this.#waiting.set(id, { resolve: resolve as Waiting['resolve'], reject })
      this.#post({ kind: 'ask', id, name, args: args as readonly never[] })
    })
  }

  /** Sends a request without waiting for an answer. */
  tell<N extends keyof There & string>(name: N, ...args: ArgsOf<There[N]>): void {
    this.#post({ kind: 'tell', name, args: args as readonly never[] })
  }

  /** Handles a message from the other thread. */
  receive(message: unknown): void {
    const crossing = message as Crossing
    switch (crossing.kind) {
      case 'ask':
        void this.#answer(crossing.id, crossing.name, crossing.args)
        break
      case 'tell':
        void this.#run(crossing.name, crossing.args).catch(this.#deps.onFailure)
        break
      case 'answer':
        this.#settled(crossing.id)?.resolve(crossing.value)
        break
      case 'refusal':
        this.#settled(crossing.id)?.reject(restoreError(crossing.error))
        break
    }
  }

  /** Called when the other thread has ended: pending and later requests reject with the error. */
  end(error: Error): void {
    this.#end ??= error
    for (const { reject } of this.#waiting.values()) reject(this.#end)
    this.#waiting.clear()
  }

  async #run(name: string, args: readonly never[]): Promise<unknown> {
    return await this.#deps.here[name as keyof Here](...args)
  }

  async #answer(id: number, name: string, args: readonly never[]): Promise<void> {
    try {
      this.#post({ kind: 'answer', id, value: await this.#run(name, args) })
    } catch (error) {
      this.#post({ kind: 'refusal', id, error: transferError(error) })
    }
  }

  #post(crossing: Crossing): void {
    this.#deps.post(crossing)
  }

  #settled(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting
  }
}
