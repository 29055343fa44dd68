import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { chainFlags, recordedProcessChain } from '#test/harness/process/chain'
import { type CliProcess, startCli } from '#test/harness/process/cliProcess'
import { sampleOf } from '#test/harness/sample'

const base = mkdtempSync(join(tmpdir(), 'basalt-supervisor-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

const chain = recordedProcessChain('op-bedrock-to-holocene')
const ports = ['http', 'ws', 'engine', 'metrics'].flatMap((name) => [`--${name}.port`, name === 'http' || name === 'engine' ? '0' : 'off'])
let dirs = 0

/** Starts a node. Its parent process is `cli.child`; `pid` is the node's own process. */
async function startNode(): Promise<{ cli: CliProcess; pid: number; datadir: string }> {
  const folder = mkdtempSync(join(base, `${dirs++}-`))
  const datadir = join(folder, 'data')
  const args = ['--datadir', datadir, '--jwt', join(folder, 'jwt.hex'), '--rpc.workers', '1', '--log.format', 'json']
  const cli = startCli(['node', '--mode', 'execution', ...chainFlags(chain, folder), ...ports, ...args])
  await cli.until(/node started/)
  return { cli, pid: childOf(cli.child.pid ?? 0), datadir }
}

const childOf = (pid: number): number => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())

async function untilGone(pid: number): Promise<void> {
  for (let waitedMs = 0; existsSync(`/proc/${pid}`); waitedMs += 20) {
    if (waitedMs > 5_000) throw new Error(`process ${pid} has not exited`)
    await delay(20)
  }
}

const ends = [
  ['SIGBUS', 135, 'STORE_UNREADABLE'],
  ['SIGKILL', 137, 'NODE_KILLED'],
  ['SIGSEGV', 139, 'NODE_CRASHED'],
] as const
it.each(sampleOf(ends.slice(0, 2), [...ends]))(
  'bin/supervise: reports a node that ended by %s in one line, exit code %i (%s)',
  async (signal, exitCode, fault) => {
    const { cli, pid, datadir } = await startNode()
    await using _cli = cli
    process.kill(pid, signal)
    const { code, stderr } = await cli.ended()
    const errors = stderr.split('\n').filter((line) => line.includes('"level":"error"'))
    expect([code, errors.length, JSON.parse(errors[0] ?? '{}')]).toEqual([
      exitCode,
      1,
      expect.objectContaining({ code: fault, fix: expect.stringMatching(/\w/) }),
    ])
    if (signal === 'SIGBUS') expect(errors[0]).toContain(join(datadir, 'chain', 'data.mdb'))
  },
  60_000,
)

it('bin/supervise: ends the node when the parent process is killed', async () => {
  const { cli, pid } = await startNode()
  await using _cli = cli
  cli.child.kill('SIGKILL')
  await untilGone(pid)
}, 60_000)

it('bin/supervise: kills the node on a second signal, without an error line', async () => {
  const { cli, pid } = await startNode()
  await using _cli = cli
  process.kill(pid, 'SIGSTOP')
  cli.child.kill('SIGINT')
  await delay(1_200)
  cli.child.kill('SIGINT')
  const { code, stderr } = await cli.ended()
  expect([code, stderr.match(/"level":"error"/g)]).toEqual([130, null])
  await untilGone(pid)
}, 60_000)

it('bin/basalt: all threads of `snapshot create` have a low priority', async () => {
  const folder = mkdtempSync(join(base, 'create-'))
  await using cli = startCli(['snapshot', 'create', ...chainFlags(chain, folder), '--datadir', folder, '--out', join(folder, 'out')])
  const niceOf = (pid: number, thread: string): number =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1').split(') ')[1]?.split(' ')[16])
  const { pid: parent = 0 } = cli.child
  while (childOf(parent) === 0) await delay(1)
  const pid = childOf(parent)
  while (readdirSync(`/proc/${pid}/task`).length < 5) await delay(1)
  expect(new Set(readdirSync(`/proc/${pid}/task`).map((thread) => niceOf(pid, thread)))).toEqual(new Set([15]))
  expect((await cli.ended()).stderr).toContain('DATABASE_MISSING')
})
