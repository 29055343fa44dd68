import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Removes a file from the page cache (posix_fadvise by dd). No process may have the file mapped. Linux only. */
export function dropFromPageCache(file: string): void {
  execFileSync('sync', [file])
  execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none'])
}

/** Returns the bytes of a file that are in the page cache. */
export function cachedBytes(file: string): number {
  return Number(execFileSync('fincore', ['--bytes', '--noheadings', '--output', 'RES', file], { encoding: 'utf8' }))
}

/** Limit of the memory of processes, the pages of files that they read included. */
export type MemoryLimit = Disposable & { add(pid: number): void }

/** Creates a control group, version 1 or 2. Requires root. */
export function limitMemory(bytes: number): MemoryLimit {
  const isFirst = existsSync('/sys/fs/cgroup/memory')
  const group = join(isFirst ? '/sys/fs/cgroup/memory' : '/sys/fs/cgroup', `basalt-bench-${process.pid}`)
  mkdirSync(group)
  writeFileSync(join(group, isFirst ? 'memory.limit_in_bytes' : 'memory.max'), String(bytes))
  return {
    add: (pid) => writeFileSync(join(group, 'cgroup.procs'), String(pid)),
    [Symbol.dispose]: () => rmdirSync(group),
  }
}

/** Disk use of processes since their start, threads included: bytes read from the disk, page faults that waited for them, bytes written to files and sockets. */
export type DiskUse = { readonly bytes: number; readonly faults: number; readonly written: number }

export function diskUse(pids: readonly number[]): DiskUse {
  const [bytes, faults, written] = [[0], [0], [0]]
  for (const pid of pids) {
    const io = readFileSync(`/proc/${pid}/io`, 'utf8')
    bytes.push(Number(/^read_bytes: (\d+)$/m.exec(io)?.[1] ?? 0))
    written.push(Number(/^wchar: (\d+)$/m.exec(io)?.[1] ?? 0))
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const major = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[9]
    faults.push(Number(major ?? 0))
  }
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
  return { bytes: sum(bytes), faults: sum(faults), written: sum(written) }
}
