import { readdirSync, readFileSync } from 'node:fs'

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined // it has ended
  }
}

/** Returns a process and all its descendants. Linux only. */
export function processTree(root: number): readonly number[] {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(Number(name))]),
  )
  const isOfTree = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at)) if (at === root) return true
    return false
  }
  return [...parents.keys()].filter(isOfTree)
}

function kibOf(pid: number, field: string): number {
  try {
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** Resident memory of a process and its descendants in MB (2^20); `files`: pages of files, including the database's; `own`: the others. */
export function residentMb(root: number): { readonly all: number; readonly files: number; readonly own: number } {
  const tree = processTree(root)
  const sum = (field: string): number => tree.reduce((total, pid) => total + kibOf(pid, field), 0) / 1_024
  return { all: sum('VmRSS'), files: sum('RssFile'), own: sum('RssAnon') }
}

/** CPU time of a process and its descendants in seconds, user and system. */
export function cpuSec(root: number): number {
  const ticksPerSec = 100
  return processTree(root).reduce((total, pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return total + (Number(fields[11]) + Number(fields[12])) / ticksPerSec
    } catch {
      return total
    }
  }, 0)
}

/** CPU time of the threads of a process and its descendants in milliseconds, to the microsecond, summed by name. Linux only. */
export function threadsCpuMs(root: number): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const pid of processTree(root)) {
    for (const tid of readdirSync(`/proc/${pid}/task`)) {
      const place = `/proc/${pid}/task/${tid}`
      const name = readFileSync(`${place}/comm`, 'utf8').trimEnd()
      sums.set(name, (sums.get(name) ?? 0) + Number(readFileSync(`${place}/schedstat`, 'utf8').split(' ')[0]) / 1e6)
    }
  }
  return sums
}

const tasks = '/proc/self/task'
/** maximum length of a thread's name */
const nameLength = 15

/** Returns the threads of this process with a name, as `new Worker` set it. Linux only. */
export function threadsNamed(name: string): readonly number[] {
  return readdirSync(tasks)
    .map(Number)
    .filter((tid) => readFileSync(`${tasks}/${tid}/comm`, 'utf8').trimEnd() === name.slice(0, nameLength))
}

/** CPU time of a thread of this process in milliseconds, to the microsecond. */
export const threadCpuMs = (tid: number): number => Number(readFileSync(`${tasks}/${tid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
