import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Devnet, startDevnet } from '#devnet/startDevnet'
import { type CliProcess, type Ended, rpcCall, startCli } from '#test/harness/process/cliProcess'
import { mountMemory, mountReadOnly, mountsRefused } from '#test/harness/process/mounts'
import { limitMemory } from '../../bench/state/pageCache.ts'
import { eventually } from '../../e2e/nodeProcess.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-doctor-'))
const refused = mountsRefused()
const title = (what: string): string => `process/doctor: ${what}${refused === undefined ? '' : ` (skipped: ${refused})`}`

let devnet: Devnet
let flags: readonly string[]
beforeAll(async () => {
  devnet = await startDevnet({ l1: 'memory' })
  const chain = join(base, 'chain')
  await using exported = startCli(['devnet', 'export', chain, '--control.port', new URL(devnet.urls.control).port])
  expect((await exported.ended()).code).toBe(0)
  const files = ['--rollup.config', join(chain, 'rollup.json'), '--genesis', join(chain, 'genesis.json')]
  const l1 = ['--l1.rpc', devnet.urls.l1, '--l1.beacon', devnet.urls.l1Beacon, '--l1.chain-config', join(chain, 'l1-chain-config.json')]
  const ports = ['http', 'ws', 'rollup', 'metrics'].flatMap((name) => [`--${name}.port`, '0'])
  flags = [...files, ...l1, ...ports]
}, 120_000)
afterAll(async () => {
  await devnet?.[Symbol.asyncDispose]()
  rmSync(base, { recursive: true, force: true })
})

async function examine(args: readonly string[], onStart: (process: CliProcess) => void = () => {}): Promise<Ended> {
  await using doctor = startCli(['doctor', ...flags, ...args])
  onStart(doctor)
  return await doctor.ended()
}

/** Findings that depend on the machine of the test. */
const ofMachine = /cgroup|processors|memory of the machine|limit of |container|flushed write|to answer/
const findings = ({ stdout }: Ended): readonly string[] =>
  stdout.split('\n').filter((line) => /^(?:error|warning):/.test(line) && !ofMachine.test(line))

it('process/doctor: finds nothing wrong with a healthy node, its endpoints and its settings', async () => {
  await using node = startCli(['node', ...flags, '--datadir', join(base, 'node'), '--log.format', 'json'])
  const [line] = await node.until(/^.*"node started".*$/m)
  const { rpc, metrics } = JSON.parse(line) as { rpc: string; metrics: string }
  await eventually('a ready node', 60_000, async () => {
    const ready = await fetch(`${metrics}/readyz`)
    return (ready.ok && Number(await rpcCall(rpc, 'eth_blockNumber')) > 5) || (await ready.text())
  })
  const ended = await examine(['--url', rpc, '--metrics-url', metrics, '--datadir', join(base, 'other')])
  expect([ended.code, findings(ended), ended.stderr]).toEqual([0, [], ''])
  expect(ended.stdout).toMatch(/^0 errors, \d warnings; checked: .*running node.*L1 endpoints.*beacon API.*disk, machine$/m)
}, 180_000)

it.skipIf(refused)(title('finds a disk that is mounted read-only'), async () => {
  const dir = join(base, 'disk')
  mkdirSync(dir)
  using disk = mountReadOnly(dir, join(base, 'read-only')) ?? expect.fail('not mounted')
  const { code, stdout } = await examine(['--datadir', join(disk.dir, 'data')])
  expect(stdout).toMatch(
    /^error: +\S*read-only: the file system of the data directory is mounted read-only\. mount it read-write, or name another --datadir$/m,
  )
  expect(code).not.toBe(0)
})

it.skipIf(refused)(title('finds a full disk'), async () => {
  using disk = mountMemory(join(base, 'full'), '4m') ?? expect.fail('not mounted')
  try {
    writeFileSync(join(disk.dir, 'ballast'), Buffer.alloc(8 << 20))
  } catch {} // ends with the last free byte
  const { code, stdout } = await examine(['--datadir', join(disk.dir, 'data')])
  expect(stdout).toMatch(/^error: +\S*full: 0 B free on the disk of the data directory, less than --db\.min-free 2\.0 GB/m)
  expect(code).not.toBe(0)
})

it.skipIf(refused)(title('finds a cgroup of 512 MB'), async () => {
  using group = limitMemory(512_000_000)
  const { code, stdout } = await examine(['--datadir', join(base, 'other')], ({ child }) => group.add(child.pid ?? 0))
  expect(stdout).toMatch(/^error: +memory limit of the cgroup: 512\.0 MB: the system kills the node\. raise it/m)
  expect(code).not.toBe(0)
})
