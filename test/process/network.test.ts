import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { rpcCall, startCli } from '#test/harness/process/cliProcess'
import { sampleOf } from '#test/harness/sample'

const dir = mkdtempSync(join(tmpdir(), 'basalt-network-'))
afterAll(() => rmSync(dir, { recursive: true }))

/** Nothing listens on this port. */
const closedL1 = 'http://127.0.0.1:9'

/** Forks of a network as its node reports them: activation and fork id of Denim, and the fork id of genesis. */
const networks = [
  ['base', { genesisId: '0x67da0260', denimId: '0x169d85a3', denimSec: 1_793_901_600, berylSec: 1_782_410_400, cobaltSec: 1_790_791_200 }],
  [
    'base-sepolia',
    { genesisId: '0xb959b9f7', denimId: '0xc6757f44', denimSec: 1_792_605_600, berylSec: 1_781_805_600, cobaltSec: 1_790_186_400 },
  ],
] as const

it.each(sampleOf(networks.slice(0, 1), [...networks]))(
  'cli/commands/node: %s on an empty directory reports its forks, and /readyz names what it waits for',
  async (network, forks) => {
    const ports = ['--http.port', '0', '--rollup.port', '0', '--ws.port', '0', '--metrics.port', '0']
    // without blobs: the set-up of the thread that checks them takes seconds of a processor
    const l1 = ['--l1.rpc', closedL1]
    await using cli = startCli([
      'node',
      '--network',
      network,
      '--p2p.disable',
      ...l1,
      ...ports,
      '--datadir',
      join(dir, network),
      '--log.format',
      'json',
    ])
    const [line] = await cli.until(/^.*"node started".*$/m)
    const started = JSON.parse(line) as { chain: string; fork: string; rpc: string; rollup: string; metrics: string }
    expect(started).toMatchObject({ chain: network, fork: 'denim' })

    const { current, next, last } = (await rpcCall(started.rpc, 'eth_config')) as Record<'current' | 'next' | 'last', object>
    expect(current).toMatchObject({ activationTime: 0, forkId: forks.genesisId })
    expect(next).not.toBeNull()
    expect(last).toMatchObject({ activationTime: forks.denimSec, forkId: forks.denimId })
    expect(await rpcCall(started.rollup, 'optimism_rollupConfig')).toMatchObject({
      base: { beryl: forks.berylSec, cobalt: forks.cobaltSec, denim: forks.denimSec },
    })
    const metrics = await (await fetch(`${started.metrics}/metrics`)).text()
    expect(metrics).toMatch(
      new RegExp(`^basalt_consensus_fork_activation_seconds\\{fork="denim",source="built_in"\\} ${forks.denimSec}$`, 'm'),
    )
    expect(metrics).toMatch(/^basalt_consensus_unsupported_fork_seconds \+?Inf/m)

    const ready = await fetch(`${started.rpc}/readyz`)
    expect(ready.status).toBe(503)
    expect(await ready.text()).toMatch(/has not started.*L1/s)
    expect(cli.output().stderr + cli.output().stdout).not.toMatch(/unsupported fork|unknown entry|unknown fork/)
    cli.child.kill('SIGTERM')
    expect((await cli.ended()).code).toBe(0)
  },
  120_000,
)
