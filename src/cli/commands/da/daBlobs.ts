import { decodeBlob } from '#derive/codec/blob'
import type { Endpoint } from '#lib/endpoint'
import { fromHex, toHex } from '#lib/hex'
import { failureReason, type JsonHttpDeps, requestJson } from '#lib/jsonHttp'
import { versionedHashOfCommitment } from '#lib/kzg/kzg'
import { bytesField, listOf, objectOf, ShapeError } from '#types/jsonShape'
import type { InboxTransaction } from './daReads.ts'

/** Rollup data of blobs by versioned hash; undefined: the blob is malformed. `reason`: why some blobs are not among them. */
export type BlobData = { readonly byHash: ReadonlyMap<string, Uint8Array | undefined>; readonly reason: string | undefined }

/** Most blobs that are read, newest first: each is 262 kB as JSON. */
const maxBlobs = 120
/** A block has at most some twenty blobs. */
const limits = { timeoutMs: 15_000, maxBodyBytes: 32_000_000 }

type Beacon = { readonly deps: JsonHttpDeps; readonly endpoint: Endpoint; readonly signal: AbortSignal }
type Times = { readonly genesisSec: number; readonly slotSec: number }

/** Reads `data` of an answer. @throws ShapeError without one */
async function readData({ deps, endpoint, signal }: Beacon, path: string): Promise<unknown> {
  const url = `${endpoint.url.replace(/\/$/, '')}${path}`
  const outcome = await requestJson(deps, limits, { url, headers: endpoint.headers }, signal)
  if (outcome.kind !== 'answer') throw new ShapeError(failureReason(outcome))
  if (outcome.status !== 200) throw new ShapeError(`HTTP ${outcome.status}`)
  return objectOf(outcome.json, 'the answer')['data']
}

function secondsOf(value: unknown): number {
  if (typeof value !== 'string' || !/^\d{1,15}$/.test(value)) throw new ShapeError('no beacon API')
  return Number(value)
}

async function readTimes(beacon: Beacon, slotSec: number | undefined): Promise<Times> {
  const genesis = objectOf(await readData(beacon, '/eth/v1/beacon/genesis'), 'data')
  if (slotSec !== undefined) return { genesisSec: secondsOf(genesis['genesis_time']), slotSec }
  const spec = objectOf(await readData(beacon, '/eth/v1/config/spec'), 'data')
  return { genesisSec: secondsOf(genesis['genesis_time']), slotSec: Math.max(1, secondsOf(spec['SECONDS_PER_SLOT'])) }
}

/**
 * Reads blobs of a slot by the newer path, which selects them by hash and keeps their order, or by the older one, whose blobs have commitments.
 * @throws ShapeError when the beacon node has neither
 */
async function readSlot(beacon: Beacon, slot: number, hashes: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
  try {
    const blobs = listOf(await readData(beacon, `/eth/v1/beacon/blobs/${slot}?versioned_hashes=${hashes.join(',')}`), 'data')
    if (blobs.length === hashes.length) return new Map(hashes.map((hash, at) => [hash, blobOf(blobs[at])]))
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
  }
  const sidecars = listOf(await readData(beacon, `/eth/v1/beacon/blob_sidecars/${slot}`), 'data').map((one) => objectOf(one, 'a sidecar'))
  return new Map(sidecars.map((one) => [toHex(versionedHashOfCommitment(bytesField(one, 'kzg_commitment'))), bytesField(one, 'blob')]))
}

function blobOf(text: unknown): Uint8Array {
  if (typeof text !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(text)) throw new ShapeError('a blob is not hex')
  return fromHex(text)
}

function dataOf(blob: Uint8Array): Uint8Array | undefined {
  const decoded = decodeBlob(blob)
  return decoded.kind === 'decoded' ? decoded.value : undefined
}

/**
 * Reads the blobs of transactions, the newest first up to a bound. That a blob belongs to its hash is not verified: a node does that. Never fails: blobs
 * that are not there are counted.
 */
export async function readBlobs(beacon: Beacon, transactions: readonly InboxTransaction[], slotSec: number | undefined): Promise<BlobData> {
  const byHash = new Map<string, Uint8Array | undefined>()
  let [reason, left] = [undefined as string | undefined, maxBlobs]
  try {
    const times = await readTimes(beacon, slotSec)
    for (const { l1TimeSec, blobHashes } of transactions.toReversed()) {
      if (blobHashes.length === 0) continue
      left -= blobHashes.length
      if (left < 0) {
        reason ??= `only the newest ${maxBlobs} are read`
        break
      }
      try {
        const blobs = await readSlot(beacon, Math.floor((l1TimeSec - times.genesisSec) / times.slotSec), blobHashes)
        for (const hash of blobHashes) {
          const blob = blobs.get(hash)
          if (blob) byHash.set(hash, dataOf(blob))
          else reason ??= 'the beacon node does not have all of them'
        }
      } catch (error) {
        if (!(error instanceof ShapeError)) throw error
        reason ??= error.message
      }
    }
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    reason = error.message
  }
  return { byHash, reason }
}
