import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { afterAll, expect, it } from 'vitest'
import { readRecordedChain } from '#devnet/recordedChain'
import { runCliProcess, startCli } from '#test/harness/process/cliProcess'
import { sampleOf } from '#test/harness/sample'

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

const refused: readonly (readonly [string, string[], RegExp])[] = [
  ['an unknown flag', ['node', '--nosuch'], /unknown option '--nosuch'/],
  ['no L1', ['node', ...files], /--l1.rpc is needed/],
  ['a genesis of another chain', ['node', '--rollup.config', rollup, ...otherFiles.slice(2), ...l1Flags, ...datadir('a')], /genesis/],
  [
    'a data directory below a file',
    ['node', ...files, ...l1Flags, ...ports, '--datadir', join(rollup, 'sub')],
    /cannot write|not a directory|ENOTDIR/i,
  ],
  ['an invalid file to import', ['import', file('bad.jsonl', 'nonsense\n'), '--genesis', genesis, ...datadir('c')], /line 1/],
]
// cli/run.test.ts has an unknown flag too
it.each(sampleOf(refused.slice(1), [...refused]))(
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
    // without blobs, whose checks need seconds of a processor for their set-up
    ...l1Flags.slice(0, 2),
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
  const off = ['--ws.port', 'off', '--metrics.port', 'off', '--rpc.workers', '1']
  const half = ['--mode', 'execution', '--jwt', join(dir, 'jwt.hex'), '--engine.port', '0', '--http.port', '0']
  const where = [...half, ...off, ...datadir('shared')]
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
