import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { runCli } from '../../run.ts'
import type { MigratedLine } from './migrateConfig.ts'
import type { Setting } from './showConfig.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-config-'))
afterAll(() => rmSync(dir, { recursive: true }))

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const io = scriptedIo({ env })
  const code = await runCli(['config', ...args], io)
  return { code, ...io.written }
}

it('cli/commands/config show: names the origin of each value, and hides secrets except for the host', async () => {
  const env = {
    BASE_NODE_L1_ETH_RPC: '"https://user:pass@eth.example/v2/k3y-0123456789"',
    BASALT_NETWORK: 'base',
    BASE_NODE_NETWORK: 'base-mainnet',
  }
  const { code, out } = await run(['show', '--json', '--http.port', '9545'], env)
  const settings = new Map((JSON.parse(out) as readonly Setting[]).map((setting) => [setting.flag, setting]))
  expect(code).toBe(0)
  expect(settings.get('network')).toMatchObject({ value: 'base', from: 'environment', variables: ['BASALT_NETWORK', 'BASE_NODE_NETWORK'] })
  expect(settings.get('l1.rpc')).toMatchObject({ value: 'eth.example (secret)', from: 'environment', variables: ['BASE_NODE_L1_ETH_RPC'] })
  expect(settings.get('http.port')).toMatchObject({ value: '9545', from: 'command line' })
  expect(settings.get('ws.port')).toMatchObject({ value: '8546', from: 'default' })
  expect(settings.get('engine')).toMatchObject({ value: null, from: 'no effect' })
  expect(settings.get('l1.beacon')).toMatchObject({ value: null, from: 'not set' })
  expect(out).not.toMatch(/pass@|k3y|user/)
  const text = (await run(['show'], env)).out
  expect(text).toMatch(/^--l1\.rpc +eth\.example \(secret\) +BASE_NODE_L1_ETH_RPC, an older name of BASALT_L1_RPC$/m)
})

it('cli/commands/config show: shows an invalid value as such, and exits with 1', async () => {
  const { code, out } = await run(['show'], { BASALT_HTTP_PORT: 'http', BASALT_L1_RPC: 'wss://k3y-0123456789@host' })
  expect(code).toBe(1)
  expect(out).toMatch(/^--http\.port +– +invalid: --http\.port \(BASALT_HTTP_PORT\): "http" is not an integer/m)
  expect(out).not.toContain('k3y')
})

const valid = ['--network', 'base', '--l1.rpc', 'http://127.0.0.1:9', '--l1.beacon', 'http://127.0.0.1:9', '--datadir', join(dir, 'data')]

it('cli/commands/config check: accepts a valid configuration, and writes nothing', async () => {
  const { code, out } = await run(['check', ...valid, '--mode', 'consensus', '--engine', 'http://127.0.0.1:9'])
  expect([code, out]).toEqual([0, '0 errors, 0 warnings; checked: flags, variables, files of the chain, secrets, data directory\n'])
  expect(readdirSync(dir)).toEqual([])
})

const secretFile = (content: string, mode: number): string => {
  const path = join(dir, 'jwt.hex')
  writeFileSync(path, content)
  rmSync(path)
  writeFileSync(path, content, { mode })
  return path
}
const execution = ['--network', 'base', '--mode', 'execution', '--datadir', join(dir, 'data')]

it.each<[string, string[], NodeJS.ProcessEnv, RegExp]>([
  ['no chain', ['--l1.rpc', 'http://a'], {}, /^error: +MISSING_FLAG: --network is needed/m],
  ['no L1', ['--network', 'base'], {}, /^error: +MISSING_FLAG: --l1\.rpc is needed/m],
  ['two bad values at once', [...valid, '--http.port', 'x', '--ws.port', 'y'], {}, /--http\.port: "x".*\n.*--ws\.port: "y"/],
  [
    'variables that disagree',
    valid,
    { BASALT_HTTP_PORT: '1', RPC_PORT: '2' },
    /^error: +CONFLICTING_VARIABLES: BASALT_HTTP_PORT and RPC_PORT both set --http\.port/m,
  ],
  [
    'a misspelt variable',
    valid,
    { BASALT_HTTP_PROT: '1' },
    /^warning: +BASALT_HTTP_PROT: unknown variable\. .*did you mean BASALT_HTTP_PORT/m,
  ],
  ['a flag of another mode', [...valid, '--engine', 'http://a'], {}, /^error: .*--engine has no effect with --mode all/m],
  ['a missing file', ['--rollup.config', '/nosuch', '--genesis', '/nosuch', '--l1.rpc', 'http://a'], {}, /^error: .*cannot read \/nosuch/m],
  [
    'a data directory below a file',
    [...valid.slice(0, 6), '--datadir', '/etc/hostname/x'],
    {},
    /^error: +\/etc\/hostname: is not a directory/m,
  ],
  ['a full disk', [...valid, '--db.min-free', '9000TB'], {}, /^error: .*free on the disk of the data directory, less than --db\.min-free/m],
  ['no beacon API', valid.filter((word) => word !== '--l1.beacon').toSpliced(4, 1), {}, /^warning: +--l1\.beacon: not set/m],
  [
    'the public sample secret',
    [...execution, '--jwt.secret', '688f5d737bad920bdfb2fc2f488d6b6209eebda1dae949a8de91398d932c517a'],
    {},
    /^warning: +--jwt\.secret: the secret of the Engine API is a public sample/m,
  ],
])('cli/commands/config check: finds %s', async (_what, args, env, said) => {
  expect((await run(['check', ...args], env)).out).toMatch(said)
})

