import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { chainFlags, lastL1, recordedProcessChain, safeAfter } from '#test/harness/process/chain'
import { type CliProcess, rpcCall, startCli } from '#test/harness/process/cliProcess'
import { startProcessL1 } from '#test/harness/process/l1'

const base = mkdtempSync(join(tmpdir(), 'basalt-death-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

const preload = resolve(import.meta.dirname, '../harness/process/failingCommit.mjs')
const chain = recordedProcessChain('op-bedrock-to-holocene')

type Block = { readonly number: string; readonly hash: string }

async function urlOf(cli: CliProcess): Promise<string> {
  const [line] = await cli.until(/^.*"node started".*$/m)
  return (JSON.parse(line) as { rpc: string }).rpc
}

const headOf = async (url: string): Promise<Block> => (await rpcCall(url, 'eth_getBlockByNumber', ['latest', false])) as Block

async function untilHead(url: string, number: number): Promise<Block> {
  for (;;) {
    const head = await headOf(url)
    if (Number(head.number) >= number) return head
    await delay(20)
  }
}

/** Node on the first half of the chain. Once armed, the thread that commits fails at the next commit. */
async function startFailing(at: string) {
  await using starting = new AsyncDisposableStack()
  const folder = mkdtempSync(join(base, `${at}-`))
  const half = Math.floor(lastL1(chain) / 2)
  const l1 = starting.use(await startProcessL1(chain.l1, half))
  const flags = [
    'node',
    ...chainFlags(chain, folder),
    ...['--l1.rpc', `http://127.0.0.1:${l1.rpc.port}`, '--l1.beacon', `http://127.0.0.1:${l1.beacon.port}`, '--l1.poll-interval', '50'],
    ...['--http.port', '0', '--ws.port', 'off', '--rollup.port', 'off', '--metrics.port', 'off', '--rpc.workers', '0'],
    ...['--datadir', join(folder, 'data'), '--log.format', 'json'],
  ]
  const armed = join(folder, 'armed')
  const cli = starting.use(
    startCli(flags, { FAIL_AT: at, FAIL_ARMED: armed, NODE_OPTIONS: `--import=${preload} --max-old-space-size=192` }),
  )
  const shown = await untilHead(await urlOf(cli), safeAfter(chain, half).number)
  const kept = starting.move()
  return {
    cli,
    shown,
    async fail(): Promise<void> {
      writeFileSync(armed, '')
      l1.l1.reveal(lastL1(chain))
      while (existsSync(armed)) await delay(20)
    },
    /** Starts an undamaged node on the same data directory. @throws when a block that was served is missing or the chain is not completed */
    async checkRestart(): Promise<void> {
      await using again = startCli(flags)
      const url = await urlOf(again)
      expect(((await rpcCall(url, 'eth_getBlockByNumber', [shown.number, false])) as Block).hash).toBe(shown.hash)
      const last = safeAfter(chain, lastL1(chain))
      expect((await untilHead(url, last.number)).hash).toBe(last.hash)
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

it.each([
  ['a heap exhausted in the transaction', 'transaction'],
  ['a heap exhausted at the rows', 'rows'],
  ['a thread that hangs in the transaction', 'hang'],
])(
  'process/executionDeath: reports %s of a commit in one line, exits within seconds, and a restart has every served block',
  async (_what, at) => {
    await using node = await startFailing(at)
    await node.fail()
    const failedMs = performance.now()
    const { code, stderr } = await node.cli.ended()
    expect(performance.now() - failedMs).toBeLessThan(40_000)
    expect(code).toBeGreaterThan(0)
    expect(stderr.match(/"code":"(?:EXECUTION_STOPPED|EXECUTION_STUCK|NODE_CRASHED)"/g), stderr).toHaveLength(1)
    await node.checkRestart()
  },
  180_000,
)

it('process/executionDeath: stops cleanly on SIGTERM during a long commit, and a restart has every served block', async () => {
  await using node = await startFailing('slow')
  await node.fail()
  node.cli.child.kill('SIGTERM')
  const { code, stderr } = await node.cli.ended()
  expect([code, stderr.match(/"level":"error"/g)]).toEqual([0, null])
  await node.checkRestart()
}, 180_000)
