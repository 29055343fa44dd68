import { expect, it } from 'vitest'
import { settle } from '#test/harness/clock'
import { type TaskKind, TaskQueue, taskKinds } from './taskQueue.ts'

const { signal } = new AbortController()

/** Queue whose first task runs until it is released; further tasks wait. */
function create() {
  const queue = new TaskQueue()
  const ran: string[] = []
  let release = (): void => {}
  const first = queue.run('finalize', signal, () => new Promise<void>((resolve) => (release = resolve)))
  const add = (kind: TaskKind, name: string, of = signal): Promise<string> => queue.run(kind, of, async () => `${ran.push(name)} ${name}`)
  return { queue, ran, add, release: () => release(), first }
}

it('consensus/taskQueue: runs one task at a time, the highest kind first, in order of arrival within a kind', async () => {
  const { queue, ran, add, release, first } = create()
  const kinds = taskKinds.toReversed()
  const tasks = [...kinds, ...kinds].map((kind, at) => add(kind, `${kind} ${at < kinds.length ? 1 : 2}`))
  expect(queue.size).toBe(2 * taskKinds.length)
  await settle()
  expect(ran).toEqual([])
  release()
  await Promise.all([first, ...tasks])
  expect(ran).toEqual(taskKinds.flatMap((kind) => [`${kind} 1`, `${kind} 2`]))
})

it("consensus/taskQueue: rejects with a task's error, then runs the next task", async () => {
  const { queue, add, release } = create()
  const failing = queue.run('build', signal, () => Promise.reject(new Error('no')))
  const next = add('insert', 'next')
  release()
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('1 next')
})

it('consensus/taskQueue: never runs a task that is aborted before its turn', async () => {
  const { queue, ran, add, release } = create()
  const control = new AbortController()
  const aborted = add('build', 'aborted', control.signal)
  const kept = add('insert', 'kept')
  control.abort(new Error('stop'))
  await expect(aborted).rejects.toThrow('stop')
  await expect(add('build', 'late', control.signal)).rejects.toThrow('stop')
  expect(queue.size).toBe(1)
  release()
  await kept
  expect(ran).toEqual(['kept'])
})

it('consensus/taskQueue: two callers that await each task both make progress, whatever their kinds', async () => {
  const queue = new TaskQueue()
  const ran: TaskKind[] = []
  const give = async (kind: TaskKind): Promise<void> => {
    for (let turn = 0; turn < 4; turn++) await queue.run(kind, signal, async () => void ran.push(kind))
  }
  await Promise.all([give('insert'), give('build')])
  expect(ran.slice(0, 6).filter((kind) => kind === 'insert').length).toBeGreaterThanOrEqual(2)
  expect(ran).toHaveLength(8)
})
