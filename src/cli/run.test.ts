import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { rpcReply, serveL1 } from '#devnet/l1Server'
import { readRecordedChain } from '#devnet/recordedChain'
import { createRecordedL1 } from '#devnet/recordedL1'
import { systemClock } from '#lib/clock'
import { settle } from '#test/harness/clock'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { commands } from './commands.ts'
import { flags, wordOf } from './flags.ts'
import { runCli } from './run.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-run-'))
afterAll(() => rmSync(dir, { recursive: true }))

// outside the time limits of the tests
beforeAll(async () => {
  await Promise.all(commands.map(({ load }) => load()))
}, 120_000)

function file(name: string, content: string): string {
  const path = join(dir, name)
  writeFileSync(path, content)
  return path
}

async function run(args: readonly string[], io = scriptedIo()) {
  const code = await runCli(args, io)
  return { code, ...io.written }
}

it('cli/run: prints both versions and ends with 0', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  const { code, out, err } = await run(['version', '--json'])
  expect([code, JSON.parse(out), err]).toEqual([0, { basalt: version, node: process.versions.node }, ''])
  expect((await run(['version'])).out).toMatch(/^basalt: +\d+\.\d+\.\d+\nnode: +\d+\.\d+\.\d+\n$/)
})

it('cli/run: lists every command in the help, and every flag with variable and fallback in the help of a command', async () => {
  const { code, out, err } = await run(['--help'])
  expect([code, err]).toEqual([0, ''])
  for (const { name, doc } of commands) {
    expect(out).toContain(name)
    expect(out.replaceAll(/\s+/g, ' ')).toContain(doc)
  }
  const outer = await Promise.all(commands.map(async ({ name, load }) => ({ command: await load(), words: [name] })))
  const inner = outer.flatMap(({ command, words }) =>
    (command.commands ?? []).map((one) => ({ command: one, words: [...words, one.name] })),
  )
  for (const { command, words: path } of [...outer, ...inner]) {
    const help = await run([...path, '--help'])
    const words = help.out.replaceAll(/\s+/g, ' ')
    expect(help.code).toBe(0)
    expect(new Set(command.flags.map(wordOf)).size).toBe(command.flags.length)
    for (const name of command.flags) {
      const { env, doc, placeholder, group } = flags[name]
      const fallback = 'fallbackText' in flags[name] ? `, default ${flags[name].fallbackText}` : ''
      const word = wordOf(name)
      expect(words).toContain(`${group}: --`)
      expect(words).toContain(`--${word}${placeholder === undefined ? '' : ` <${placeholder}>`} ${doc} (${env}${fallback})`)
    }
  }
})

