import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { type ScriptedServer, serveNode } from '#test/harness/process/nodeServer'
import { commands } from './commands.ts'
import { type FlagName, flags, wordOf } from './flags.ts'
import { runCli } from './run.ts'
import { knownSecrets, shownPlace, withoutSecrets } from './secrets.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-secrets-'))
afterAll(() => rmSync(dir, { recursive: true }))

const secretFlags = (Object.keys(flags) as FlagName[]).filter((name) => flags[name].secret)
const hexSecret = 'c0ffee'.repeat(10).padEnd(64, '5')

/** Secret parts of a planted URL; each flag has its own. */
const plantsOf = (flag: string): readonly string[] =>
  ['user', 'pass', 'path', 'query'].map((part) => `${part}-s3cret-${flag.replaceAll('.', '-')}`)
const urlFor = (flag: string, port: number, scheme: string): string => {
  const [user, pass, path, query] = plantsOf(flag)
  return `${scheme}://${user}:${pass}@127.0.0.1:${port}/${path}?key=${query}`
}
/** Value of a secret flag. */
function plantedValue(flag: FlagName, port: number): string {
  if (flag === 'jwt.secret') return hexSecret
  if (flag === 'mnemonic') return plantsOf(flag).join(' ')
  return urlFor(flag, port, flag.startsWith('flashblocks') ? 'ws' : 'http')
}
/** The words of a mnemonic are a secret together. */
const planted = [
  hexSecret,
  plantedValue('mnemonic', 0),
  ...secretFlags.filter((flag) => flag !== 'mnemonic' && flag !== 'jwt.secret').flatMap(plantsOf),
]
const found = (text: string): readonly string[] => planted.filter((secret) => text.includes(secret))

/** Node that repeats every secret in its answers. */
const echo = planted.join(' ')
const echoing: ScriptedServer = {
  rpc: Object.fromEntries(
    [
      'eth_chainId',
      'eth_call',
      'eth_getLogs',
      'eth_getBlockByNumber',
      'eth_getTransactionByHash',
      'eth_getBalance',
      'web3_clientVersion',
    ].map((method) => [method, { error: { code: 1, message: echo } }]),
  ),
  pages: {
    '/readyz': { status: 503, body: JSON.stringify({ ready: false, problems: planted.map((secret) => `stopped: ${secret}`) }) },
    '/metrics': { body: echo },
  },
}

const hash = `0x${'12'.repeat(32)}`
const address = `0x${'12'.repeat(20)}`
const nodeFlagsOf = ['--network', 'base', '--datadir', join(dir, 'data')]
const lines: readonly (readonly string[])[] = [
  ['status'],
  ['top'],
  ['da'],
  ['doctor', ...nodeFlagsOf],
  ['doctor', '--mode', 'consensus', ...nodeFlagsOf],
  ['config', 'show'],
  ['config', 'show', '--http.port', 'x'],
  ['config', 'check', ...nodeFlagsOf],
  ['config', 'migrate', join(dir, 'old.env')],
  ['block', 'latest'],
  ['tx', hash],
  ['receipt', hash],
  ['account', address],
  ['call', address],
  ['logs'],
  ['log', 'show'],
  ['log', 'set', 'p2p', 'debug'],
  ['profile', 'cpu', '--seconds', '1'],
  ['explain', 'DISK_FULL'],
  ['completion', 'bash'],
  ['snapshot', 'list', join(dir, 'none')],
]

it('cli/secrets: the lines cover every command that reads settings or a node', () => {
  const covered = new Set(lines.map(([name]) => name))
  const earlier = ['devnet', 'demo', 'node', 'execute', 'import', 'db', 'proof', 'proofs', 'version']
  expect(commands.map(({ name }) => name).filter((name) => !covered.has(name) && !earlier.includes(name))).toEqual([])
})

