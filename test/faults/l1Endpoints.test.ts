import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type L1Server, serveL1 } from '#devnet/l1Server'
import { readRecordedChain } from '#devnet/recordedChain'
import { createRecordedL1, type L1Recording } from '#devnet/recordedL1'
import { createL1Source, defaultL1Options, type L1SourceOptions } from '#l1/l1Source'
import { l1Metrics } from '#l1/metrics'
import { createLog } from '#lib/log'
import { type Hash, parseHash } from '#types/ids'
import { createManualClock } from '../harness/clock.ts'
import { forkRecording } from '../harness/l1/fork.ts'
import { type FaultyL1, type L1FaultKind, startFaultyL1 } from '../harness/l1/recordedL1.ts'

const { l1: recording, config } = readRecordedChain()
const { signal } = new AbortController()
const genesis = config.genesis.l1
const hashIn = ({ blocks }: L1Recording, number: number): Hash => parseHash(String(blocks[number]?.block['hash']))
type Tx = { readonly blobVersionedHashes?: readonly string[] }
const transactionsOf = (number: number): readonly Tx[] => (recording.blocks[number]?.block['transactions'] ?? []) as readonly Tx[]
const numbers = recording.blocks.map((_, number) => number)
const blobNumber = numbers.find((number) => transactionsOf(number).some((tx) => tx.blobVersionedHashes)) ?? 0
const busyNumber = numbers.find((number) => transactionsOf(number).length > 2) ?? 0
const blobHashes = transactionsOf(blobNumber).flatMap((tx) => (tx.blobVersionedHashes ?? []).map(parseHash))
const lastNumber = recording.blocks.length - 1

let first: FaultyL1
let second: FaultyL1
beforeEach(async () => {
  first = await startFaultyL1(recording)
  second = await startFaultyL1(recording)
})
afterEach(async () => {
  await first[Symbol.asyncDispose]()
  await second[Symbol.asyncDispose]()
})

function sourceOf(options: Partial<L1SourceOptions> = {}) {
  const clock = createManualClock()
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const source = createL1Source(
    { fetch, clock, random: () => 0, log, metrics: l1Metrics.register(new Registry()) },
    {
      ...defaultL1Options,
      rpcUrls: [first.url, second.url],
      beaconUrls: [first.url, second.url],
      chainId: config.l1ChainId,
      genesis,
      readAheadBlocks: 0,
      cacheBytes: 0,
      ...options,
    },
  )
  return { source, clock, lines }
}
const forever = Number.POSITIVE_INFINITY
const other = (server: FaultyL1): string => server.url.slice(7)

