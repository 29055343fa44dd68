import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { flags } from '../../src/cli/flags.ts'
import { runCli } from '../../src/cli/run.ts'
import { anvilBinary } from '../../src/devnet/l1/anvilBinary.ts'
import { startDevnet } from '../../src/devnet/startDevnet.ts'
import { scriptedIo } from '../harness/l1/scriptedIo.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-export-'))
afterAll(() => rmSync(dir, { recursive: true }))

async function ask(url: string, method: string, params: readonly unknown[]): Promise<Record<string, unknown> | undefined> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).catch(() => undefined)
  return ((await response?.json()) as { result?: Record<string, unknown> } | undefined)?.result
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

/** Returns the state root that anvil computes for a genesis file: that of an empty block on it, because anvil has none for block 0. */
async function stateRootByAnvil(genesis: string): Promise<unknown> {
  const port = await freePort()
  const options = ['--accounts', '0', '--no-mining', '--quiet', '--hardfork', 'shanghai', '--disable-default-create2-deployer']
  const anvil = spawn(anvilBinary(), ['--init', genesis, '--port', String(port), ...options], { stdio: 'ignore' })
  try {
    const url = `http://127.0.0.1:${port}`
    await expect.poll(() => ask(url, 'evm_mine', []), { timeout: 60_000, interval: 200 }).toBe('0x0')
    return (await ask(url, 'eth_getBlockByNumber', ['0x1', false]))?.['stateRoot']
  } finally {
    anvil.kill('SIGKILL')
    await once(anvil, 'exit')
  }
}

it("cli/commands/devnetExport: anvil reads the genesis file and computes the devnet's state root", async () => {
  await using devnet = await startDevnet({ fork: 'jovian', blockTimeSec: 1 })
  const port = new URL(devnet.urls.control).port
  const out = join(dir, 'out')
  const io = scriptedIo()
  expect(await runCli(['devnet', 'export', out, '--control.port', port, '--json'], io)).toBe(0)
  expect(JSON.parse(io.written.out)).toEqual({
    genesis: join(out, 'genesis.json'),
    rollup: join(out, 'rollup.json'),
    l1ChainConfig: join(out, 'l1-chain-config.json'),
    jwt: join(out, 'jwt.hex'),
    l1: devnet.urls.l1,
    l1Beacon: devnet.urls.l1Beacon,
  })
  expect(readFileSync(join(out, 'jwt.hex'), 'utf8')).toMatch(/^[0-9a-f]{64}$/)
  const genesis = await ask(devnet.urls.rpc, 'eth_getBlockByNumber', ['0x0', false])
  expect(await stateRootByAnvil(join(out, 'genesis.json'))).toBe(genesis?.['stateRoot'])
  const rollup = JSON.parse(readFileSync(join(out, 'rollup.json'), 'utf8')) as { genesis: { l2: { hash: string } } }
  expect(rollup.genesis.l2.hash).toBe(genesis?.['hash'])

  const again = scriptedIo()
  expect(await runCli(['devnet', 'export', out, '--control.port', port], again)).toBe(2)
  expect(again.written).toMatchObject({ out: '', err: expect.stringContaining('(EXPORT_EXISTS)') })
  const forced = scriptedIo()
  expect(await runCli(['devnet', 'export', out, '--control.port', port, '--force'], forced)).toBe(0)
  expect(forced.written.out).toContain(`--l2.jwt-secret ${join(out, 'jwt.hex')}`)

  const command = /^ {2}basalt node ((?:.*\\\n)*.*)$/m.exec(forced.written.out)?.[1] ?? ''
  const words = command.replaceAll('\\\n', ' ').replace('DATA', join(dir, 'data')).trim().split(/\s+/)
  const checked = scriptedIo()
  expect([await runCli(['config', 'check', ...words], checked), checked.written.out]).toEqual([0, expect.stringMatching(/^0 errors/m)])
  const given = [...command.matchAll(/--([a-z-]+\.port) (\d+)/g)]
  expect(given.map(([, flag]) => flag)).toEqual(['http.port', 'ws.port', 'rollup.port', 'metrics.port'])
  const ofDevnet = Object.entries(flags).flatMap(([name, flag]) => (/port$/.test(name) && 'fallback' in flag ? [flag.fallback] : []))
  expect(given.filter(([, , port]) => ofDevnet.includes(Number(port)))).toEqual([])
}, 120_000)
