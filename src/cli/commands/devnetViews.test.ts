import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Devnet, startDevnet } from '#devnet/startDevnet'
import { systemClock } from '#lib/clock'
import type { StatusFacts } from '#monitor/statusFacts'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { serveNode } from '#test/harness/process/nodeServer'
import { runCli } from '../run.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-lookup-'))
afterAll(() => rmSync(dir, { recursive: true }))

async function run(args: readonly string[]) {
  const io = scriptedIo({ clock: systemClock })
  const code = await runCli(args, io)
  return { code, ...io.written }
}
const json = async <T>(args: readonly string[]): Promise<T> => JSON.parse((await run([...args, '--json'])).out) as T

let devnet: Devnet
let url: readonly string[]
let sent: { transaction: string; block: number; from: string; to: string }
let created: { token: string; transaction: string }

const receiver = `0x${'00'.repeat(19)}aa`
beforeAll(async () => {
  devnet = await startDevnet()
  url = ['--url', devnet.urls.rpc]
  const control = ['--control.port', new URL(devnet.urls.control).port]
  sent = await json(['devnet', 'tx', '--to', receiver, '--value', '1ether', ...control])
  created = await json(['devnet', 'b20', 'create', '--name', 'Basalt Dollar', '--symbol', 'BSD', '--currency', 'USD', ...control])
}, 240_000)
afterAll(async () => {
  await devnet[Symbol.asyncDispose]()
})

it('cli/commands/lookup block: shows header, L1 attributes and transactions with their names', async () => {
  const { code, out } = await run(['block', String(sent.block), ...url])
  expect(code).toBe(0)
  expect(out).toMatch(new RegExp(`^block +${sent.block}$`, 'm'))
  expect(out).toMatch(/^L1 origin +\d+, 0x[0-9a-f]{64}$/m)
  expect(out).toMatch(/^operator fee +scalar 0, constant 0 wei$/m)
  expect(out).toMatch(/^ *0 +0x[0-9a-f]{64} +deposit +0xdeaddead\w+ +0x4{0,1}\w+ \(L1Block\) +0 ETH$/m)
  expect(out).toContain(`${sent.transaction}  1559     ${sent.from.toLowerCase()}  ${receiver}`)
  const { block, l1Attributes } = await json<{ block: { hash: string }; l1Attributes: { format: string; number: number } }>([
    'block',
    String(sent.block),
    ...url,
  ])
  expect(l1Attributes).toMatchObject({ format: 'jovian', number: expect.any(Number) })
  expect((await run(['block', block.hash, ...url])).out.split('\n').filter((line) => !line.startsWith('time'))).toEqual(
    out.split('\n').filter((line) => !line.startsWith('time')),
  )
}, 30_000)

it('cli/commands/lookup tx: splits the fee into parts whose sum the sender paid', async () => {
  const { out } = await run(['tx', sent.transaction, ...url])
  expect(out).toMatch(/^state +succeeded$/m)
  expect(out).toMatch(/^fee +[\d.]+ ETH\n +execution [\d.]+ ETH, 21,000 gas at [\d.]+ gwei\n +L1 [\d.]+ ETH\n +operator 0 ETH$/m)
  const { fees, receipt } = await json<{ fees: Record<string, string>; receipt: { blockNumber: string } }>(['tx', sent.transaction, ...url])
  const balanceAt = async (number: number): Promise<bigint> =>
    BigInt((await json<{ balance: string }>(['account', sent.from, '--block', String(number), ...url])).balance)
  const number = Number(receipt.blockNumber)
  const paid = (await balanceAt(number - 1)) - (await balanceAt(number)) - 10n ** 18n
  expect(BigInt(fees['total'] ?? 0)).toBe(paid)
}, 30_000)

