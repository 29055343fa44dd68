import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readRecordedChain } from '#devnet/recordedChain'
import { type Clock, systemClock } from '#lib/clock'
import { KzgThread } from '#lib/kzg/kzgThread'
import { createLog } from '#lib/log'
import { type Node, startNode } from '#node/node'
import { forkRecording } from '../harness/l1/fork.ts'
import { type L1FaultKind, startFaultyL1 } from '../harness/l1/recordedL1.ts'
import { sampleOf } from '../harness/sample.ts'

const { l1: recording, config, genesis, blocks } = readRecordedChain()
const lastL1 = recording.blocks.length - 1
const folder = mkdtempSync(join(tmpdir(), 'basalt-faults-'))
/** Its set-up takes two seconds of a processor: all nodes share it. */
const kzg = new KzgThread()
afterAll(async () => {
  await kzg[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

/** Clock that runs twenty times faster. */
const fastClock: Clock = {
  nowMs: () => systemClock.nowMs() * 20,
  elapsedMs: () => systemClock.elapsedMs() * 20,
  delay: (ms, signal) => systemClock.delay(ms / 20, signal),
  after: (ms, run) => systemClock.after(ms / 20, run),
}

function start(url: string, datadir: string, lines: string[]): Promise<Node> {
  const log = createLog('warn', { write: (line) => void lines.push(line) })
  return startNode(
    { clock: fastClock, random: () => 0.5, fetch, log, kzg },
    {
      mode: 'all',
      config,
      genesis: () => genesis,
      datadir: join(folder, datadir),
      version: 'test',
      l1: { rpcUrls: [url], beaconUrls: [url], pollMs: 500 },
      listen: {},
      isAdminOn: false,
      readyMaxLagSec: 30,
      minFreeBytes: 0,
    },
  )
}

async function until(node: Node, isThere: () => boolean): Promise<void> {
  for (let waited = 0; !isThere(); waited += 10) {
    if (waited > 20_000) throw new Error(`stuck: ${JSON.stringify(node.status())}`)
    await Promise.race([systemClock.delay(10), node.stopped])
  }
}

/** Returns a check that L1 is read up to a block and that the node waits there. */
const follows = (node: Node, l1Hash: unknown) => (): boolean => {
  const { origin, wait, heads } = node.status() ?? {}
  return origin?.hash === l1Hash && wait?.reason === 'l1-head' && heads !== undefined
}

function hashesOf(node: Node): (string | undefined)[] {
  using view = (node.execution ?? expect.fail()).view()
  return blocks.map((_, number) => view.canonicalHash(number))
}

// test/faults/l1.test.ts has both depths, without a node
it.each(sampleOf([20], [1, 20]))(
  'faults/node: unwinds the blocks derived from a reorg of %i L1 blocks, and derives the recorded chain',
  async (depth) => {
    const fork = forkRecording(recording, lastL1 - depth, lastL1 - 1)
    await using server = await startFaultyL1(fork, lastL1 - 1)
    await using node = await start(server.url, `reorg-${depth}`, [])
    await until(node, follows(node, fork.blocks.at(-1)?.block['hash']))
    const before = hashesOf(node)

    server.replay(recording, lastL1)
    await until(node, follows(node, recording.blocks[lastL1]?.block['hash']))
    expect(hashesOf(node)).toEqual(blocks.map(({ hash }) => hash))
    if (depth === 20) expect(before).not.toEqual(hashesOf(node))
  },
  60_000,
)

it('faults/node: logs each fault of a faulty L1, and derives every recorded block', async () => {
  const kinds: readonly L1FaultKind[] = [
    'rate-limit',
    'server-error',
    'truncated',
    'other-block',
    'wrong-hash',
    'wrong-receipts',
    'no-blob',
    'wrong-blob',
    'not-json',
  ]
  const lines: string[] = []
  await using server = await startFaultyL1(recording, 3)
  await using node = await start(server.url, 'faulty', lines)
  for (let head = 3; head <= lastL1; head += 24) {
    for (const kind of kinds) server.fail({ kind, times: kind === 'no-blob' ? 4 : 1, on: kind.endsWith('blob') ? /blob/ : /Receipts/ })
    server.l1.reveal(head)
    const hash = recording.blocks[head]?.block['hash']
    await until(node, follows(node, hash))
  }
  server.l1.reveal(lastL1)
  await until(node, follows(node, recording.blocks[lastL1]?.block['hash']))
  expect(hashesOf(node)).toEqual(blocks.map(({ hash }) => hash))
  for (const code of ['L1_RATE_LIMITED', 'L1_UNREACHABLE', 'L1_BAD_ANSWER', 'L1_BLOCK_MISMATCH', 'BLOB_UNAVAILABLE', 'BLOB_MISMATCH']) {
    expect(lines.filter((line) => line.includes(code)).length, code).toBeGreaterThan(0)
  }
}, 60_000)
