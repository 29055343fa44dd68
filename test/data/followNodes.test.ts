import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { serveL1 } from '#devnet/l1Server'
import { readRecordedChain } from '#devnet/recordedChain'
import { createRecordedL1, type RecordedL1 } from '#devnet/recordedL1'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { type Node, startNode } from '#node/node'
import type { NodeOptions } from '#node/nodeOptions'
import { rpcCall } from '#test/harness/process/cliProcess'
import { openSocket } from '#test/harness/process/socketClient'

const base = mkdtempSync(join(tmpdir(), 'basalt-follow-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

const recorded = readRecordedChain('op-ecotone-to-jovian')
const { config, genesis, blocks, safeHeads } = recorded
const lastL1 = safeHeads.length - 1
const soon = { timeout: 50_000, interval: 20 }
let dirs = 0

type Changes = Partial<Pick<NodeOptions, 'l1' | 'source' | 'proofs'>>

function start(changes: Changes): Promise<Node> {
  const any = { host: '127.0.0.1', port: 0 }
  return startNode(
    { clock: systemClock, random: Math.random, fetch, log: silentLog },
    {
      ...{ mode: 'all', config, genesis: () => genesis, datadir: join(base, String(dirs++)), version: '1.2.3' },
      ...{ listen: { http: any, ws: any, rollup: any }, isAdminOn: false, readyMaxLagSec: 30, minFreeBytes: 0 },
      ...changes,
    },
  )
}

async function serveRecordedL1(head: number): Promise<AsyncDisposable & { l1: RecordedL1; options: NonNullable<NodeOptions['l1']> }> {
  const l1 = createRecordedL1(recorded.l1, { head })
  const { url, [Symbol.asyncDispose]: close } = await serveL1((exchange) => l1.reply(exchange), 0)
  return { l1, options: { rpcUrls: [url], beaconUrls: [url], pollMs: 50 }, [Symbol.asyncDispose]: close }
}

const sourceOf = ({ urls }: Node, how: 'http' | 'ws'): NonNullable<NodeOptions['source']> => ({
  url: how === 'http' ? (urls.http ?? '') : `${urls.http},${urls.ws}`,
  hasProofs: false,
  maxAheadSec: 1_024,
  pollMs: how === 'http' ? 20 : 60_000,
})

async function metric({ urls }: Node, line: string): Promise<number> {
  const text = await (await fetch(`${urls.rollup}/metrics`)).text()
  return Number(
    text
      .split('\n')
      .find((each) => each.startsWith(`${line} `))
      ?.split(' ')
      .at(-1),
  )
}

const heads = (node: Node): (string | undefined)[] => {
  const { unsafe, safe, finalized } = node.execution?.published.heads ?? {}
  return [unsafe?.hash, safe?.hash, finalized?.hash]
}

it.each(['http', 'ws'] as const)(
  'consensus/follow: follows a node and its labels over %s, and executes each block once',
  { timeout: 120_000 },
  async (how) => {
    await using l1 = await serveRecordedL1(6)
    await using a = await start({ l1: l1.options })
    await using b = await start({ source: sourceOf(a, how) })
    await using watcher = await openSocket(b.urls.ws ?? '')
    await watcher.call('eth_subscribe', 'newHeads')
    for (let head = 6; head <= lastL1; head += 7) {
      l1.l1.reveal(head)
      const expected = blocks[safeHeads[head] ?? 0]?.hash
      await vi.waitFor(() => expect(b.execution?.published.heads.unsafe.hash).toBe(expected), soon)
    }
    l1.l1.reveal(lastL1)
    await vi.waitFor(() => expect(a.execution?.published.heads.safe.number).toBe(safeHeads[lastL1]), soon)
    await vi.waitFor(() => expect(heads(b)).toEqual(heads(a)), soon)
    expect(await metric(b, 'basalt_execution_blocks_total')).toBe(safeHeads[lastL1])
    expect(b.status()).toMatchObject({ labels: 'source', origin: undefined })
    const last = blocks[safeHeads[lastL1] ?? 0]
    expect(await rpcCall(b.urls.http ?? '', 'eth_getBlockByNumber', ['latest', false])).toMatchObject({ hash: last?.hash })
    const announced = watcher.waiting.map(({ params }) => (params as { result: { hash: string } }).result.hash)
    expect(blocks.map(({ hash }) => hash).slice(-announced.length - 1)).toEqual(expect.arrayContaining(announced))
    expect(announced.at(-1)).toBe(last?.hash)
  },
)

it('consensus/follow: imports blocks ahead of its own L1 as unsafe, then consolidates them without building', {
  timeout: 120_000,
}, async () => {
  await using ahead = await serveRecordedL1(lastL1)
  await using behind = await serveRecordedL1(6)
  await using a = await start({ l1: ahead.options })
  await using c = await start({ l1: behind.options, source: sourceOf(a, 'ws') })
  const top = blocks[safeHeads[lastL1] ?? 0]
  await vi.waitFor(() => expect(c.execution?.published.heads.unsafe.hash).toBe(top?.hash), soon)
  expect(c.execution?.published.heads.safe.number).toBeLessThanOrEqual(safeHeads[6] ?? 0)
  expect(c.status()?.labels).toBe('l1')
  const built = await metric(c, 'basalt_consensus_derived_blocks_total{outcome="built"}')
  for (let head = lastL1 - 40; head <= lastL1; head += 5) {
    behind.l1.reveal(head)
    await vi.waitFor(() => expect(c.execution?.published.heads.safe.number).toBe(safeHeads[head]), soon)
    expect(c.execution?.published.heads.unsafe.hash).toBe(top?.hash)
  }
  expect(await metric(c, 'basalt_consensus_derived_blocks_total{outcome="built"}')).toBe(built)
  expect(await metric(c, 'basalt_execution_blocks_total')).toBe(safeHeads[lastL1])
  expect(await metric(c, 'basalt_consensus_derived_blocks_total{outcome="consolidated"}')).toBeGreaterThan(50)
})

it('consensus/follow: stays at most --source.max-ahead beyond the proofs of its own execution half, also when they are recorded slowly', {
  timeout: 120_000,
}, async () => {
  await using l1 = await serveRecordedL1(lastL1)
  await using a = await start({ l1: l1.options })
  const top = blocks[safeHeads[lastL1] ?? 0]
  await vi.waitFor(() => expect(a.execution?.published.heads.unsafe.hash).toBe(top?.hash), soon)
  const maxAheadSec = 60
  const maxAhead = maxAheadSec / config.blockTimeSec
  const proofs = { dir: join(base, 'slow-proofs'), windowSec: 10 ** 9, isRequired: false, stepPauseMs: 400 }
  await using b = await start({ source: { ...sourceOf(a, 'http'), hasProofs: true, maxAheadSec }, proofs })
  const execution = b.execution ?? expect.fail()
  const seen = { held: 0, most: 0 }
  while (execution.published.heads.unsafe.hash !== top?.hash) {
    {
      using view = execution.view()
      const ahead = view.heads.latest.number - (view.proofs?.window?.latest.number ?? 0)
      expect(ahead).toBeLessThanOrEqual(maxAhead)
      seen.most = Math.max(seen.most, ahead)
      if (ahead === maxAhead) seen.held++
    }
    await systemClock.delay(5)
  }
  expect(seen.most).toBe(maxAhead)
  expect(seen.held).toBeGreaterThan(5)
})
