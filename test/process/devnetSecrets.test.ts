import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { devnetAccounts } from '#devnet/accounts'
import { type CliProcess, rpcCall, startCli } from '#test/harness/process/cliProcess'
import { freePorts } from '../../e2e/devnet/process.ts'
import { eventually } from '../../e2e/nodeProcess.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-devnet-secrets-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
const { accounts, roles } = devnetAccounts(words, 10)
const secrets = [words, roles.batcher.privateKey.slice(2)]
/** Keys that the start of a devnet shows. */
const shown = [...accounts, roles.owner].map(({ privateKey }) => privateKey.slice(2))

const printed = ({ output }: CliProcess): string => `${output().stdout}${output().stderr}`

/** Texts of all files under a directory. */
const filesIn = (folder: string): string =>
  (readdirSync(folder, { recursive: true }) as string[])
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n')

it('process/devnet: shows the keys of accounts and owner at its start alone, and its mnemonic and the key of its batcher never', async () => {
  const env = { BASALT_DEVNET_MNEMONIC: words }
  await using devnet = startCli(['devnet', '--json', '--l1', 'memory', ...freePorts, '--log.level', 'trace', '--log.format', 'json'], env)
  const [line] = await devnet.until(/^\{"event":"started".*\}$/m)
  const { urls } = JSON.parse(line) as { urls: Readonly<Record<'control' | 'rpc' | 'rollup', string>> }
  await eventually('some blocks', 60_000, async () => Number(await rpcCall(urls.rpc, 'eth_blockNumber')) > 10 || 'none')
  const control = ['--control.port', new URL(urls.control).port]
  const texts: Record<string, string> = {}
  const commands: readonly (readonly string[])[] = [
    ['devnet', 'tx', '--to', `0x${'aa'.repeat(20)}`, '--value', '1ether', ...control],
    ['devnet', 'deposit', '--value', '1ether', ...control],
    ['devnet', 'export', join(dir, 'chain'), ...control],
    ['devnet', 'tx', '--from', '99', '--value', '1ether', ...control],
    ['status', '--url', urls.rpc, '--metrics-url', urls.control],
  ]
  for (const args of commands) {
    await using command = startCli(args, env)
    await command.ended()
    texts[args.join(' ')] = printed(command)
  }
  for (const path of ['/', '/page/state', '/metrics', '/readyz', '/none'])
    texts[path] = await (await fetch(`${urls.control}${path}`)).text()
  texts['exported chain'] = filesIn(join(dir, 'chain'))
  devnet.child.kill('SIGINT')
  await devnet.ended()
  texts['output'] = printed(devnet)

  // the words are in use, and the judge sees a key
  expect(texts['output']).toContain(accounts[0]?.privateKey)
  expect(texts['/metrics']).toContain('basalt_')
  const found = (keys: readonly string[]): readonly string[] =>
    Object.keys(texts).filter((name) => keys.some((key) => texts[name]?.includes(key)))
  expect(found(secrets)).toEqual([])
  expect(found(shown)).toEqual(['output'])
}, 300_000)
