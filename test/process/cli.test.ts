import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { afterAll, expect, it } from 'vitest'
import { serveL1 } from '#devnet/l1Server'
import { readRecordedChain } from '#devnet/recordedChain'
import { createRecordedL1 } from '#devnet/recordedL1'
import { runCliProcess, startCli } from '#test/harness/process/cliProcess'

const dir = mkdtempSync(join(tmpdir(), 'basalt-cli-'))
afterAll(() => rmSync(dir, { recursive: true }))

const chain = readRecordedChain()
const file = (name: string, content: string | Uint8Array): string => {
  const path = join(dir, name)
  writeFileSync(path, content)
  return path
}
const rollup = file('rollup.json', JSON.stringify(chain.rollupJson))
const genesis = file('genesis.json', JSON.stringify(chain.genesisJson))
const other = readRecordedChain('op-bedrock-to-holocene')
const otherFiles = [
  '--rollup.config',
  file('rollup2.json', JSON.stringify(other.rollupJson)),
  '--genesis',
  file('genesis2.json', JSON.stringify(other.genesisJson)),
]
const files = ['--rollup.config', rollup, '--genesis', genesis]
const l1Flags = ['--l1.rpc', 'http://127.0.0.1:9', '--l1.beacon', 'http://127.0.0.1:9']
const ports = ['--http.port', '0', '--rollup.port', '0', '--ws.port', '0', '--metrics.port', '0']
const datadir = (name: string): string[] => ['--datadir', join(dir, name)]

it.each<[string, string[], RegExp]>([
  ['an unknown flag', ['node', '--nosuch'], /unknown option '--nosuch'/],
  ['an unknown command', ['nosuch'], /unknown command 'nosuch'/],
  [
    'an invalid port',
    ['node', ...files, ...l1Flags, '--http.port', '70000'],
    /--http.port: "70000" is not an integer from 0 to 65535, or off/,
  ],
  ['an invalid L1 URL', ['node', ...files, '--l1.rpc', 'localhost'], /--l1.rpc: "\(secret\)" is not a list of http or https URLs/],
  ['an unsupported feature', ['node', ...files, ...l1Flags, '--p2p.port', '9222'], /--p2p.port is not supported yet/],
  ['an invalid sequencer URL', ['node', ...files, ...l1Flags, '--sequencer.http', 'ws://a'], /--sequencer.http: "\(secret\)" is not a URL/],
  [
    'a flag of another mode',
    ['node', ...files, ...l1Flags, '--engine', 'http://a'],
    /--engine has no effect with --mode all, only with consensus/,
  ],
  ['a consensus half without --engine', ['node', ...files, ...l1Flags, '--mode', 'consensus'], /--engine is needed/],
  [
    'an invalid secret',
    ['node', ...files, '--mode', 'execution', '--jwt', file('short.hex', 'abcd')],
    /short.hex is not a valid secret file.*JWT_FILE_BAD/,
  ],
  ['no L1', ['node', ...files], /--l1.rpc is needed/],
  ['no chain', ['node', ...l1Flags], /--network is needed/],
  [
    'a built-in chain together with files',
    ['node', '--network', 'base', ...files, ...l1Flags],
    /--network, --rollup.config, --genesis: a built-in chain has its own/,
  ],
  ['a missing rollup config', ['node', '--rollup.config', join(dir, 'none'), '--genesis', genesis, ...l1Flags], /cannot read .*none/],
  [
    'a rollup config that is not JSON',
    ['node', '--rollup.config', file('bad.json', '{"genesis":'), '--genesis', genesis, ...l1Flags],
    /bad.json is not JSON/,
  ],
  [
    'a rollup config with a bad value',
    [
      'node',
      '--rollup.config',
      file('bad2.json', JSON.stringify({ ...(chain.rollupJson as object), block_time: 'two' })),
      '--genesis',
      genesis,
      ...l1Flags,
    ],
    /block_time/,
  ],
  ['a genesis of another chain', ['node', '--rollup.config', rollup, ...otherFiles.slice(2), ...l1Flags, ...datadir('a')], /genesis/],
  [
    'a data directory below a file',
    ['node', ...files, ...l1Flags, ...ports, '--datadir', join(rollup, 'sub')],
    /cannot write|not a directory|ENOTDIR/i,
  ],
  ['a missing file to import', ['import', join(dir, 'none'), '--genesis', genesis, ...datadir('b')], /cannot read/],
  ['an invalid file to import', ['import', file('bad.jsonl', 'nonsense\n'), '--genesis', genesis, ...datadir('c')], /line 1/],
  ['an invalid file to execute', ['execute', file('block.json', '{}')], /fixture/],
])(
  'cli: reports %s in one line, exit code 2',
  async (_what, args, line) => {
    const { code, stderr, stdout } = await runCliProcess(args)
    expect(stderr).toMatch(line)
    expect({ code, lines: stderr.trimEnd().split('\n').length, stdout }).toEqual({ code: 2, lines: 1, stdout: '' })
  },
  60_000,
)

it('cli/commands/node: reports a port in use by its flag (PORT_IN_USE)', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  const { code, stderr } = await runCliProcess([
    'node',
    ...files,
    ...l1Flags,
    ...datadir('port'),
    '--http.port',
    String(port),
    ...ports.slice(2),
  ])
  taken.close()
  expect(stderr).toMatch(new RegExp(`^basalt: --http.port: port ${port} .* in use.*PORT_IN_USE`, 'm'))
  expect(code).toBe(2)
}, 60_000)

it('cli/commands/node: rejects a data directory of another chain or another process', async () => {
  const l1 = createRecordedL1(chain.l1, { head: 20 })
  await using served = await serveL1((exchange) => l1.reply(exchange), 0)
  const where = ['--l1.rpc', served.url, '--l1.beacon', served.url, ...ports, ...datadir('shared')]
  {
    await using first = startCli(['node', ...files, ...where])
    await first.until(/node started/)
    const second = await runCliProcess(['node', ...files, ...where])
    expect(second.stderr).toMatch(/DATADIR_LOCKED/)
    expect(second.code).toBe(2)
    first.child.kill('SIGTERM')
    expect((await first.ended()).code).toBe(0)
  }
  const wrong = await runCliProcess(['node', ...otherFiles, ...where])
  expect(wrong.stderr).toMatch(/GENESIS_MISMATCH/)
  expect(wrong.code).toBe(2)
}, 60_000)

it('cli/commands/execute: prints the hash of a real block, and exits with code 1 for a changed preimage', async () => {
  const path = 'test/fixtures/op-sepolia-26207960.json.zst'
  const { code, stdout } = await runCliProcess(['execute', path, '--json'])
  expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({ code: 0, block: 26_207_960, equal: true })

  const block = JSON.parse(zstdDecompressSync(readFileSync(path)).toString()) as { preimages: Record<string, string> }
  const [key = '', value = ''] = Object.entries(block.preimages)[3] ?? []
  block.preimages[key] = `${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}`
  const flipped = await runCliProcess(['execute', file('flipped.json.zst', zstdCompressSync(Buffer.from(JSON.stringify(block))))])
  expect(flipped.stderr).toMatch(/WITNESS_INVALID/)
  expect(flipped.code).toBe(1)
}, 60_000)