it.each(lines.map((line) => [line.slice(0, 2).join(' '), line] as const))(
  'cli/secrets: %s prints no secret of variables, flags, files or a node that repeats them',
  async (_name, line) => {
    await using node = await serveNode(echoing)
    const env = Object.fromEntries(secretFlags.map((flag) => [flags[flag].env, plantedValue(flag, node.port)]))
    writeFileSync(
      join(dir, 'old.env'),
      Object.entries(env)
        .map((pair) => pair.join('='))
        .concat('BASE_NODE_L1_ETH_RPC=wss://user-s3cret-l1-rpc@x')
        .join('\n'),
    )
    for (const format of [[], ['--json']]) {
      if (format.length > 0 && line[0] === 'completion') continue
      const io = scriptedIo({ clock: systemClock, env })
      await runCli([...line, ...format], io)
      expect([line, found(io.written.out), found(io.written.err)]).toEqual([line, [], []])
      expect(io.written.out + io.written.err).not.toBe('')
    }
  },
  120_000,
)

it('cli/secrets: a secret on the command line is hidden too, and in an invalid value', async () => {
  const io = scriptedIo({ clock: systemClock })
  const url = urlFor('l1.rpc', 65_534, 'wss')
  await runCli(['config', 'check', ...nodeFlagsOf, `--${wordOf('l1.rpc')}`, url], io)
  expect([io.written.out.includes('BAD_FLAG'), found(io.written.out)]).toEqual([true, []])
})

it('cli/secrets: keeps hosts and words of paths, and hides keys however they are written', () => {
  const env = { BASALT_L1_RPC: '"https://eth.example/v2/AbCdEfGh12345678?apikey=0987abcd,https://u%40b:p%2Fw0rd@other/rpc"' }
  expect(knownSecrets({}, env)).toEqual(
    expect.arrayContaining(['AbCdEfGh12345678', '0987abcd', 'p%2Fw0rd', 'p/w0rd', 'u@b'].filter((key) => key.length >= 4)),
  )
  // "u@b:p/w0rd", as in the header of a request
  expect(knownSecrets({}, env)).toContain('dUBiOnAvdzByZA==')
  expect(knownSecrets({}, env)).not.toEqual(expect.arrayContaining(['eth.example']))
  const io = scriptedIo()
  withoutSecrets(io, ['p/w0rd']).out.write('a p/w0rd b')
  expect(io.written.out).toBe('a (secret) b')
})

it.each([
  ['a directory', '/data/snapshot-2026', '/data/snapshot-2026'],
  ['URLs without keys', 'https://a.example/base,http://b.example:8590/', 'https://a.example/base,http://b.example:8590/'],
  ['keys', 'https://me:pw@a.example/v2/AbCdEfGh12345678/base?k=1#2,http://b', 'https://a.example/v2/(secret)/base,http://b/'],
])('cli/secrets: a snapshot is shown without keys: %s', (_what, given, shown) => {
  expect(shownPlace(given)).toBe(shown)
})

it('cli/secrets: a directory of a snapshot is no secret, and is shown', async () => {
  const env = { BASALT_SNAPSHOT: '/data/snapshot-2026' }
  expect(knownSecrets({}, env)).toEqual([])
  const io = scriptedIo({ clock: systemClock, env })
  await runCli(['config', 'show'], io)
  expect(io.written.out).toMatch(/^--snapshot +\/data\/snapshot-2026 +BASALT_SNAPSHOT$/m)
})

it('cli/secrets: the file that config migrate writes has the secrets, for its owner only', async () => {
  const path = join(dir, 'in.env')
  writeFileSync(path, `BASE_NODE_L1_ETH_RPC=${urlFor('l1.rpc', 1, 'http')}\n`)
  await runCli(['config', 'migrate', path, '--out', join(dir, 'out.env')], scriptedIo())
  expect(found(readFileSync(join(dir, 'out.env'), 'utf8'))).toHaveLength(4)
})