describe('faults/l1Endpoints: one of two endpoints fails; results are correct and the log names it', () => {
  it.each<[L1FaultKind, string]>([
    ['rate-limit', 'L1_RATE_LIMITED'],
    ['server-error', 'L1_UNREACHABLE'],
    ['unauthorized', 'L1_REFUSED'],
    ['truncated', 'L1_BAD_ANSWER'],
    ['not-json', 'L1_BAD_ANSWER'],
    ['wrong-hash', 'L1_BLOCK_MISMATCH'],
    ['other-block', 'L1_BLOCK_MISMATCH'],
    ['wrong-transaction', 'L1_BLOCK_MISMATCH'],
    ['wrong-receipts', 'L1_BLOCK_MISMATCH'],
    ['no-receipts', 'L1_BAD_ANSWER'],
  ])('execution: %s (%s)', async (kind, code) => {
    const { source, lines } = sourceOf()
    first.fail({ kind, times: forever, on: /Receipts/ })
    expect((await source.block(busyNumber, signal))?.ref.hash).toBe(hashIn(recording, busyNumber))
    expect(lines.filter((line) => line.includes(code) && line.includes(other(first)))).toHaveLength(1)
  })

  it.each<[L1FaultKind, string]>([
    ['rate-limit', 'L1_RATE_LIMITED'],
    ['server-error', 'L1_UNREACHABLE'],
    ['not-json', 'L1_BAD_ANSWER'],
    ['no-blob', 'BLOB_UNAVAILABLE'],
    ['no-columns', 'BLOB_UNAVAILABLE'],
    ['short-blob', 'BLOB_MISMATCH'],
    ['wrong-blob', 'BLOB_MISMATCH'],
  ])('beacon: %s (%s)', async (kind, code) => {
    const { source, lines } = sourceOf()
    const ref = (await source.ref(blobNumber, signal)) ?? expect.fail()
    first.fail({ kind, times: forever, on: /blob/ })
    expect(await source.blobs(ref, blobHashes, signal)).toHaveLength(blobHashes.length)
    expect(lines.filter((line) => line.includes(code) && line.includes(other(first)))).toHaveLength(1)
  })

  it('beacon: requests a pruned slot (404) from the other endpoint, without a fault', async () => {
    const { source, lines } = sourceOf()
    const ref = (await source.ref(blobNumber, signal)) ?? expect.fail()
    first.fail({ kind: 'no-slot', times: forever, on: /blob/ })
    expect(await source.blobs(ref, blobHashes, signal)).toHaveLength(blobHashes.length)
    expect(lines).toEqual([])
  })

  it('handles a connection that breaks in the middle of a body, and an endless response (L1_UNREACHABLE, L1_BAD_ANSWER)', async () => {
    let mode: 'dies' | 'huge' = 'dies'
    const server = createServer((request, response) => {
      request.resume()
      response.writeHead(200, mode === 'dies' ? { 'content-length': '100000' } : {})
      response.write('{"jsonrpc":"2.0","id":0,"result":{"hash":"')
      if (mode === 'dies') return void setImmediate(() => response.destroy())
      const pour = (): void => {
        while (!response.destroyed && response.write('f'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', pour)
      }
      pour()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { source, clock, lines } = sourceOf({ rpcUrls: [url, second.url], maxBodyBytes: 2_000_000 })
    expect((await source.block(busyNumber, signal))?.ref.hash).toBe(hashIn(recording, busyNumber))
    mode = 'huge'
    await clock.advanceMs(60_000)
    expect((await source.block(busyNumber + 1, signal))?.ref.hash).toBe(hashIn(recording, busyNumber + 1))
    expect(lines.map((line) => JSON.parse(line).code)).toEqual(['L1_UNREACHABLE', 'L1_BAD_ANSWER'])
    expect(lines.join()).toContain('more than 2000000 bytes')
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  it('waits at most once for an endpoint that never responds: the other receives hedged requests', async () => {
    const { source, clock } = sourceOf()
    await source.head('latest', signal)
    first.fail({ kind: 'timeout', times: forever })
    for (const number of [busyNumber, busyNumber + 1, busyNumber + 2, busyNumber + 3]) {
      const answer = source.block(number, signal)
      await expect.poll(() => clock.waiting).toBeGreaterThan(0)
      for (let ms = 0; ms < 2_500; ms += 100) {
        await clock.advanceMs(100)
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
      expect((await answer)?.ref.hash).toBe(hashIn(recording, number))
    }
  })
})

describe('faults/l1Endpoints: endpoints that disagree', () => {
  it('keeps the head when the next endpoint is behind, and requests missing blocks from the other', async () => {
    first.l1.reveal(40)
    second.l1.reveal(60)
    const { source, clock } = sourceOf()
    first.fail({ kind: 'server-error', times: 1 })
    expect((await source.head('latest', signal))?.number).toBe(60)
    await clock.advanceMs(1_000)
    // the first endpoint responds again and is still at block 40
    expect((await source.head('latest', signal))?.number).toBe(60)
    expect((await source.block(58, signal))?.ref.hash).toBe(hashIn(recording, 58))
    expect((await source.ref(58, signal))?.hash).toBe(hashIn(recording, 58))
    expect(await source.block(61, signal)).toBeUndefined()
  })

  it('takes the head and the blocks of the other when the first stopped minutes before the start', async () => {
    first.l1.reveal(2)
    const { source, clock } = sourceOf()
    await clock.advanceMs(Number(recording.blocks[lastNumber]?.block['timestamp']) * 1_000 - clock.nowMs())
    await source.preflight(signal)
    expect((await source.head('latest', signal))?.number).toBe(lastNumber)
    expect((await source.ref(lastNumber, signal))?.hash).toBe(hashIn(recording, lastNumber))
    expect((await source.block(3, signal))?.ref.hash).toBe(hashIn(recording, 3))
  })

  it('returns a different parent hash after a reorg between two endpoints, and the new block at the second request', async () => {
    const branch = forkRecording(recording, 50, 60)
    first.replay(branch, 60)
    second.l1.reveal(62)
    const { source } = sourceOf({ readAheadBlocks: 4 })
    await source.head('latest', signal)
    for (const number of [48, 49, 50, 51, 52]) expect((await source.block(number, signal))?.ref.hash).toBe(hashIn(branch, number))
    await first[Symbol.asyncDispose]()
    await source.head('latest', signal)
    const seen: (Hash | undefined)[] = []
    // blocks that were read ahead are on the old branch
    for (let number = 53; number <= 60; number++) seen.push((await source.block(number, signal))?.ref.hash)
    const firstNew = seen.indexOf(hashIn(recording, 60))
    expect(firstNew).toBeGreaterThanOrEqual(0)
    for (let number = 50; number <= 62; number++) {
      const hash = (await source.block(number, signal))?.ref.hash
      expect(hash === hashIn(recording, number) ? hash : (await source.block(number, signal))?.ref.hash).toBe(hashIn(recording, number))
    }
    first = await startFaultyL1(recording)
  })

  it('excludes an endpoint of another chain (L1_WRONG_CHAIN), even if it responds only later', async () => {
    await using wrong = await startFaultyL1({ ...recording, chainId: 5 })
    const { source, lines, clock } = sourceOf({ rpcUrls: [wrong.url, second.url] })
    wrong.fail({ kind: 'server-error', times: 1 })
    await source.preflight(signal)
    expect(lines.join()).not.toContain('excluded')
    await clock.advanceMs(60_000)
    expect((await source.head('latest', signal))?.number).toBe(lastNumber)
    const leftOut = lines.filter((line) => line.includes('excluded'))
    expect(leftOut).toHaveLength(1)
    expect(leftOut[0]).toContain('its chain id is 5')
  })

  it('excludes an endpoint with the same chain id and another rollup genesis block (L1_WRONG_CHAIN)', async () => {
    await using fork = await startFaultyL1(forkRecording(recording, 1, lastNumber))
    const genesis = { number: 1, hash: hashIn(recording, 1) }
    const { source, lines } = sourceOf({ genesis, rpcUrls: [fork.url, second.url] })
    await source.preflight(signal)
    expect(lines.filter((line) => line.includes('L1_WRONG_CHAIN'))).toHaveLength(1)
    expect((await source.block(busyNumber, signal))?.ref.hash).toBe(hashIn(recording, busyNumber))
    expect(fork.asked).toHaveLength(1)
    using alone = sourceOf({ genesis, rpcUrls: [fork.url] }).source
    await expect(alone.preflight(signal)).rejects.toMatchObject({ code: 'L1_WRONG_CHAIN', severity: 'fatal' })
  })

  it('checks only the chain id of an endpoint that has pruned the rollup genesis block', async () => {
    const hidden = { ...genesis, number: lastNumber + 100 }
    const { source, lines } = sourceOf({ genesis: hidden })
    await source.preflight(signal)
    expect(lines).toEqual([])
  })

  it('starts while L1 is unreachable', async () => {
    await first[Symbol.asyncDispose]()
    await second[Symbol.asyncDispose]()
    const { source, lines } = sourceOf()
    await source.preflight(signal)
    expect(lines.filter((line) => line.includes('L1_UNREACHABLE')).length).toBeGreaterThanOrEqual(2)
    first = await startFaultyL1(recording)
    second = await startFaultyL1(recording)
  })
})

describe('faults/l1Endpoints: a beacon endpoint of another chain', () => {
  const altered = (change: (path: string, data: Record<string, unknown>) => Record<string, unknown>): Promise<L1Server> => {
    const l1 = createRecordedL1(recording, { head: lastNumber })
    return serveL1((exchange) => {
      const reply = l1.reply(exchange)
      if (exchange.method !== 'GET' || exchange.url.pathname.includes('blob')) return reply
      return { ...reply, body: JSON.stringify({ data: change(exchange.url.pathname, JSON.parse(reply.body).data) }) }
    }, 0)
  }

  it.each([
    ['by its chain id', (path: string, data: object) => (path.includes('spec') ? { ...data, DEPOSIT_CHAIN_ID: '5' } : { ...data })],
    [
      'by its slot times',
      (path: string, data: object) => (path.includes('genesis') ? { genesis_time: String(recording.genesisTime - 1) } : { ...data }),
    ],
    ['by its genesis time', (path: string, data: object) => (path.includes('genesis') ? { genesis_time: '9999999999' } : { ...data })],
  ])('is excluded %s (L1_WRONG_BEACON); without another endpoint the fault is fatal', async (_what, change) => {
    await using wrong = await altered(change)
    const { source, lines } = sourceOf({ beaconUrls: [wrong.url, second.url] })
    await source.preflight(signal)
    expect(lines.filter((line) => line.includes('L1_WRONG_BEACON') && line.includes('excluded'))).toHaveLength(1)
    const ref = (await source.ref(blobNumber, signal)) ?? expect.fail()
    expect(await source.blobs(ref, blobHashes, signal)).toHaveLength(blobHashes.length)
    const alone = sourceOf({ beaconUrls: [wrong.url] }).source
    await expect(alone.preflight(signal)).rejects.toMatchObject({ code: 'L1_WRONG_BEACON', severity: 'fatal' })
  })

  it('is used when its chain id is correct', async () => {
    await using right = await altered((path, data) =>
      path.includes('spec') ? { ...data, DEPOSIT_CHAIN_ID: String(config.l1ChainId) } : data,
    )
    const { source, lines } = sourceOf({ beaconUrls: [right.url] })
    await source.preflight(signal)
    expect(lines).toEqual([])
  })
})

it('faults/l1Endpoints: sends an endpoint at most its calls per second, and further calls to the other', async () => {
  const { source, clock } = sourceOf({ maxRequestsPerSec: 4 })
  await source.head('latest', signal)
  const before = [first, second].map(({ asked }) => asked.length)
  const answers = Promise.all(numbers.slice(10, 20).map((number) => source.block(number, signal)))
  const calls = ({ asked }: FaultyL1, from = 0) => asked.slice(from).flatMap((what) => what.split(',')).length
  const perSecond: number[] = []
  let isDone = false
  void answers.then(() => {
    isDone = true
  })
  for (let seconds = 0; !isDone && seconds < 30; seconds++) {
    const counts = [first, second].map(({ asked }) => asked.length)
    await new Promise((resolve) => setTimeout(resolve, 30))
    await clock.advanceMs(1_000)
    await new Promise((resolve) => setTimeout(resolve, 30))
    perSecond.push(...[first, second].map((server, i) => calls(server, counts[i])))
  }
  expect((await answers).map((block) => block?.ref.number)).toEqual(numbers.slice(10, 20))
  expect(Math.max(...perSecond)).toBeLessThanOrEqual(8)
  expect(calls(second, before[1])).toBeGreaterThan(0)
}, 20_000)
