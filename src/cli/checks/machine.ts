import { readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import { size } from '../textLayout.ts'
import type { Finding, FindingLevel } from './finding.ts'

/** Limits of the machine, the container and the user. */
export type MachineFacts = {
  readonly cores: number
  readonly memoryBytes: number
  /** limit of the cgroup; undefined: none */
  readonly cgroupBytes: number | undefined
  /** processors that the quota of the cgroup allows; undefined: no quota */
  readonly cgroupCpus: number | undefined
  /** soft limits; undefined: unlimited, or not known */
  readonly openFiles: number | undefined
  readonly addressSpaceBytes: number | undefined
  readonly fileBytes: number | undefined
  /** process 1 of a container is a program that does not reap orphans */
  readonly pid: number
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // another system, or another version of cgroups
  }
}

/** Reads a number of a file; undefined: `max`, absent, or a value that means no limit. */
function limitIn(text: string): number | undefined {
  const value = Number(text.trim())
  return text.trim() === '' || !Number.isFinite(value) || value <= 0 || value > 2 ** 60 ? undefined : value
}

/** Reads a soft limit of /proc/self/limits. */
function softLimit(limits: string, name: string): number | undefined {
  const [, soft] = new RegExp(`^${name} +(\\S+)`, 'm').exec(limits) ?? []
  return soft === undefined || soft === 'unlimited' ? undefined : Number(soft)
}

/**
 * Returns the folders of this process's cgroup and of those around it, whose limits hold too. A container may see its own one only, at the root.
 * @param controller of version 1; version 2 has none
 * @see cgroups(7), /proc/PID/cgroup
 */
function cgroupsOf(root: string, controller: 'memory' | 'cpu' | ''): readonly string[] {
  const lines = readText(join(root, 'proc/self/cgroup')).split('\n')
  const line = lines.find((one) => one.split(':')[1]?.split(',').includes(controller)) ?? ''
  const path = line.split(':').slice(2).join(':')
  const names = path.split('/').filter((name) => name !== '')
  return ['', ...names].map((_name, depth) => join(root, 'sys/fs/cgroup', controller, ...names.slice(0, depth)))
}

/** Returns the lowest limit that the folders have; undefined: none. */
function lowest(folders: readonly string[], limitOf: (folder: string) => number | undefined): number | undefined {
  const limits = folders.map(limitOf).filter((limit) => limit !== undefined)
  return limits.length === 0 ? undefined : Math.min(...limits)
}

function bytesOf(root: string): number | undefined {
  const second = lowest(cgroupsOf(root, ''), (folder) => limitIn(readText(join(folder, 'memory.max'))))
  return second ?? lowest(cgroupsOf(root, 'memory'), (folder) => limitIn(readText(join(folder, 'memory.limit_in_bytes'))))
}

function cpusOf(root: string): number | undefined {
  const share = (quota: string, period: string): number | undefined => {
    const limit = limitIn(quota)
    return limit === undefined ? undefined : limit / (limitIn(period) ?? 100_000)
  }
  const second = lowest(cgroupsOf(root, ''), (folder) => {
    const [quota = '', period = ''] = readText(join(folder, 'cpu.max')).trim().split(' ')
    return share(quota, period)
  })
  return (
    second ??
    lowest(cgroupsOf(root, 'cpu'), (folder) =>
      share(readText(join(folder, 'cpu.cfs_quota_us')), readText(join(folder, 'cpu.cfs_period_us'))),
    )
  )
}

/** Reads the limits of this process. @param root `/`; a test has files of its own */
export function readMachine(root = '/'): MachineFacts {
  const limits = readText(join(root, 'proc/self/limits'))
  return {
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    cgroupBytes: bytesOf(root),
    cgroupCpus: cpusOf(root),
    openFiles: softLimit(limits, 'Max open files'),
    addressSpaceBytes: softLimit(limits, 'Max address space'),
    fileBytes: softLimit(limits, 'Max file size'),
    pid: process.pid,
  }
}

/** Below: the node is killed in a sync; below the second: it works with small caches only. */
const leastBytes = 1_000_000_000
const usefulBytes = 3_000_000_000
const leastFiles = 1_024
const usefulFiles = 4_096
/** An interpreter reserves 2 GB of addresses, and the database its whole size. */
const leastAddressBytes = 2 ** 40

type Add = (level: FindingLevel, where: string, what: string, fix: string) => void

function addMemory(add: Add, { cgroupBytes, memoryBytes }: MachineFacts, memoryMaxBytes: number | undefined): void {
  const isCgroup = cgroupBytes !== undefined && cgroupBytes < memoryBytes
  const memory = isCgroup ? cgroupBytes : memoryBytes
  const place = isCgroup ? 'memory limit of the cgroup' : 'memory of the machine'
  const more = isCgroup ? 'raise it (docker: mem_limit; systemd: MemoryMax) to 4 GB or more' : 'use a machine with 4 GB or more'
  if (memory < leastBytes) add('error', place, `${size(memory)}: the system kills the node`, more)
  else if (memory < usefulBytes) add('warning', place, `${size(memory)}: caches are small and a sync is slow`, more)
  if (memoryMaxBytes === undefined || memoryMaxBytes <= memory) return
  const fix = 'lower it, or leave it out: the default is three quarters of the memory'
  add('error', '--memory-max', `${size(memoryMaxBytes)} is more than the ${place}, ${size(memory)}`, fix)
}

function addProcessors(add: Add, { cores, cgroupCpus = cores }: MachineFacts): void {
  const cpus = Math.min(cores, cgroupCpus)
  if (cpus >= 2) return
  const isQuota = cgroupCpus < cores
  const what = `${Math.round(cpus * 10) / 10}: execution, commits and RPC share one core`
  if (isQuota) add('warning', 'processor quota of the cgroup', what, 'raise it (docker: cpus; systemd: CPUQuota)')
  else add('warning', 'processors', what, 'use at least two cores')
}

function addUserLimits(add: Add, { openFiles, addressSpaceBytes, fileBytes }: MachineFacts): void {
  if (openFiles !== undefined && openFiles < usefulFiles) {
    const fix = 'raise it: ulimit -n 65536, systemd LimitNOFILE, docker --ulimit nofile'
    add(
      openFiles < leastFiles ? 'error' : 'warning',
      'limit of open files',
      `${openFiles}: connections are refused when it is reached`,
      fix,
    )
  }
  if (addressSpaceBytes !== undefined && addressSpaceBytes < leastAddressBytes) {
    const what = `${size(addressSpaceBytes)}: the database and the interpreter cannot be mapped`
    add('error', 'limit of the address space', what, 'remove it: ulimit -v unlimited, systemd LimitAS=infinity')
  }
  if (fileBytes !== undefined && fileBytes < leastAddressBytes) {
    const what = `${size(fileBytes)}: the database cannot grow`
    add('error', 'limit of the size of files', what, 'remove it: ulimit -f unlimited, systemd LimitFSIZE=infinity')
  }
}

/** Returns the findings about limits. Pure. @param memoryMaxBytes --memory-max; undefined: the default, a share of the memory */
export function machineFindings(facts: MachineFacts, memoryMaxBytes: number | undefined): readonly Finding[] {
  const findings: Finding[] = []
  const add: Add = (level, where, what, fix) => void findings.push({ level, where, what, fix })
  addMemory(add, facts, memoryMaxBytes)
  addProcessors(add, facts)
  addUserLimits(add, facts)
  if (facts.pid === 1)
    add('warning', 'container', 'the program is process 1, without an init', 'start the container with --init (compose: init: true)')
  return findings
}
