import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { readRecordedChain } from '#devnet/recordedChain'
import { createRecordedL1, type L1Recording } from '#devnet/recordedL1'
import type { Fetch } from '#lib/jsonHttp'
import { createLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { forkRecording } from '#test/harness/l1/fork'
import { type Hash, parseHash } from '#types/ids'
import type { L1Cache } from './cache.ts'
import { createL1Source, defaultL1Options } from './l1Source.ts'
import { l1Metrics } from './metrics.ts'

const { l1: recording } = readRecordedChain()
const { signal } = new AbortController()
type Tx = { readonly blobVersionedHashes?: readonly string[] }
const blobsAt = (number: number): readonly Hash[] =>
  ((recording.blocks[number]?.block['transactions'] ?? []) as readonly Tx[]).flatMap((tx) => (tx.blobVersionedHashes ?? []).map(parseHash))
const blobNumbers = recording.blocks.map((_, number) => number).filter((number) => blobsAt(number).length > 0)
const last = blobNumbers[0] ?? expect.fail('no blobs')

/** Disk whose contents can be damaged. */
function diskOf() {
  const rows = new Map<string, Uint8Array>()
  const hashes = new Map<number, Hash>()
  const cache: L1Cache = {
    hashAt: (number) => hashes.get(number),
    read: (kind, hash) => rows.get(kind + hash),
    keep({ kind, number, hash, bytes }) {
      rows.set(kind + hash, bytes)
      if (kind === 'block') hashes.set(number, hash)
    },
    drop: (kind, hash) => void rows.delete(kind + hash),
  }
  return { rows, cache }
}

/** Process with that disk on that L1; `asked` lists its requests. */
function start(cache: L1Cache, from: L1Recording = recording) {
  const clock = createManualClock()
  const l1 = createRecordedL1(from, { head: from.blocks.length - 1 })
  const asked: string[] = []
  const fetch: Fetch = async (input, init) => {
    const url = new URL(String(input))
    const [method, body] = [init?.method ?? 'GET', String(init?.body ?? '')]
    if (method === 'POST') for (const call of [JSON.parse(body)].flat()) asked.push(`${call.method} ${call.params[0]}`)
    else asked.push(url.pathname)
    const reply = l1.reply({ method, url, body })
    return new Response(reply.body, { status: reply.status })
  }
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const source = createL1Source(
    { fetch, clock, random: () => 0, log, metrics: l1Metrics.register(new Registry()), cache },
    { ...defaultL1Options, readAheadBlocks: 0, rpcUrls: ['http://l1'], beaconUrls: ['http://beacon'], chainId: 900 },
  )
  const readAll = async () => {
    for (let number = last - 5; number <= last; number++) {
      const block = (await source.block(number, signal)) ?? expect.fail(`block ${number}`)
      expect(block.ref.hash).toBe(from.blocks[number]?.block['hash'])
    }
    const ref = (await source.block(parseHash(String(from.blocks[last]?.block['hash'])), signal))?.ref ?? expect.fail()
    return source.blobs(ref, blobsAt(last), signal)
  }
  return { source, asked, lines, readAll }
}

/** Waits for the compression, which runs in another thread. */
const written = (rows: ReadonlyMap<string, unknown>, count: number) => expect.poll(() => rows.size).toBe(count)

describe('l1/storedL1', () => {
  it('requests no block again after a restart', async () => {
    const { rows, cache } = diskOf()
    const blobs = await start(cache).readAll()
    await written(rows, 6 + new Set(blobsAt(last)).size)
    const { asked, readAll } = start(cache)
    expect(await readAll()).toEqual(blobs)
    expect(asked).toEqual([])
  })

  it('a second request for a number asks only whether the block is still canonical', async () => {
    const { rows, cache } = diskOf()
    await start(cache).readAll()
    await written(rows, 6 + new Set(blobsAt(last)).size)
    const { source, asked } = start(cache)
    const block = await source.block(last, signal)
    expect(await source.block(last, signal)).toEqual(block)
    expect(asked).toEqual(['eth_chainId undefined', `eth_getBlockByNumber 0x${last.toString(16)}`])
  })

  it('drops a block that L1 replaced while the node was down at its second request, on disk too', async () => {
    const { rows, cache } = diskOf()
    await start(cache).readAll()
    await written(rows, 6 + new Set(blobsAt(last)).size)
    const forked = forkRecording(recording, last, last + 3)
    const { source } = start(cache, forked)
    const old = await source.block(last, signal)
    const next = await source.block(last + 1, signal)
    expect(next?.ref.parentHash).not.toBe(old?.ref.hash)
    const hash = forked.blocks[last]?.block['hash']
    expect((await source.block(last, signal))?.ref.hash).toBe(hash)
    await expect.poll(() => cache.hashAt(last)).toBe(hash)
  })

  const damages: readonly (readonly [string, (bytes: Uint8Array) => Uint8Array])[] = [
    ['a changed byte', (bytes) => bytes.map((byte, at) => (at === bytes.length >> 1 ? byte ^ 0x55 : byte))],
    ['a missing end', (bytes) => bytes.subarray(0, bytes.length - 20)],
    ['nothing', () => new Uint8Array()],
    ['other bytes', () => new TextEncoder().encode('not a frame')],
  ]
  it.each(damages)('detects and drops entries with %s, and reads them from L1', async (_what, damage) => {
    const { rows, cache } = diskOf()
    const blobs = await start(cache).readAll()
    const count = 6 + new Set(blobsAt(last)).size
    await written(rows, count)
    const right = new Map(rows)
    for (const [name, bytes] of right) rows.set(name, damage(bytes))
    const { lines, readAll } = start(cache)
    expect(await readAll()).toEqual(blobs)
    expect(lines.filter((line) => line.includes('damaged'))).toHaveLength(count)
    await expect.poll(() => [...rows.keys()].toSorted()).toEqual([...right.keys()].toSorted())
    const { asked, readAll: again } = start(cache)
    expect(await again()).toEqual(blobs)
    expect(asked).toEqual([])
  })

  it('detects the right bytes under another hash', async () => {
    const { rows, cache } = diskOf()
    await start(cache).readAll()
    await written(rows, 6 + new Set(blobsAt(last)).size)
    const names = [...rows.keys()].filter((name) => name.startsWith('block'))
    const values = names.map((name) => rows.get(name) ?? new Uint8Array())
    names.forEach((name, i) => void rows.set(name, values[(i + 1) % values.length] ?? new Uint8Array()))
    const { lines, readAll } = start(cache)
    await readAll()
    expect(lines.filter((line) => line.includes('damaged'))).toHaveLength(6)
  })
})
