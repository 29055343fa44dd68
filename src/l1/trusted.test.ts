import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { type Exchange, type Reply, serveL1 } from '#devnet/l1Server'
import { readRecordedChain } from '#devnet/recordedChain'
import { createRecordedL1, type L1Recording } from '#devnet/recordedL1'
import { systemClock } from '#lib/clock'
import { fromHex, toHex } from '#lib/hex'
import { createLog } from '#lib/log'
import { hashHeader } from '#types/header'
import { headerFromJson } from '#types/headerJson'
import { parseHash, zeroHash } from '#types/ids'
import type { BlobChecks } from './blobChecks.ts'
import { createL1Source, defaultL1Options, type L1SourceOptions } from './l1Source.ts'
import { l1Metrics } from './metrics.ts'

type Tx = { readonly blobVersionedHashes?: readonly string[]; readonly hash: string }
const { l1: recording } = readRecordedChain()
const { signal } = new AbortController()
const transactionsOf = (number: number): readonly Tx[] => (recording.blocks[number]?.block['transactions'] ?? []) as readonly Tx[]
const at = recording.blocks.findIndex((_, number) => transactionsOf(number).some((tx) => tx.blobVersionedHashes))
const blobHashes = transactionsOf(at).flatMap((tx) => (tx.blobVersionedHashes ?? []).map(parseHash))

/** The recording with a blob block whose transactions root does not match its transactions, as with anvil. */
function likeAnvil(change: (transactions: readonly Tx[]) => readonly Tx[] = (all) => all): L1Recording {
  const blocks = recording.blocks.map((entry, number) => {
    if (number !== at) return entry
    const block = { ...entry.block, transactionsRoot: zeroHash, transactions: change(transactionsOf(at)) }
    return { ...entry, block: { ...block, hash: hashHeader(headerFromJson(block)) } }
  })
  return { ...recording, blocks }
}

/** anvil's beacon API: without config and sidecars. */
function beaconOfAnvil({ url }: Exchange, reply: Reply): Reply {
  if (url.pathname.endsWith('/config/spec')) return { status: 404, body: '' }
  return url.pathname.includes('blob_sidecars') ? { status: 410, body: '' } : reply
}

/** Versioned hashes by the beginning of the blob, because the set-up of KZG takes seconds and is not tested here. */
const knownBlobs = new Map(Object.entries(recording.blobs).map(([hash, { data }]) => [data.slice(0, 80), fromHex(hash)]))
const blobChecks: BlobChecks = {
  hashOf: async (blob) => knownBlobs.get(toHex(blob).slice(0, 80)),
  verifyProof: async () => expect.fail('there are no proofs here'),
}

const kept: string[] = []
async function open(given: L1Recording, options: Partial<L1SourceOptions>) {
  const l1 = createRecordedL1(given, { head: given.blocks.length - 1 })
  const server = await serveL1((exchange) => beaconOfAnvil(exchange, l1.reply(exchange)), 0)
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const cache = {
    hashAt: () => undefined,
    read: () => undefined,
    keep: ({ kind, number }: { kind: string; number: number }) => void kept.push(`${kind} ${number}`),
    drop: () => {},
  }
  const source = createL1Source(
    { fetch, clock: systemClock, random: () => 0, log, metrics: l1Metrics.register(new Registry()), cache, blobChecks },
    { ...defaultL1Options, rpcUrls: [server.url], beaconUrls: [server.url], chainId: 900, readAheadBlocks: 0, ...options },
  )
  const close = async () => {
    source[Symbol.dispose]()
    await server[Symbol.asyncDispose]()
  }
  return { source, lines, [Symbol.asyncDispose]: close }
}

it("l1/trusted: refuses anvil's block with blobs unless transactions are trusted (L1_BLOCK_MISMATCH)", async () => {
  await using strict = await open(likeAnvil(), {})
  await expect(strict.source.block(at, signal)).rejects.toMatchObject({ code: 'L1_BLOCK_MISMATCH', data: { what: 'transactions root' } })
  expect(strict.lines.join()).not.toContain('are trusted')

  kept.length = 0
  await using trusting = await open(likeAnvil(), { trustTransactions: true })
  const block = await trusting.source.block(at, signal)
  expect(block?.transactions).toHaveLength(transactionsOf(at).length)
  await trusting.source.block(at - 1, signal)
  await trusting.source.settled()
  // one warning; a block that cannot be verified again is not cached
  expect(trusting.lines.filter((line) => line.includes('are trusted'))).toHaveLength(1)
  expect(kept).toEqual([`block ${at - 1}`])
})

it.each<[string, (transactions: readonly Tx[]) => readonly Tx[], string]>([
  ['with another hash', (all) => all.map((tx) => ({ ...tx, hash: zeroHash })), 'hash of transaction 0'],
  ['with another value', (all) => all.map((tx) => ({ ...tx, value: '0x7' })), 'hash of transaction 0'],
  ['that is listed twice', (all) => [...all, ...all], 'number of transactions'],
])('l1/trusted: refuses a transaction %s (L1_BLOCK_MISMATCH)', async (_what, change, what) => {
  await using trusting = await open(likeAnvil(change), { trustTransactions: true })
  await expect(trusting.source.block(at, signal)).rejects.toMatchObject({ code: 'L1_BLOCK_MISMATCH', data: { what } })
})

it('l1/trusted: a block without blobs must match its root (L1_BLOCK_MISMATCH)', async () => {
  await using trusting = await open(
    likeAnvil((all) => all.filter((tx) => !tx.blobVersionedHashes)),
    { trustTransactions: true },
  )
  await expect(trusting.source.block(at, signal)).rejects.toMatchObject({ data: { what: 'transactions root' } })
})

it('l1/trusted: reads blobs from an API without config and sidecars when the slot time is configured', async () => {
  await using silent = await open(recording, {})
  const ref = (await silent.source.ref(at, signal)) ?? expect.fail()
  await expect(silent.source.blobs(ref, blobHashes, signal)).rejects.toMatchObject({ code: 'L1_BAD_ANSWER' })

  await using told = await open(recording, { slotSec: recording.secondsPerSlot })
  const blobs = await told.source.blobs(ref, blobHashes, signal)
  expect(blobs).toHaveLength(blobHashes.length)
})

it('l1/trusted: refuses a slot time that blocks do not fit (L1_WRONG_BEACON)', async () => {
  await using wrong = await open(recording, { slotSec: 7 })
  const ref = (await wrong.source.ref(at, signal)) ?? expect.fail()
  await expect(wrong.source.blobs(ref, blobHashes, signal)).rejects.toMatchObject({ code: 'L1_WRONG_BEACON', data: { what: 'time' } })
})
