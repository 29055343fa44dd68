import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readRecordedChain } from '#devnet/recordedChain'
import { systemClock } from '#lib/clock'
import { createLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { type FaultyL1, type L1FaultKind, startFaultyL1 } from '#test/harness/l1/recordedL1'
import { type Hash, parseHash } from '#types/ids'
import { createL1Source, defaultL1Options, type L1SourceOptions } from './l1Source.ts'
import { l1Metrics } from './metrics.ts'

const { l1: recording } = readRecordedChain()
const { signal } = new AbortController()
const hashOf = (number: number): Hash => parseHash(String(recording.blocks[number]?.block['hash']))
type Tx = { readonly blobVersionedHashes?: readonly string[] }
const transactionsOf = (number: number): readonly Tx[] => (recording.blocks[number]?.block['transactions'] ?? []) as readonly Tx[]
const numbers = recording.blocks.map((_, number) => number)
const blobNumber = numbers.find((number) => transactionsOf(number).some((tx) => tx.blobVersionedHashes)) ?? 0
const busyNumber = numbers.find((number) => transactionsOf(number).length > 2) ?? 0
const blobHashes = transactionsOf(blobNumber).flatMap((tx) => (tx.blobVersionedHashes ?? []).map(parseHash))

let server: FaultyL1
const lines: string[] = []
beforeEach(async () => {
  lines.length = 0
  server = await startFaultyL1(recording)
})
afterEach(() => server[Symbol.asyncDispose]())

function sourceOf(options: Partial<L1SourceOptions> = {}, clock = systemClock, registry = new Registry()) {
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const deps = { fetch, clock, random: () => 0, log, metrics: l1Metrics.register(registry) }
  return createL1Source(deps, {
    ...defaultL1Options,
    rpcUrls: [server.url],
    beaconUrls: [server.url],
    chainId: 900,
    readAheadBlocks: 0,
    ...options,
  })
}

describe('l1/l1Source', () => {
  it('returns the labels, references and blocks of the recording', async () => {
    using l1 = sourceOf()
    const last = recording.blocks.length - 1
    expect((await l1.head('latest', signal))?.hash).toBe(hashOf(last))
    expect((await l1.head('safe', signal))?.hash).toBe(hashOf(last - 3))
    expect((await l1.head('finalized', signal))?.number).toBe(last - 5)
    expect(await l1.ref(busyNumber, signal)).toMatchObject({ hash: hashOf(busyNumber), number: busyNumber })
    const block = await l1.block(busyNumber, signal)
    expect(block?.transactions).toHaveLength(transactionsOf(busyNumber).length)
    expect(await l1.block(hashOf(busyNumber), signal)).toBe(block)
    expect(await l1.block(last + 1, signal)).toBeUndefined()
    expect(await l1.ref(last + 1, signal)).toBeUndefined()
    expect(await l1.block(parseHash(`0x${'12'.repeat(32)}`), signal)).toBeUndefined()
  })

  it('returns blobs in the order of the hashes, and requests each only once', async () => {
    using l1 = sourceOf()
    const ref = (await l1.ref(blobNumber, signal)) ?? expect.fail()
    const twice = [...blobHashes, ...blobHashes]
    const blobs = await l1.blobs(ref, twice, signal)
    if (blobs === 'missing') expect.fail('missing')
    expect(blobs.map((blob) => blob.length)).toEqual(twice.map(() => 131_072))
    const asked = server.asked.length
    expect(await l1.blobs(ref, blobHashes, signal)).toEqual(blobs.slice(0, blobHashes.length))
    expect(server.asked).toHaveLength(asked)
  })

  it.each<[L1FaultKind, string, RegExp?]>([
    ['rate-limit', 'L1_RATE_LIMITED'],
    ['server-error', 'L1_UNREACHABLE'],
    ['unauthorized', 'L1_REFUSED'],
    ['truncated', 'L1_BAD_ANSWER'],
    ['not-json', 'L1_BAD_ANSWER'],
    ['other-block', 'L1_BLOCK_MISMATCH', /BlockBy/],
    ['wrong-hash', 'L1_BLOCK_MISMATCH', /BlockBy/],
    ['wrong-transaction', 'L1_BLOCK_MISMATCH', /BlockBy/],
    ['wrong-receipts', 'L1_BLOCK_MISMATCH', /BlockBy/],
    ['no-receipts', 'L1_BAD_ANSWER', /BlockBy/],
  ])('names and pauses an endpoint that answers with %s, then returns the right block (%s)', async (kind, code, on) => {
    const clock = createManualClock()
    using l1 = sourceOf({}, clock)
    server.fail({ kind, times: 1, ...(on && { on }) })
    const error = await l1.block(busyNumber, signal).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code, severity: 'retry', message: expect.stringContaining(server.url.slice(7)) })
    const asked = server.asked.length
    await expect(l1.block(busyNumber, signal)).rejects.toMatchObject({ code, data: { retryAfterMs: kind === 'rate-limit' ? 7_000 : 500 } })
    expect(server.asked).toHaveLength(asked)
    await clock.advanceMs(7_000)
    expect((await l1.block(busyNumber, signal))?.ref.hash).toBe(hashOf(busyNumber))
    expect(lines.join()).toContain(code)
  })

  it('an endpoint that never responds times out (L1_UNREACHABLE)', async () => {
    const clock = createManualClock()
    using l1 = sourceOf({ timeoutMs: 3_000 }, clock)
    server.fail({ kind: 'timeout', times: 1 })
    const answer = l1.head('latest', signal).catch((caught: unknown) => caught)
    await clock.advanceMs(2_999)
    expect(clock.waiting).toBe(1)
    await clock.advanceMs(1)
    expect(await answer).toMatchObject({ code: 'L1_UNREACHABLE', message: expect.stringContaining('within 3 s') })
  })

  it('an aborted signal ends a request at once with its reason and blames no endpoint', async () => {
    using l1 = sourceOf()
    server.fail({ kind: 'timeout', times: 1 })
    const abort = new AbortController()
    const answer = l1.head('latest', abort.signal)
    abort.abort(new Error('enough'))
    await expect(answer).rejects.toThrow('enough')
    expect(lines).toEqual([])
  })

  it('stops reading a body beyond the limit (L1_BAD_ANSWER)', async () => {
    using l1 = sourceOf({ maxBodyBytes: 2_000 })
    await expect(l1.block(busyNumber, signal)).rejects.toMatchObject({
      code: 'L1_BAD_ANSWER',
      message: expect.stringContaining('2000 bytes'),
    })
  })

  it('queries the next endpoint when the first fails, then the first again', async () => {
    const clock = createManualClock()
    await using second = await startFaultyL1(recording)
    using l1 = sourceOf({ rpcUrls: [server.url, second.url] }, clock)
    server.fail({ kind: 'server-error', times: 1 })
    expect((await l1.head('latest', signal))?.hash).toBe(hashOf(92))
    expect((await l1.head('latest', signal))?.hash).toBe(hashOf(92))
    expect(second.asked.filter((what) => what === 'eth_getBlockByNumber')).toHaveLength(2)
    await clock.advanceMs(500)
    await l1.head('latest', signal)
    expect(second.asked.filter((what) => what === 'eth_getBlockByNumber')).toHaveLength(2)
  })

  it('an endpoint of another chain is fatal (L1_WRONG_CHAIN)', async () => {
    using l1 = sourceOf({ chainId: 1 })
    await expect(l1.head('latest', signal)).rejects.toMatchObject({ code: 'L1_WRONG_CHAIN', severity: 'fatal' })
  })

  it('reports a refused connection without the secrets of the URL (L1_UNREACHABLE)', async () => {
    const url = server.url.replace('http://', 'http://user:hunter2@')
    await server[Symbol.asyncDispose]()
    using l1 = sourceOf({ rpcUrls: [`${url}/key-abcdef`] })
    const error = await l1.head('latest', signal).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'L1_UNREACHABLE', message: expect.stringContaining('ECONNREFUSED') })
    expect(JSON.stringify([error, String(error), lines])).not.toMatch(/hunter2|abcdef/)
    server = await startFaultyL1(recording)
  })

  it.each<[L1FaultKind, string, RegExp, number]>([
    ['no-blob', 'BLOB_UNAVAILABLE', /blob/, 2],
    ['short-blob', 'BLOB_MISMATCH', /sidecars/, 1],
    ['wrong-blob', 'BLOB_MISMATCH', /sidecars/, 1],
    ['not-json', 'L1_BAD_ANSWER', /config/, 1],
  ])('names a beacon endpoint with %s (%s)', async (kind, code, on, times) => {
    const clock = createManualClock()
    using l1 = sourceOf({}, clock)
    const ref = (await l1.ref(blobNumber, signal)) ?? expect.fail()
    server.fail({ kind, times, on })
    await expect(l1.blobs(ref, blobHashes, signal)).rejects.toMatchObject({ code, severity: 'retry' })
    await clock.advanceMs(60_000)
    expect(await l1.blobs(ref, blobHashes, signal)).toHaveLength(blobHashes.length)
  })

  it.each<[L1FaultKind]>([['no-slot'], ['gone']])(
    'requests blobs without proofs from an endpoint without sidecars (%s), and at once from then on',
    async (kind) => {
      using l1 = sourceOf({ cacheBytes: 0 })
      const ref = (await l1.ref(blobNumber, signal)) ?? expect.fail()
      server.fail({ kind, times: Number.POSITIVE_INFINITY, on: /sidecars/ })
      expect(await l1.blobs(ref, blobHashes, signal)).toHaveLength(blobHashes.length)
      expect(await l1.blobs(ref, blobHashes, signal)).toHaveLength(blobHashes.length)
      expect(server.asked.filter((what) => what.includes('sidecars'))).toHaveLength(1)
    },
  )

  it('requests all blobs of the slot from an endpoint that filters by one of several hashes', async () => {
    const others = numbers.filter((number) => number !== blobNumber).flatMap((number) => transactionsOf(number))
    const other = others.find((tx) => tx.blobVersionedHashes && tx.blobVersionedHashes[0] !== blobHashes[0]) ?? expect.fail()
    const transactions = [...transactionsOf(blobNumber), other]
    const blocks = recording.blocks.map((entry, n) => (n === blobNumber ? { ...entry, block: { ...entry.block, transactions } } : entry))
    server.replay({ ...recording, blocks }, recording.blocks.length - 1)
    using l1 = sourceOf()
    const ref = (await l1.ref(blobNumber, signal)) ?? expect.fail()
    server.fail({ kind: 'gone', times: 1, on: /sidecars/ })
    server.fail({ kind: 'last-hash', times: Number.POSITIVE_INFINITY, on: /blobs\// })
    const two = [...blobHashes, ...(other.blobVersionedHashes ?? []).map(parseHash)]
    expect(await l1.blobs(ref, two, signal)).toHaveLength(2)
    expect(server.asked.filter((what) => what.includes('/blobs/'))).toHaveLength(2)
  })

  it('requests no blobs without proofs from an endpoint with sidecars', async () => {
    using l1 = sourceOf({ cacheBytes: 0 })
    const ref = (await l1.ref(blobNumber, signal)) ?? expect.fail()
    expect(await l1.blobs(ref, blobHashes, signal)).toHaveLength(blobHashes.length)
    expect(server.asked.filter((what) => what.includes('/blobs/'))).toHaveLength(0)
  })

  it.each<[L1FaultKind]>([['short-blob'], ['wrong-blob']])('refuses a wrong blob without proof (%s) (BLOB_MISMATCH)', async (kind) => {
    using l1 = sourceOf()
    const ref = (await l1.ref(blobNumber, signal)) ?? expect.fail()
    server.fail({ kind: 'no-slot', times: 1, on: /sidecars/ })
    server.fail({ kind, times: 1, on: /blobs\// })
    await expect(l1.blobs(ref, blobHashes, signal)).rejects.toMatchObject({ code: 'BLOB_MISMATCH' })
  })

  it('blobs are not missing when an endpoint refuses (HTTP 400, it lacks columns) (BLOB_UNAVAILABLE)', async () => {
    using l1 = sourceOf()
    const ref = (await l1.ref(blobNumber, signal)) ?? expect.fail()
    server.fail({ kind: 'no-slot', times: 1, on: /sidecars/ })
    server.fail({ kind: 'no-columns', times: 1, on: /blobs\// })
    await expect(l1.blobs(ref, blobHashes, signal)).rejects.toMatchObject({ code: 'BLOB_UNAVAILABLE' })
  })

  it('blobs are missing only when every endpoint reports it; a failing endpoint may have them', async () => {
    const clock = createManualClock()
    await using second = await startFaultyL1(recording)
    using l1 = sourceOf({ beaconUrls: [server.url, second.url] }, clock)
    const ref = (await l1.ref(blobNumber, signal)) ?? expect.fail()
    for (const one of [server, second]) one.fail({ kind: 'no-slot', times: 2, on: /blob/ })
    expect(await l1.blobs(ref, blobHashes, signal)).toBe('missing')
    server.fail({ kind: 'no-slot', times: 2, on: /blob/ })
    second.fail({ kind: 'server-error', times: 1, on: /blob/ })
    await expect(l1.blobs(ref, blobHashes, signal)).rejects.toMatchObject({ code: 'L1_UNREACHABLE' })
    server.fail({ kind: 'no-slot', times: 2, on: /blob/ })
    await clock.advanceMs(1_000)
    expect(await l1.blobs(ref, blobHashes, signal)).toHaveLength(blobHashes.length)
  })

  it('blobs of a new block are awaited while the block is canonical (BLOB_NOT_YET)', async () => {
    using before = sourceOf()
    const { timestamp } = (await before.ref(blobNumber, signal)) ?? expect.fail()
    const clock = createManualClock((timestamp + 12) * 1_000)
    using l1 = sourceOf({}, clock)
    const ref = (await l1.ref(blobNumber, signal)) ?? expect.fail()
    server.fail({ kind: 'no-slot', times: 2, on: /blob/ })
    await expect(l1.blobs(ref, blobHashes, signal)).rejects.toMatchObject({ code: 'BLOB_NOT_YET', severity: 'retry', data: { ageSec: 12 } })
    server.fail({ kind: 'no-slot', times: 2, on: /blob/ })
    expect(await l1.blobs({ ...ref, hash: hashOf(1) }, blobHashes, signal)).toBe('missing')
    expect(await l1.blobs(ref, blobHashes, signal)).toHaveLength(blobHashes.length)
    await clock.advanceMs(86_400_000)
    using later = sourceOf({}, clock)
    server.fail({ kind: 'no-slot', times: 2, on: /blob/ })
    expect(await later.blobs(ref, blobHashes, signal)).toBe('missing')
  })

  it('the slot timing of a beacon endpoint of another chain is not used for others', async () => {
    await using wrong = await startFaultyL1({ ...recording, genesisTime: recording.genesisTime - 120_000 })
    wrong.fail({ kind: 'no-slot', times: 2, on: /blob/ })
    using l1 = sourceOf({ beaconUrls: [wrong.url, server.url] })
    const ref = (await l1.ref(blobNumber, signal)) ?? expect.fail()
    expect(await l1.blobs(ref, blobHashes, signal)).toHaveLength(blobHashes.length)
  })

  it("keeps the key in the query of a beacon endpoint's URL", async () => {
    using l1 = sourceOf({ beaconUrls: [`${server.url}/?apikey=abcdef`] })
    const ref = (await l1.ref(blobNumber, signal)) ?? expect.fail()
    expect(await l1.blobs(ref, blobHashes, signal)).toHaveLength(blobHashes.length)
  })

  it('blobs without a beacon endpoint are fatal (L1_NO_BEACON)', async () => {
    using l1 = sourceOf({ beaconUrls: [] })
    const ref = (await l1.ref(blobNumber, signal)) ?? expect.fail()
    await expect(l1.blobs(ref, blobHashes, signal)).rejects.toMatchObject({ code: 'L1_NO_BEACON', severity: 'fatal' })
  })

  it('reads blocks ahead up to the head, and returns each once', async () => {
    const registry = new Registry()
    using l1 = sourceOf({ readAheadBlocks: 4 }, systemClock, registry)
    await l1.head('latest', signal)
    for (let number = 80; number <= 92; number++) expect((await l1.block(number, signal))?.ref.hash).toBe(hashOf(number))
    const bodies = (): number => server.asked.filter((what) => what.includes('Receipts')).length
    expect(bodies()).toBe(13)
    // each block counts once, where derivation got it: the first was not read ahead
    const counted = (await registry.metrics()).matchAll(/^basalt_l1_blocks_total\{from="(\w+)"\} ([1-9]\d*)$/gm)
    expect(Object.fromEntries([...counted].map(([, from = '', count]) => [from, Number(count)]))).toEqual({ endpoint: 1, read_ahead: 12 })
    // once more: one request for the header, to see whether the block is still canonical
    expect((await l1.block(85, signal))?.ref.hash).toBe(hashOf(85))
    expect(bodies()).toBe(13)
  })

  it('requests a block again when reading ahead failed', async () => {
    const clock = createManualClock()
    using l1 = sourceOf({ readAheadBlocks: 2 }, clock)
    await l1.head('latest', signal)
    server.fail({ kind: 'truncated', times: 2, on: /Receipts/ })
    await expect(l1.block(80, signal)).rejects.toMatchObject({ code: 'L1_BAD_ANSWER' })
    await clock.advanceMs(60_000)
    await expect(l1.block(80, signal)).rejects.toMatchObject({ code: 'L1_BAD_ANSWER' })
    await clock.advanceMs(60_000)
    for (const number of [80, 81, 82, 83]) expect((await l1.block(number, signal))?.ref.hash).toBe(hashOf(number))
  })
})
