/** Work of a stage for one block: milliseconds of processor time, on a thread of its own or spread over several. */
export type Stage = {
  readonly name: string
  readonly ms: number
  /** stages of the same block that must end before this one begins */
  readonly after: readonly string[]
  /** stages of the block before that must end before this one begins */
  readonly afterPrevious: readonly string[]
  /** thread that does the work; stages of one thread run one after the other, in the order of blocks */
  readonly thread: string
  /** threads that share the work. Absent: 1 */
  readonly threads?: number
}

/** A simulated run. */
export type Schedule = {
  readonly ms: number
  /** part of the run in which a thread has work, by name */
  readonly busy: Readonly<Record<string, number>>
  /** cores in use in the mean */
  readonly usedCores: number
  /** maximum number of threads, by name, that have work at the same time */
  readonly mostAtOnce: number
}

type Task = { readonly stage: Stage; readonly block: number; leftMs: number; isDone: boolean }

/**
 * Simulates blocks that pass through stages. Threads that have work share the cores equally, and a thread uses one core at most, as the fair scheduler
 * of an operating system does in the mean. Memory and caches are not modelled.
 */
export function simulate(stages: readonly Stage[], blocks: number, cores: number): Schedule {
  const tasks = Array.from({ length: blocks }, (_, block) =>
    stages.map((stage): Task => ({ stage, block, leftMs: stage.ms, isDone: false })),
  )
  const done = (block: number, name: string): boolean =>
    block < 0 || tasks[block]?.find(({ stage }) => stage.name === name)?.isDone === true
  const isReady = ({ stage, block }: Task): boolean =>
    stage.after.every((name) => done(block, name)) && stage.afterPrevious.every((name) => done(block - 1, name))
  const busyMs: Record<string, number> = {}
  let nowMs = 0
  let workMs = 0
  let mostAtOnce = 0
  for (let open = tasks.flat(); open.length > 0; open = open.filter(({ isDone }) => !isDone)) {
    const running = firstOfThreads(open.filter(isReady))
    if (running.length === 0) throw new RangeError(`the stages wait for each other at block ${open[0]?.block}`)
    mostAtOnce = Math.max(mostAtOnce, running.length)
    const wanted = running.reduce((sum, { stage }) => sum + (stage.threads ?? 1), 0)
    const share = Math.min(1, cores / wanted)
    const rateOf = ({ stage }: Task): number => (stage.threads ?? 1) * share
    const stepMs = Math.min(...running.map((task) => task.leftMs / rateOf(task)))
    workMs += stepMs * Math.min(wanted, cores)
    nowMs += stepMs
    for (const task of running) {
      busyMs[task.stage.thread] = (busyMs[task.stage.thread] ?? 0) + stepMs
      task.leftMs -= stepMs * rateOf(task)
      task.isDone = task.leftMs < 1e-9
    }
  }
  const busy = Object.fromEntries(Object.entries(busyMs).map(([thread, ms]) => [thread, ms / nowMs]))
  return { ms: nowMs, busy, usedCores: workMs / nowMs, mostAtOnce }
}

/** Returns the oldest task of each thread. @param ready in the order of blocks */
function firstOfThreads(ready: readonly Task[]): readonly Task[] {
  const byThread = new Map<string, Task>()
  for (const task of ready) if (!byThread.has(task.stage.thread)) byThread.set(task.stage.thread, task)
  return [...byThread.values()]
}