it.each<[string, string[], RegExp]>([
  ['no command', [], /Usage: basalt/],
  ['an unknown command', ['nosuch'], /^error: unknown command 'nosuch'\n$/],
  ['help of an unknown command', ['help', 'nope'], /^error: unknown command 'nope'\n/],
  ['an unknown flag', ['version', '--nosuch'], /^error: unknown option '--nosuch'\n$/],
  ['a flag of another command', ['version', '--datadir', 'x'], /^error: unknown option '--datadir'\n$/],
  ['a flag without its value', ['node', '--datadir'], /^error: option '--datadir <DIR>' argument missing\n$/],
  ['a switch with a value', ['version', '--json=yes'], /^error: unknown option '--json=yes'\n$/],
  ['a missing argument', ['execute'], /^error: missing required argument 'FILE'\n$/],
  ['an argument too many', ['version', 'now'], /^error: too many arguments for 'version'/],
  ['an unknown command of a command', ['db', 'bogus'], /^basalt: db has no command "bogus", it has stats, verify, .*\(BAD_USAGE\)\n$/],
  [
    'a bad value',
    ['node', '--http.port', 'http'],
    /^basalt: --http\.port: "http" is not an integer from 0 to 65535, or off\. .*\(BAD_FLAG\)\n$/,
  ],
  ['an empty value', ['node', '--datadir='], /^basalt: --datadir: "" is not a text\. .*\(BAD_FLAG\)\n$/],
  ['no L1', ['node', '--network', 'base'], /^basalt: --l1\.rpc is needed: .*\(MISSING_FLAG\)\n$/],
  ['an import without genesis', ['import', 'x.jsonl'], /^basalt: --genesis is needed: .*\(MISSING_FLAG\)\n$/],
  ['no first block', ['proofs', 'init'], /^basalt: --from is needed: .* \(BASALT_PROOFS_FROM\)\. .*\(MISSING_FLAG\)\n$/],
  ['a bad block', ['proofs', 'unwind', '--to', 'x'], /^basalt: --to: "x" is not a block number\. .*\(BAD_FLAG\)\n$/],
  ['no proof', ['proof', 'verify'], /^basalt: --proof is needed: .*\(MISSING_FLAG\)\n$/],
  ['a file that does not exist', ['execute', join(dir, 'none')], /^basalt: cannot read .*none: .*\(UNREADABLE_FILE\)\n$/],
  [
    'JSON that is none, of several lines',
    ['execute', file('a.json', '{\n"a":\nx}\n')],
    /^basalt: .*a\.json is not JSON: .*\(BAD_FILE\)\n$/,
  ],
  ['a block that is a list', ['execute', file('b.json', '[]')], /^basalt: .*\(\w+\)\n$/],
  ['a block that is null', ['execute', file('c.json', 'null')], /^basalt: .*\(\w+\)\n$/],
])('cli/run: ends with exit code 2 for %s', async (_what, args, said) => {
  const { code, out, err } = await run(args)
  expect(err).toMatch(said)
  expect([code, out]).toEqual([2, ''])
})

const recorded = readRecordedChain()
const rollup = file('recorded-rollup.json', JSON.stringify(recorded.rollupJson))
const chainFiles = ['--rollup.config', rollup, '--genesis', file('recorded-genesis.json', JSON.stringify(recorded.genesisJson))]
const l1Flags = ['--l1.rpc', 'http://127.0.0.1:9', '--l1.beacon', 'http://127.0.0.1:9']
const chainWith = (path: string): string[] => ['node', '--rollup.config', path, ...chainFiles.slice(2), ...l1Flags]

it.each<[string, string[], RegExp]>([
  [
    'an invalid port',
    ['node', ...chainFiles, ...l1Flags, '--http.port', '70000'],
    /--http.port: "70000" is not an integer from 0 to 65535, or off/,
  ],
  ['an invalid L1 URL', ['node', ...chainFiles, '--l1.rpc', 'localhost'], /--l1.rpc: "\(secret\)" is not a list of http or https URLs/],
  [
    'an unknown method of port mapping',
    ['node', ...chainFiles, ...l1Flags, '--p2p.nat', 'pmp'],
    /--p2p.nat: "pmp" is not one of none, upnp/,
  ],
  [
    'an invalid sequencer URL',
    ['node', ...chainFiles, ...l1Flags, '--sequencer.http', 'ws://a'],
    /--sequencer.http: "\(secret\)" is not a URL/,
  ],
  [
    'a flag of another mode',
    ['node', ...chainFiles, ...l1Flags, '--engine', 'http://a'],
    /--engine has no effect with --mode all, only with consensus/,
  ],
  ['a consensus half without --engine', ['node', ...chainFiles, ...l1Flags, '--mode', 'consensus'], /--engine is needed/],
  [
    'an invalid secret',
    ['node', ...chainFiles, '--mode', 'execution', '--jwt', file('short.hex', 'abcd')],
    /short.hex is not a valid secret file.*JWT_FILE_BAD/,
  ],
  ['no chain', ['node', ...l1Flags], /--network is needed/],
  [
    'a built-in chain together with files',
    ['node', '--network', 'base', ...chainFiles, ...l1Flags],
    /--network, --rollup.config, --genesis: a built-in chain has its own/,
  ],
  ['a missing rollup config', chainWith(join(dir, 'none')), /cannot read .*none/],
  ['a rollup config that is not JSON', chainWith(file('bad.json', '{"genesis":')), /bad.json is not JSON/],
  [
    'a rollup config with a bad value',
    chainWith(file('bad2.json', JSON.stringify({ ...(recorded.rollupJson as object), block_time: 'two' }))),
    /block_time/,
  ],
  ['a missing file to import', ['import', join(dir, 'none'), ...chainFiles.slice(2), '--datadir', join(dir, 'missing')], /cannot read/],
  ['a block without its fields', ['execute', file('block.json', '{}')], /fixture/],
])('cli/run: reports %s in one line, exit code 2', async (_what, args, line) => {
  const { code, out, err } = await run(args)
  expect(err).toMatch(line)
  expect({ code, lines: err.trimEnd().split('\n').length, out }).toEqual({ code: 2, lines: 1, out: '' })
})

