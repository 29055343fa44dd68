/**
 * Kinds of tasks, highest priority first. `start`: reads or sets heads at a start. `seal`: begins a sequencer's block, or makes it the unsafe head.
 */
export const taskKinds = ['start', 'seal', 'build', 'insert', 'consolidate', 'finalize'] as const
export type TaskKind = (typeof taskKinds)[number]

type Waiting = { readonly kind: TaskKind; readonly run: () => Promise<void>; readonly drop: (reason: unknown) => void }

/**
 * Runs one task at a time, the highest kind first, in order of arrival within a kind. A caller awaits its task before it adds another, so callers of
 * all kinds make progress. A task whose signal is aborted before its turn never runs.
 */
export class TaskQueue {
  readonly #waiting = new Map<TaskKind, Waiting[]>(taskKinds.map((kind) => [kind, []]))
  #isRunning = false

  /** Number of tasks that have not started. */
  get size(): number {
    let size = 0
    for (const list of this.#waiting.values()) size += list.length
    return size
  }

  /**
   * Adds a task.
   * @returns the result of the task; rejects with its error, or with the signal's reason when it is aborted before its turn
   */
  run<T>(kind: TaskKind, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const list = this.#waiting.get(kind) ?? []
      const onAbort = (): void => {
        list.splice(list.indexOf(waiting), 1)
        waiting.drop(signal.reason)
      }
      const waiting: Waiting = {
        kind,
        run: () => {
          signal.removeEventListener('abort', onAbort)
          return task().then(resolve, reject)
        },
        drop: reject,
      }
      list.push(waiting)
      signal.addEventListener('abort', onAbort, { once: true })
      if (!this.#isRunning) void this.#drain()
    })
  }

  async #drain(): Promise<void> {
    this.#isRunning = true
    for (let next = this.#next(); next; next = this.#next()) await next.run()
    this.#isRunning = false
  }

  #next(): Waiting | undefined {
    for (const kind of taskKinds) {
      const first = this.#waiting.get(kind)?.shift()
      if (first) return first
    }
    return undefined
  }
}
