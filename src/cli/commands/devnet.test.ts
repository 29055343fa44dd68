import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { runCli } from '../run.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-devnet-cli-'))
afterAll(() => rmSync(dir, { recursive: true }))
const file = (name: string, text: string): string => {
  const path = join(dir, name)
  writeFileSync(path, text)
  return path
}
const late = file('late.json', '{"ecotone": 20, "fjord": 10}')
const broken = file('broken.json', '{')

it.each<[string[], string, string]>([
  [['--block-time', '200ms', '--fork', 'cobalt'], 'OPTION_UNSUPPORTED_HERE', 'a block time of 200 ms'],
  [['--block-time', '2s', '--fork', 'denim'], 'OPTION_UNSUPPORTED_HERE', 'a block time of 2 s'],
  [['--block-time', '5s'], 'BAD_FLAG', '200ms, 1s or 2s'],
  [['--fork', 'jovain'], 'UNKNOWN_FORK', '"jovain"'],
  [['--fork', 'everest'], 'UNKNOWN_FORK', '"everest"'],
  [['--fork', late], 'BAD_FORK_SCHEDULE', 'ecotone at 20, expected at most 10'],
  [['--fork', broken], 'BAD_FILE', broken],
  [['--fork', join(dir, 'none.json')], 'UNREADABLE_FILE', 'none.json'],
  [['--http.port', 'off'], 'BAD_FLAG', '--http.port'],
  [['--chain-id', '900'], 'OPTION_UNSUPPORTED_HERE', 'L1 has the same'],
  [['--mnemonic', 'one two three'], 'BAD_MNEMONIC', 'BIP-39'],
  [['--l1', 'memory', '--datadir', join(dir, 'chain')], 'OPTION_UNSUPPORTED_HERE', 'it stores nothing on disk'],
  [['tx', '--control.port', '1', '--value', '1ether'], 'DEVNET_NOT_RUNNING', 'http://127.0.0.1:1'],
  [['accounts', '--control.port', 'off'], 'BAD_FLAG', '--control.port'],
  [['export', join(dir, 'export'), '--control.port', '1'], 'DEVNET_NOT_RUNNING', 'http://127.0.0.1:1'],
  [['b20'], 'BAD_USAGE', 'create, mint, transfer'],
  [['b20', 'policy'], 'BAD_USAGE', 'create, set, add or remove'],
  [['b20', 'create', '--name', 'Gold'], 'MISSING_FLAG', '--symbol'],
  [['b20', 'create', '--name', 'G', '--symbol', 'G', '--currency', 'USD', '--decimals', '6'], 'CONFLICTING_FLAGS', '--decimals'],
  [['b20', 'create', '--name', 'G', '--symbol', 'G', '--control.port', '1'], 'DEVNET_NOT_RUNNING', 'http://127.0.0.1:1'],
  [['b20', 'mint', '--token', `0x${'b2'.repeat(20)}`], 'MISSING_FLAG', '--to'],
  [['b20', 'transfer', '--amount', 'all'], 'BAD_FLAG', '--amount: "all"'],
  [['b20', 'policy', 'create', '--type', 'union'], 'BAD_FLAG', '--type: "union"'],
  [['b20', 'policy', 'add', '--id', '7'], 'MISSING_FLAG', '--account'],
  [['b20', 'show', '--control.port', '1', '--token', `0x${'b2'.repeat(20)}`], 'DEVNET_NOT_RUNNING', 'http://127.0.0.1:1'],
  [['deposit', '--value', 'much'], 'BAD_FLAG', '--value: "much"'],
  [['withdraw', '--to', '0x12'], 'BAD_FLAG', '--to'],
])('cli/commands/devnet: writes one line on standard error for %j (%s)', async (args, code, says) => {
  const io = scriptedIo()
  expect(await runCli(['devnet', ...args], io)).toBe(2)
  expect(io.written.out).toBe('')
  expect(io.written.err).toMatch(new RegExp(`^basalt: .*\\(${code}\\)\\n$`))
  expect(io.written.err).toContain(says)
})

it('cli/commands/devnet: gives a flag after a subcommand to the subcommand, refuses it before', async () => {
  const io = scriptedIo()
  expect(await runCli(['devnet', 'tx', '--json', '--control.port', '1', '--to', `0x${'ab'.repeat(20)}`], io)).toBe(2)
  expect(io.written.err).toContain('DEVNET_NOT_RUNNING')
  const other = scriptedIo()
  expect(await runCli(['devnet', 'tx', '--chain-id', '7'], other)).toBe(2)
  expect(other.written.err).toBe("error: unknown option '--chain-id'\n")
})

it('cli/commands/devnet: does not touch a data directory of the environment', async () => {
  const datadir = join(dir, 'node')
  const io = scriptedIo({ env: { BASALT_DATADIR: datadir } })
  expect(await runCli(['devnet', '--chain-id', '900'], io)).toBe(2)
  expect(readdirSync(dir)).not.toContain('node')
})