it('cli/run: names the flag of a bad variable, and does not show a secret (BAD_FLAG)', async () => {
  const { code, err } = await run(['node'], scriptedIo({ env: { BASALT_L1_RPC: 'wss://user:key@host' } }))
  expect([code, err]).toEqual([2, expect.stringMatching(/^basalt: --l1\.rpc \(BASALT_L1_RPC\): "\(secret\)" is not /)])
})

const jsonEnv = { BASALT_LOG_FORMAT: 'json' }
it.each<[string, string[], NodeJS.ProcessEnv, string]>([
  ['a flag', ['node', '--log.format', 'json'], {}, 'MISSING_FLAG'],
  ['a flag with =', ['node', '--network', 'base', '--log.format=json'], {}, 'MISSING_FLAG'],
  ['a variable', ['node', '--http.port', 'x'], jsonEnv, 'BAD_FLAG'],
  ['an older variable', ['node'], { BASE_NODE_LOG_FORMAT: 'json' }, 'MISSING_FLAG'],
  ['a variable, the flag of another command line', ['node', '--nosuch'], jsonEnv, 'BAD_USAGE'],
])('cli/run: writes the error that ends a command as a line of JSON with the JSON format by %s', async (_what, args, env, code) => {
  const { code: exit, err } = await run(args, scriptedIo({ env }))
  expect(err.match(/\n/g)).toHaveLength(1)
  expect([exit, JSON.parse(err)]).toEqual([2, expect.objectContaining({ level: 'error', code, fix: expect.stringMatching(/./) })])
})

it('cli/run: writes a pretty fault when the format is invalid', async () => {
  const { err } = await run(['node', '--log.format', 'jsno'])
  expect(err).toMatch(/^basalt: --log\.format: "jsno" is not/)
})

it('cli/run: warns of a misspelt variable before the fault of the flag that is missing for it', async () => {
  const env = { BASALT_L1_RCP: 'http://a', BASALT_NETWORK: 'base', BASALT_LOG_FORMAT: 'json' }
  const { err } = await run(['node'], scriptedIo({ env }))
  const [warning, fatal] = err
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(warning).toMatchObject({ level: 'warn', variable: 'BASALT_L1_RCP', why: expect.stringContaining('did you mean BASALT_L1_RPC?') })
  expect(fatal).toMatchObject({ level: 'error', code: 'MISSING_FLAG' })
})

it('cli/commands/node: names the flag of an address that is invalid (BAD_FLAG)', async () => {
  const ports = ['rollup', 'ws', 'metrics'].flatMap((name) => [`--${name}.port`, 'off'])
  const args = ['--network', 'base-sepolia', '--l1.rpc', 'http://127.0.0.1:9', '--datadir', join(dir, 'address')]
  const { code, err } = await run(
    ['node', ...args, ...ports, '--p2p.disable', '--http.port', '0', '--http.addr', 'not..an..ip'],
    scriptedIo({ clock: systemClock }),
  )
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/\nbasalt: --http\.addr: "not\.\.an\.\.ip" is not an address of this machine \(E\w+\)\./),
  ])
}, 20_000)

