import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { startDevnet } from '#devnet/startDevnet'
import { systemClock } from '#lib/clock'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { runCli } from '../../run.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-doctor-devnet-'))
afterAll(() => rmSync(dir, { recursive: true }))

async function run(args: readonly string[]) {
  const io = scriptedIo({ clock: systemClock })
  const code = await runCli(args, io)
  return { code, ...io.written }
}

it('cli/commands/doctor: finds nothing wrong with a node for a devnet, and nothing with the nodes of the devnet', async () => {
  await using devnet = await startDevnet()
  const { urls } = devnet
  expect((await run(['devnet', 'export', dir, '--control.port', new URL(urls.control).port])).code).toBe(0)
  const files = [
    '--rollup.config',
    join(dir, 'rollup.json'),
    '--genesis',
    join(dir, 'genesis.json'),
    '--l1.chain-config',
    join(dir, 'l1-chain-config.json'),
  ]
  const l1 = ['--l1.rpc', urls.l1, '--l1.beacon', urls.l1Beacon, '--l1.slot-seconds', '2']
  const ports = ['http', 'ws', 'rollup', 'metrics'].flatMap((name) => [`--${name}.port`, '0'])
  const endpoints = ['--source.l2.rpc', urls.rpc, '--url', urls.rpc, '--metrics-url', urls.rollup]
  const node = await run(['doctor', ...files, ...l1, ...ports, ...endpoints, '--datadir', join(dir, 'data'), '--json'])
  const { errors, findings } = JSON.parse(node.out) as { errors: number; findings: readonly { where: string; what: string }[] }
  // limits of the machine that runs the test, and a machine that is too busy for the devnet
  const own = /cgroup|processors|limit of|memory of|container|not ready|s old|takes/
  expect(findings.filter(({ where, what }) => !own.test(`${where}: ${what}`))).toEqual([])
  expect([node.code, errors]).toEqual([0, 0])
  const running = await run(['doctor', '--metrics-url', urls.rollup])
  expect(running.out).toMatch(/checked: running node, machine$/m)
}, 120_000)
