import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createRecordedL1, type L1Recording } from '#devnet/recordedL1'
import { fromHex } from '#lib/hex'
import type { Fetch } from '#lib/jsonHttp'
import { createLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { l1Transaction } from '#test/harness/derive/l1'
import { createL1Chain } from '#test/harness/l1/chain'
import { type Hash, parseAddress } from '#types/ids'
import { createL1Source, defaultL1Options } from './l1Source.ts'
import { l1Metrics } from './metrics.ts'

const { signal } = new AbortController()
const to = parseAddress(`0x${'ee'.repeat(20)}`)
const slotSec = 12
const startSec = 1_700_000_000 - (1_700_000_000 % slotSec)
const batcherPostsEvery = 3
const l1Blocks = 150

/** L1 with this number of slots: some are empty, and some blocks have blobs. */
function l1Of(isEmpty: (slot: number) => boolean) {
  const chain = createL1Chain({ chainId: 1, genesisTimeSec: startSec, blockTimeSec: slotSec })
  const seeds = [1, 2, 3, 4]
  const hashes = seeds.map((seed) => chain.addBlob(new Uint8Array(131_072).fill(seed)))
  const blobsAt = new Map<number, readonly Hash[]>()
  for (let slot = 1; slot <= l1Blocks; slot++) {
    if (isEmpty(slot)) continue
    const number = chain.blocks.length
    const hash = hashes[number % seeds.length]
    const blobs = number % batcherPostsEvery === 0 && hash ? [hash] : []
    if (blobs.length > 0) blobsAt.set(number, blobs)
    chain.mine({
      transactions: [l1Transaction({ to, ...(blobs.length > 0 && { blobs }) })],
      header: { timestamp: startSec + slot * slotSec },
    })
  }
  const hashOf = async (blob: Uint8Array) => fromHex(hashes[(blob[1] ?? 0) - 1] ?? '0x')
  return { chain, blobsAt, hashOf }
}

/** Counts each call as a provider bills it. */
function countingFetch(recording: L1Recording) {
  const l1 = createRecordedL1(recording, { head: 0 })
  const asked = new Map<string, number>()
  const count = (what: string) => asked.set(what, (asked.get(what) ?? 0) + 1)
  const fetch: Fetch = async (input, init) => {
    const url = new URL(String(input))
    const method = init?.method ?? 'GET'
    const body = String(init?.body ?? '')
    if (method === 'POST') for (const call of [JSON.parse(body)].flat()) count(call.method)
    else count(url.pathname.replace(/\/\d+$/, ''))
    const reply = l1.reply({ method, url, body })
    return new Response(reply.body, { status: reply.status })
  }
  return { l1, asked, fetch }
}

it.each([
  ['every slot has a block', 4_000, 1_500, () => false],
  ['one slot in ten is empty', 4_000, 1_500, (slot: number) => slot % 10 === 5],
  ['heads are polled each second', 1_000, 2_700, (slot: number) => slot % 30 === 7],
  ['blocks are late', 4_000, 5_900, () => false],
])(
  'l1/economy: needs at most 4 execution and 1 beacon calls per L1 block in steady state: %s',
  async (_what, headPollMs, seenAfterMs, isEmpty) => {
    const { chain, blobsAt, hashOf } = l1Of(isEmpty)
    const { l1, asked, fetch } = countingFetch(chain.recording())
    const clock = createManualClock(startSec * 1_000)
    const lines: string[] = []
    const registry = new Registry()
    const log = createLog('info', { write: (line) => void lines.push(line) })
    using source = createL1Source(
      { fetch, clock, random: () => 0, log, metrics: l1Metrics.register(registry), blobChecks: { hashOf, verifyProof: async () => false } },
      {
        ...defaultL1Options,
        cacheBytes: 0,
        rpcUrls: ['http://l1'],
        beaconUrls: ['http://beacon'],
        chainId: 1,
        genesis: chain.blocks[0]?.ref ?? expect.fail(),
      },
    )
    await source.preflight(signal)
    let next = 1
    let dueMs = 0
    let finalized: number | undefined
    const lagMs: number[] = []

    /** Polls all labels, then requests blocks and blobs as derivation does. The source alone saves calls. */
    async function read(): Promise<void> {
      dueMs = clock.elapsedMs() + headPollMs
      const latest = (await source.head('latest', signal))?.number ?? 0
      await source.head('safe', signal)
      const final = (await source.head('finalized', signal))?.number
      if (final !== undefined && final !== finalized) await source.ref(final, signal)
      finalized = final
      for (; next <= latest; next++) {
        const block = (await source.block(next, signal)) ?? expect.fail(`block ${next}`)
        lagMs.push(clock.nowMs() - block.ref.timestamp * 1_000 - seenAfterMs)
        const blobs = blobsAt.get(next)
        if (blobs) expect(await source.blobs(block.ref, blobs, signal)).toHaveLength(blobs.length)
      }
    }

    const untilMs = (startSec + (l1Blocks + 1) * slotSec) * 1_000
    while (clock.nowMs() < untilMs) {
      const seen = chain.blocks.filter(({ ref }) => ref.timestamp * 1_000 + seenAfterMs <= clock.nowMs())
      l1.reveal(seen.length - 1)
      if (clock.elapsedMs() >= dueMs) await read()
      await clock.advanceMs(500)
    }

    const blocks = next - 1
    expect(blocks).toBe(chain.blocks.length - 1)
    expect(blocks).toBeGreaterThan(100)
    const sum = (of: (what: string) => boolean) => [...asked].reduce((all, [what, count]) => all + (of(what) ? count : 0), 0)
    const execution = sum((what) => what.startsWith('eth_')) / blocks
    const beacon = sum((what) => what.startsWith('/eth/v1')) / blocks
    expect(execution).toBeLessThanOrEqual(4)
    expect(beacon).toBeLessThanOrEqual((blobsAt.size + 10) / blocks)
    // the savings cost no time: the first poll after a block sees it, except while the slot time is learned
    expect(lagMs.toSorted((a, b) => a - b)[Math.floor(lagMs.length * 0.9)]).toBeLessThanOrEqual(headPollMs + 1_500)
    // the node's own count equals the provider's
    const text = await registry.metrics()
    const metric = [...text.matchAll(/basalt_l1_requests_total\{.*\} (\d+)/g)].reduce((all, [, count]) => all + Number(count), 0)
    expect(metric).toBe(sum(() => true))
    expect(lines.filter((line) => line.includes('L1 calls per new L1 block')).length).toBeGreaterThanOrEqual(2)
  },
)
