import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readRecordedChain } from '#devnet/recordedChain'
import { systemClock } from '#lib/clock'
import { createLog } from '#lib/log'
import { type Node, startNode } from '#node/node'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { runCli } from '../../src/cli/run.ts'
import { untilAllRpcThreads } from '../harness/process/allRpcThreads.ts'
import { anyPort, nodeOptions } from '../harness/process/nodeOptions.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-operator-'))
const ipc = join(base, 'node.ipc')
const lines: string[] = []
const secret = 'k3y-of-an-account-2222'
let node: Node

beforeAll(async () => {
  const chain = readRecordedChain('op-bedrock-to-holocene')
  const log = createLog('warn', { write: (line) => void lines.push(line) })
  const listen = { http: anyPort, metrics: anyPort, ipc: { path: ipc } }
  const options = { mode: 'execution', datadir: join(base, 'data'), listen, rpcThreads: 2, slowCallMs: 0 } as const
  node = await startNode({ clock: systemClock, random: () => 0, fetch, log, secrets: [secret] }, nodeOptions(options, chain))
  await untilAllRpcThreads(node, 2)
}, 60_000)
afterAll(async () => {
  await node[Symbol.asyncDispose]()
  rmSync(base, { recursive: true })
})

async function run(args: readonly string[], at: readonly string[] = ['--ipc.path', ipc]) {
  const io = scriptedIo({ clock: systemClock })
  const code = await runCli([...args, ...at], io)
  return { code, ...io.written }
}

/** Sends calls that are slow, over several connections, and returns the lines of all RPC threads. */
async function slowLines(): Promise<number> {
  const before = lines.length
  for (let i = 0; i < 4; i++) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })
    await (await fetch(node.urls.http ?? '', { method: 'POST', body, headers: { connection: 'close' } })).text()
  }
  await systemClock.delay(100, new AbortController().signal)
  return lines.slice(before).filter((line) => line.includes('slow request')).length
}

it('process/operator: basalt log set changes the level of a module in every thread, until it follows the log again', async () => {
  const shown = await run(['log', 'show'])
  expect([shown.code, shown.err]).toEqual([0, ''])
  expect(shown.out).toMatch(/^all +warn\n(?:.*\n)*rpc +default\n/)
  expect(await slowLines()).toBe(4)
  const set = await run(['log', 'set', 'rpc', 'error', '--json'])
  expect([set.code, JSON.parse(set.out)]).toMatchObject([0, { level: 'warn', modules: { rpc: 'error', execution: null } }])
  expect(await slowLines()).toBe(0)
  expect((await run(['log', 'set', 'rpc', 'default'])).out).toMatch(/^rpc +default$/m)
  expect(await slowLines()).toBe(4)
  await run(['log', 'set', 'all', 'error'])
  expect(await slowLines()).toBe(0)
  await run(['log', 'set', 'all', 'warn'])
})

it.each<[string, readonly string[], RegExp, number]>([
  ['an unknown module', ['log', 'set', 'nothing', 'debug'], /no module "nothing"; known: .*\(NODE_REFUSED\)/, 2],
  ['an unknown level', ['log', 'set', 'rpc', 'loud'], /"loud" is no level of the log; one of trace, .*\(BAD_USAGE\)/, 2],
  ['a missing level', ['log', 'set', 'rpc'], /missing required argument 'LEVEL'/, 2],
  ['no command', ['log'], /needs a command: show or set.*\(BAD_USAGE\)/, 2],
  ['an unknown thread', ['profile', 'cpu', '--thread', 'nothing'], /no thread "nothing"; known: main, .*\(NODE_REFUSED\)/, 2],
  ['too long a profile', ['profile', 'cpu', '--seconds', '121'], /--seconds.*"121".*\(BAD_FLAG\)/, 2],
])('process/operator: reports %s in one line', async (_which, args, line, code) => {
  const result = await run(args, args.length === 1 ? [] : undefined)
  expect([result.code, result.out]).toEqual([code, ''])
  expect(result.err).toMatch(line)
})

it('process/operator: names what is missing where no node answers, or one without the methods of the operator', async () => {
  const silent = await run(['log', 'show'], ['--ipc.path', join(base, 'none.ipc')])
  expect([silent.code, silent.err]).toMatchObject([4, expect.stringMatching(/none\.ipc: ENOENT.*\(NODE_SILENT\)/)])
  const without = await run(['profile', 'heap'], ['--url', node.urls.http ?? ''])
  expect([without.code, without.err]).toMatchObject([
    2,
    expect.stringMatching(/does not serve the methods of the operator.*--ipc\.path.*\(NO_OPERATOR\)/),
  ])
})

it.each(['main', 'execution', 'rpc-0'])('process/operator: basalt profile cpu and heap write files of thread %s', async (thread) => {
  const cpu = await run(['profile', 'cpu', '--thread', thread, '--seconds', '1', '--json'])
  expect([cpu.code, cpu.err]).toEqual([0, ''])
  const { file } = JSON.parse(cpu.out) as { file: string }
  expect(file).toMatch(new RegExp(`/data/profiles/\\d{8}T\\d{6}Z-${thread}\\.cpuprofile$`))
  expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveProperty('nodes')
  const heap = await run(['profile', 'heap', '--thread', thread, '--seconds', '1'])
  const [, written = ''] = /^(.*) \([\d,]+ bytes\)\n$/.exec(heap.out) ?? []
  expect(existsSync(written)).toBe(true)
  expect(JSON.parse(readFileSync(written, 'utf8'))).toHaveProperty('head')
})

it('process/operator: a heap snapshot of a thread has no known secret', async () => {
  const url = `${node.urls.http}/${secret}`
  await (await fetch(url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: secret, method: 'eth_chainId' }) })).text()
  const taken = await run(['profile', 'heap', '--snapshot', '--thread', 'rpc-0', '--json'])
  expect([taken.code, taken.err]).toEqual([0, ''])
  const text = readFileSync((JSON.parse(taken.out) as { file: string }).file, 'latin1')
  expect(JSON.parse(text)).toHaveProperty('snapshot.meta')
  expect(text).not.toContain(secret)
})
