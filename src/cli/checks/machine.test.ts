import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { clockFindings } from './clockSkew.ts'
import { fileSystemFindings, flushFindings } from './disk.ts'
import { type MachineFacts, machineFindings, readMachine } from './machine.ts'

const root = mkdtempSync(join(tmpdir(), 'basalt-machine-'))
afterAll(() => rmSync(root, { recursive: true }))

const files = {
  'sys/fs/cgroup/memory.max': '536870912\n',
  'sys/fs/cgroup/cpu.max': '50000 100000\n',
  'proc/self/limits': `Limit                     Soft Limit           Hard Limit           Units
Max file size             unlimited            unlimited            bytes
Max open files            256                  1048576              files
Max address space         4294967296           unlimited            bytes
`,
}

/** Writes files under a folder of their own. @returns the folder */
function rootWith(name: string, content: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(content)) {
    mkdirSync(dirname(join(root, name, path)), { recursive: true })
    writeFileSync(join(root, name, path), text)
  }
  return join(root, name)
}

it('cli/checks/machine: reads the limits of a cgroup and of the user', () => {
  expect(readMachine(rootWith('container', files))).toMatchObject({
    cgroupBytes: 536_870_912,
    cgroupCpus: 0.5,
    openFiles: 256,
    addressSpaceBytes: 4_294_967_296,
    fileBytes: undefined,
  })
  expect(readMachine(join(root, 'none'))).toMatchObject({ cgroupBytes: undefined, cgroupCpus: undefined, openFiles: undefined })
})

it('cli/checks/machine: takes the lowest limit of the cgroup of a unit and of those around it, of version 2 and of version 1', () => {
  const unit = 'system.slice/basalt@all.service'
  const second = {
    'proc/self/cgroup': `0::/${unit}\n`,
    [`sys/fs/cgroup/${unit}/memory.max`]: 'max\n',
    [`sys/fs/cgroup/${unit}/cpu.max`]: '150000 100000\n',
    'sys/fs/cgroup/system.slice/memory.max': '2000000000\n',
    'sys/fs/cgroup/system.slice/cpu.max': 'max 100000\n',
  }
  expect(readMachine(rootWith('second', second))).toMatchObject({ cgroupBytes: 2_000_000_000, cgroupCpus: 1.5 })
  const first = {
    'proc/self/cgroup': `4:memory:/${unit}\n3:cpu,cpuacct:/${unit}\n0::/\n`,
    'sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
    [`sys/fs/cgroup/memory/${unit}/memory.limit_in_bytes`]: '512000000\n',
    [`sys/fs/cgroup/cpu/${unit}/cpu.cfs_quota_us`]: '50000\n',
    [`sys/fs/cgroup/cpu/${unit}/cpu.cfs_period_us`]: '100000\n',
  }
  expect(readMachine(rootWith('first', first))).toMatchObject({ cgroupBytes: 512_000_000, cgroupCpus: 0.5 })
})

const good: MachineFacts = {
  cores: 8,
  memoryBytes: 64e9,
  cgroupBytes: undefined,
  cgroupCpus: undefined,
  openFiles: 1_048_576,
  addressSpaceBytes: undefined,
  fileBytes: undefined,
  pid: 42,
}

it('cli/checks/machine: finds nothing on a good machine', () => {
  expect(machineFindings(good, 16e9)).toEqual([])
})

it.each<[string, Partial<MachineFacts>, number | undefined, RegExp]>([
  [
    'a cgroup of 512 MB',
    { cgroupBytes: 512e6 },
    undefined,
    /^error memory limit of the cgroup: 512\.0 MB: the system kills the node\. raise it \(docker: mem_limit/,
  ],
  ['a cgroup of 2 GB', { cgroupBytes: 2e9 }, undefined, /^warning memory limit of the cgroup: 2\.0 GB/],
  ['a small machine', { memoryBytes: 900e6 }, undefined, /^error memory of the machine: 900\.0 MB/],
  [
    '--memory-max above the cgroup',
    { cgroupBytes: 4e9 },
    8e9,
    /^error --memory-max: 8\.0 GB is more than the memory limit of the cgroup, 4\.0 GB/,
  ],
  ['half a processor', { cgroupCpus: 0.5 }, undefined, /^warning processor quota of the cgroup: 0\.5/],
  ['one core', { cores: 1 }, undefined, /^warning processors: 1/],
  ['256 open files', { openFiles: 256 }, undefined, /^error limit of open files: 256/],
  ['an address space of 4 GB', { addressSpaceBytes: 4e9 }, undefined, /^error limit of the address space: 4\.0 GB/],
  ['a file size of 1 GB', { fileBytes: 1e9 }, undefined, /^error limit of the size of files: 1\.0 GB/],
  ['no init in a container', { pid: 1 }, undefined, /^warning container: .*--init/],
])('cli/checks/machine: finds %s', (_what, change, memoryMax, said) => {
  const texts = machineFindings({ ...good, ...change }, memoryMax).map(
    ({ level, where, what, fix }) => `${level} ${where}: ${what}. ${fix}`,
  )
  expect(texts).toEqual([expect.stringMatching(said)])
})

it('cli/checks/disk: names network file systems, and slow flushes', () => {
  expect(fileSystemFindings('/data', 0xef53)).toEqual([])
  expect(fileSystemFindings('/data', 0x6969)).toMatchObject([
    { level: 'error', what: expect.stringContaining('nfs, a network file system') },
  ])
  expect(fileSystemFindings('/data', -0xacb2be)).toMatchObject([{ what: expect.stringContaining('cifs') }])
  expect(fileSystemFindings('/data', 0x01021994)).toMatchObject([{ level: 'warning', what: expect.stringContaining('tmpfs') }])
  expect(flushFindings('/data', 5)).toEqual([])
  expect(flushFindings('/data', 80)).toMatchObject([{ level: 'warning', what: 'the disk takes 80 ms for a flushed write of 256 kB' }])
})

it.each<[string, number[], string[]]>([
  ['none without servers', [], []],
  ['none within the seconds of a Date header', [900, -700], []],
  ['a warning from 5 s', [8_000], ['warning']],
  ['an error from 20 s, by the median', [-40_000, -40_500, 0], ['error']],
])('cli/checks/clockSkew: is %s', (_what, skews, levels) => {
  expect(clockFindings(skews).map(({ level }) => level)).toEqual(levels)
})