it('cli/run: ends with exit code 70 and a stack after an unexpected error', async () => {
  const io = { ...scriptedIo(), out: { write: () => fail() } }
  const fail = (): never => {
    throw new TypeError('no such stream')
  }
  expect(await runCli(['version'], io)).toBe(70)
  expect(io.written.err).toMatch(/^basalt: TypeError: no such stream\n {4}at /)
})

it('cli/run: ends an interrupted import with 130', async () => {
  const { genesisJson } = readRecordedChain('op-bedrock-to-holocene')
  const io = scriptedIo()
  io.interrupt()
  const genesis = file('genesis.json', JSON.stringify({ ...(genesisJson as object), alloc: {} }))
  const { code, out } = await run(
    ['import', file('none.jsonl', '{}\n'), '--genesis', genesis, '--datadir', join(dir, 'import'), '--json'],
    io,
  )
  expect([code, JSON.parse(out)]).toEqual([130, expect.objectContaining({ imported: 0, head: 0 })])
})

/** Result of getSchedule() of L1's ProtocolVersions contract. @param times in seconds by fork id */
function scheduleResult(times: readonly number[]): string {
  return `0x${[32, times.length, ...times].map((word) => word.toString(16).padStart(64, '0')).join('')}`
}

it('cli/commands/node: notes new names of older variables, keeps serving after a fork has stopped it, ends with 0 (UNSUPPORTED_FORK)', async () => {
  const { l1: recorded, config, rollupJson, genesisJson } = readRecordedChain('op-bedrock-to-holocene')
  const l1 = createRecordedL1(recorded, { head: 14 })
  const published = scheduleResult([...Array<number>(14).fill(0), config.genesis.l2TimeSec + 3])
  await using served = await serveL1(
    (exchange) => (exchange.body.includes('eth_call') ? rpcReply(exchange.body, () => published) : l1.reply(exchange)),
    0,
  )
  const rollup = { ...(rollupJson as object), protocol_versions_address: config.l1SystemConfig }
  const files = [
    '--rollup.config',
    file('rollup.json', JSON.stringify(rollup)),
    '--genesis',
    file('late.json', JSON.stringify(genesisJson)),
  ]
  const older = {
    BASE_NODE_LOG_FORMAT: '"json"',
    SVC_NODE_L1_ETH_RPC: served.url,
    BASE_NODE_L1_BEACON: served.url,
    STATSD_ADDRESS: '"172.17.0.1"',
  }
  const io = scriptedIo({ clock: systemClock, env: { BASALT_DATADIR: join(dir, 'node'), ...older } })
  const ports = ['--http.port', '0', '--rollup.port', '0', '--ws.port', '0', '--metrics.port', '0', '--rpc.workers', '0']
  let code: number | undefined
  const ended = runCli(['node', ...files, ...ports], io).then((result) => {
    code = result
  })
  await vi.waitFor(() => expect(io.written.err).toContain('UNSUPPORTED_FORK'), 10_000)
  await settle()
  expect(code).toBeUndefined()
  const lines = io.written.err
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { msg: string; variable?: string; now?: string })
  expect(lines.filter(({ variable }) => variable !== undefined).map(({ msg, variable, now }) => [variable, now ?? msg])).toEqual([
    ['STATSD_ADDRESS', 'variable has no meaning here'],
    ['SVC_NODE_L1_ETH_RPC', 'BASALT_L1_RPC'],
    ['BASE_NODE_L1_BEACON', 'BASALT_L1_BEACON'],
    ['BASE_NODE_LOG_FORMAT', 'BASALT_LOG_FORMAT'],
  ])
  const [, url] = /"rollup":"([^"]+)"/.exec(io.written.err) ?? []
  expect((await fetch(`${url}/readyz`)).status).toBe(503)
  io.interrupt()
  await ended
  expect(code).toBe(0)
}, 20_000)