it('cli/commands/config check: finds a secret file that others may read', async () => {
  const digits = 'ab'.repeat(32)
  const { code, out } = await run(['check', ...execution, '--jwt', secretFile(digits, 0o644)])
  expect([code, out]).toEqual([1, expect.stringMatching(/^error: +JWT_FILE_BAD: .*others may read it \(mode 644\)/m)])
  expect(out).not.toContain(digits)
})

const envFile = `# mainnet
RETH_CHAIN=base
BASE_NODE_NETWORK="base"
export BASE_NODE_L1_ETH_RPC=https://eth.example/v2/k3y-0123456789
BASE_NODE_L2_ENGINE_AUTH_RAW=688f5d737bad920bdfb2fc2f488d6b6209eebda1dae949a8de91398d932c517a
BASE_NODE_LOG_VERBOSITY=3 # comment
BASE_NODE_METRICS_ENABLED="true"
RETH_PRUNING_ARGS="--prune.senderrecovery.distance=50000 --prune.bodies.distance=50000 --prune.accounthistory.distance=10064 --prune.storagehistory.distance=50000"
STATSD_ADDRESS="172.17.0.1"
BASE_NODE_P2P_BOOTNODES=enr:-x
RPC_PORT=http
HOST_DATA_DIR=./reth-data
BASALT_CACHE=512MB
`

it('cli/commands/config migrate: translates an env file of base/node with a reason for each line', async () => {
  const path = join(dir, 'old.env')
  const out = join(dir, 'new.env')
  writeFileSync(path, envFile)
  const result = await run(['migrate', path, '--out', out, '--json'], { BASALT_MODE: 'consensus' })
  const lines = JSON.parse(result.out) as readonly MigratedLine[]
  expect(lines.map(({ line, variable, outcome }) => [line, variable, outcome])).toEqual([
    [2, 'RETH_CHAIN', 'renamed'],
    [3, 'BASE_NODE_NETWORK', 'dropped'],
    [4, 'BASE_NODE_L1_ETH_RPC', 'renamed'],
    [5, 'BASE_NODE_L2_ENGINE_AUTH_RAW', 'dropped'],
    [6, 'BASE_NODE_LOG_VERBOSITY', 'translated'],
    [7, 'BASE_NODE_METRICS_ENABLED', 'dropped'],
    [8, 'RETH_PRUNING_ARGS', 'translated'],
    [9, 'STATSD_ADDRESS', 'dropped'],
    [10, 'BASE_NODE_P2P_BOOTNODES', 'renamed'],
    [11, 'RPC_PORT', 'invalid'],
    [12, 'HOST_DATA_DIR', 'kept'],
    [13, 'BASALT_CACHE', 'kept'],
  ])
  expect(lines.every(({ reason }) => reason.length > 0)).toBe(true)
  expect([result.code, result.out]).toEqual([1, expect.not.stringContaining('k3y')])
  const made = readFileSync(out, 'utf8')
  expect(made.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
    'BASALT_NETWORK=base',
    'BASALT_L1_RPC=https://eth.example/v2/k3y-0123456789',
    'BASALT_LOG_LEVEL=info',
    'BASALT_RETAIN_BODIES=50000b',
    'BASALT_RETAIN_HISTORY=50000b',
    'BASALT_P2P_BOOTNODES=enr:-x',
    'HOST_DATA_DIR=./reth-data',
    'BASALT_CACHE=512MB',
  ])
  expect(statSync(out).mode & 0o777).toBe(0o600)
  const again = await run(['migrate', path, '--out', out])
  expect([again.code, again.err]).toEqual([2, expect.stringMatching(/EEXIST.*\(UNWRITABLE_FILE\)\n$/)])
})

it('cli/commands/config migrate: the new file means the same to basalt node as the old one', async () => {
  const old = {
    BASE_NODE_NETWORK: 'base-mainnet',
    BASE_NODE_L1_ETH_RPC: 'http://a',
    OP_NODE_L1_BEACON: 'http://b',
    BASE_NODE_METRICS_PORT: '7301',
  }
  const path = join(dir, 'same.env')
  writeFileSync(
    path,
    Object.entries(old)
      .map((pair) => pair.join('='))
      .join('\n'),
  )
  await run(['migrate', path, '--out', `${path}.new`])
  const made = Object.fromEntries(
    readFileSync(`${path}.new`, 'utf8')
      .split('\n')
      .filter((line) => /^\w/.test(line))
      .map((line) => line.split('=')),
  )
  const values = async (env: NodeJS.ProcessEnv): Promise<unknown> =>
    (JSON.parse((await run(['show', '--json'], env)).out) as readonly Setting[]).map(({ flag, value }) => [flag, value])
  expect(await values(made)).toEqual(await values(old))
})