it('cli/commands/lookup receipt, account, logs, call: name B20 tokens by their symbol', async () => {
  const receipt = (await run(['receipt', created.transaction, ...url])).out
  expect(receipt).toMatch(/\(B20Factory\) +B20Created\(address,uint8,string,string,uint8,bytes\)/)
  const account = (await run(['account', created.token, ...url])).out
  expect(account).toMatch(/^account +0xb2\w+ \(B20 BSD\)$/m)
  expect(account).toMatch(/^B20 token +BSD, Basalt Dollar\ndecimals +6\ntotal supply +0$/m)
  const logs = (await run(['logs', '--from-block', '0', '--address', created.token, ...url])).out
  expect(logs).toMatch(/\(B20 BSD\) +RoleGranted\(bytes32,address,address\)/)
  const call = await run(['call', created.token, '--data', '0x313ce567', ...url])
  expect([call.code, call.out]).toEqual([0, expect.stringMatching(/^result +0x0+6\nwords +0x0+6 6\n$/)])
}, 30_000)

it.each<[string, (of: typeof sent) => string[], RegExp]>([
  ['a block', () => ['block', '99999999'], /^basalt: the node has no block 99999999\n$/],
  ['a transaction', () => ['tx', `0x${'12'.repeat(32)}`], /^basalt: the node has no transaction 0x1212/],
])('cli/commands/lookup: exits with 1 for %s that does not exist', async (_what, args, said) => {
  const { code, err } = await run([...args(sent), ...url])
  expect([code, err]).toEqual([1, expect.stringMatching(said)])
})

it('cli/commands/lookup call: prints the reason of a revert and exits with 1', async () => {
  const reason = `0x08c379a0${'20'.padStart(64, '0')}${'5'.padStart(64, '0')}${Buffer.from('sorry').toString('hex').padEnd(64, '0')}`
  await using node = await serveNode({ rpc: { eth_call: { error: { code: 3, message: 'execution reverted', data: reason } as never } } })
  const { code, out } = await run(['call', receiver, '--url', node.url])
  expect([code, out]).toEqual([1, `failed  sorry\ndata    ${reason}\n`])
})

it.each<[string, string[], RegExp]>([
  ['a bad hash', ['tx', '0x12'], /the hash must be 0x and 64 hex digits/],
  ['a bad address', ['account', 'vitalik.eth'], /the address must be 0x and 40 hex digits/],
  ['a bad block', ['block', 'newest'], /--BLOCK: "newest" is not a block number/],
  ['bad topics', ['logs', '--topics', '0x12'], /--topics: "0x12" is not up to four topics/],
])('cli/commands/lookup: refuses %s in one line', async (_what, args, said) => {
  const { code, err } = await run(args)
  expect([code, err]).toEqual([2, expect.stringMatching(said)])
})

it.each<[string, string[]]>([
  ['block', ['block', 'latest']],
  ['transaction', ['tx', `0x${'12'.repeat(32)}`]],
  ['account', ['account', receiver]],
  ['logs', ['logs']],
])('cli/commands/lookup: reports malformed answers to a request for a %s in one line (NODE_REFUSED)', async (_what, args) => {
  await using node = await serveNode({
    rpc: {
      eth_getBlockByNumber: { result: { transactions: 5 } },
      eth_getTransactionByHash: { result: 5 },
      eth_getTransactionReceipt: { result: 5 },
      eth_getLogs: { result: {} },
    },
  })
  const { code, err } = await run([...args, '--url', node.url])
  expect([code, err]).toEqual([2, expect.stringMatching(/^basalt: 127\.0\.0\.1:\d+ refused .*\(NODE_REFUSED\)\n$/)])
})

it('cli/commands/status: shows a devnet by its JSON-RPC and its rollup port', async () => {
  const { code, out } = await run(['status', '--url', devnet.urls.rpc, '--metrics-url', devnet.urls.rollup, '--json'])
  const facts = JSON.parse(out) as StatusFacts
  expect(facts).toMatchObject({ chainId: 901, network: null, mode: 'all', fork: 'denim', silent: [] })
  expect(facts.heads.unsafe?.number).toBeGreaterThanOrEqual(sent.block)
  expect(facts.disk?.freeBytes).toBeGreaterThan(0)
  expect(code).toBe(facts.ready ? 0 : 1)
}, 60_000)

it('cli/commands/doctor: finds nothing wrong with a node for a devnet, and nothing with the nodes of the devnet', async () => {
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
}, 240_000)
