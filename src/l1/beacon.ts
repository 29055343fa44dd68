import { setImmediate } from 'node:timers/promises'
import { verifyBlobProof, versionedHashOfBlob, versionedHashOfCommitment } from '#lib/kzg'
import type { L1Ref } from '#types/blockRef'
import { type Hash, hashFromBytes } from '#types/ids'
import { bytesField, type Json, listOf, objectOf, ShapeError } from '#types/jsonShape'
import type { Endpoint } from './endpoint.ts'
import type { Failover } from './failover.ts'
import { l1Fault } from './faults.ts'
import { type HttpAnswer, type HttpDeps, type HttpLimits, requestJson } from './http.ts'

export type Blobs = ReadonlyMap<Hash, Uint8Array>

/** Blobs from beacon API endpoints, each verified against its versioned hash. */
export interface Beacon {
  /**
   * @returns 131,072 bytes each, by hash, all that were asked for; undefined when every endpoint says that the slot has none
   * @throws Fault BLOB_UNAVAILABLE, BLOB_MISMATCH and those of `requestJson` (all retry)
   */
  blobs(block: L1Ref, hashes: readonly Hash[], signal: AbortSignal): Promise<Blobs | undefined>
}

const blobBytes = 131_072

/** A blob that is not what it should be. */
class BlobError extends Error {}

/** One question: which blobs of which slot, and what to say of it. */
type Wanted = { readonly slot: number; readonly hashes: ReadonlySet<Hash> }
/** 'absent': the endpoint knows no blobs of the slot; 'unsupported': it does not have the method */
type Answer = ReadonlyMap<Hash, Uint8Array> | 'absent' | 'unsupported'

/** A positive integer that the API writes as text. */
function decimal(json: Json, key: string): number {
  const value = Number(json[key])
  if (typeof json[key] !== 'string' || !Number.isSafeInteger(value) || value <= 0) throw new ShapeError(`${key} is no number`)
  return value
}

const dataOf = (json: unknown): unknown => objectOf(json, 'answer')['data']

function blobField(json: Json): Uint8Array {
  const blob = bytesField(json, 'blob')
  if (blob.length !== blobBytes) throw new BlobError(`${blob.length} bytes`)
  return blob
}

/** Blobs by the hash of their own commitment. Each costs some 45 ms: others have their turn in between. */
async function blobsByCommitment(values: readonly unknown[], { hashes }: Wanted): Promise<Blobs> {
  const found = new Map<Hash, Uint8Array>()
  for (const value of values) {
    const blob = blobField({ blob: value })
    const hash = versionedHashOfBlob(blob)
    if (hash === undefined) throw new BlobError('a field element above the modulus')
    found.set(hashFromBytes(hash), blob)
    await setImmediate()
  }
  const hasOthers = found.size >= hashes.size && [...hashes].some((hash) => !found.has(hash))
  if (hasOthers) throw new BlobError('it is not one of the hashes asked for')
  return found
}

/** Wanted blobs of sidecars, each held against its commitment by its proof: twenty times faster than computing the commitment. */
function blobsByProof(sidecars: readonly unknown[], { hashes }: Wanted): Blobs {
  const found = new Map<Hash, Uint8Array>()
  for (const value of sidecars) {
    const sidecar = objectOf(value, 'sidecar')
    const commitment = bytesField(sidecar, 'kzg_commitment')
    const hash = hashFromBytes(versionedHashOfCommitment(commitment))
    if (!hashes.has(hash)) continue
    const blob = blobField(sidecar)
    if (!verifyBlobProof(blob, commitment, bytesField(sidecar, 'kzg_proof'))) throw new BlobError(`no proof of ${hash}`)
    found.set(hash, blob)
  }
  return found
}

const hasAll = (answer: Answer, { hashes }: Wanted): answer is Blobs =>
  typeof answer !== 'string' && [...hashes].every((hash) => answer.has(hash))

/** The list in an answer. ShapeError when it is none. */
function listIn({ status, json }: HttpAnswer): readonly unknown[] | 'absent' | 'unsupported' {
  if (status === 404) return 'absent'
  if (status === 400 || status === 405) return 'unsupported'
  if (status !== 200) throw new ShapeError(`HTTP ${status}`)
  return listOf(dataOf(json), 'data')
}

export function createBeacon(deps: HttpDeps & { readonly failover: Failover }, limits: HttpLimits): Beacon {
  /** By endpoint: what one says of time decides for itself alone. */
  const slotTimings = new Map<string, { readonly genesisSec: number; readonly slotSec: number }>()
  /** Endpoints without `/blobs`: older clients, and archives of blobs. */
  const sidecarsOnly = new Set<string>()

  const get = (endpoint: Endpoint, path: string, asked: string, signal: AbortSignal): Promise<HttpAnswer> =>
    requestJson(deps, limits, endpoint, { path, asked }, signal)

  /** @see consensus specs, compute_time_at_slot */
  async function slotOf(endpoint: Endpoint, timestamp: number, signal: AbortSignal): Promise<number> {
    let timing = slotTimings.get(endpoint.name)
    if (timing === undefined) {
      const genesis = await get(endpoint, '/eth/v1/beacon/genesis', 'genesis', signal)
      const spec = await get(endpoint, '/eth/v1/config/spec', 'config', signal)
      timing = {
        genesisSec: decimal(objectOf(dataOf(genesis.json), 'genesis'), 'genesis_time'),
        slotSec: decimal(objectOf(dataOf(spec.json), 'spec'), 'SECONDS_PER_SLOT'),
      }
      slotTimings.set(endpoint.name, timing)
    }
    return Math.floor((timestamp - timing.genesisSec) / timing.slotSec)
  }

  async function fromBlobs(endpoint: Endpoint, wanted: Wanted, signal: AbortSignal): Promise<Answer> {
    if (sidecarsOnly.has(endpoint.name)) return 'unsupported'
    const query = [...wanted.hashes].map((hash) => `versioned_hashes=${hash}`).join('&')
    const path = `/eth/v1/beacon/blobs/${wanted.slot}?${query}`
    const list = listIn(await get(endpoint, path, `blobs of slot ${wanted.slot}`, signal))
    return typeof list === 'string' ? list : blobsByCommitment(list, wanted)
  }

  async function fromSidecars(endpoint: Endpoint, wanted: Wanted, signal: AbortSignal): Promise<Answer> {
    const path = `/eth/v1/beacon/blob_sidecars/${wanted.slot}`
    const list = listIn(await get(endpoint, path, `blob sidecars of slot ${wanted.slot}`, signal))
    return typeof list === 'string' ? list : blobsByProof(list, wanted)
  }

  /** `/blobs` first; what it lacks may still be there as sidecars, which is how older clients and archives answer. */
  async function fromEndpoint(endpoint: Endpoint, wanted: Wanted, signal: AbortSignal): Promise<Blobs | undefined> {
    const blobs = await fromBlobs(endpoint, wanted, signal)
    if (hasAll(blobs, wanted)) return blobs
    const sidecars = await fromSidecars(endpoint, wanted, signal)
    if (hasAll(sidecars, wanted)) {
      sidecarsOnly.add(endpoint.name)
      return sidecars
    }
    if (typeof blobs === 'string' && sidecars === 'absent') return undefined
    const has = (answer: Answer, hash: Hash): boolean => typeof answer !== 'string' && answer.has(hash)
    const missing = [...wanted.hashes].filter((hash) => !has(blobs, hash) && !has(sidecars, hash))
    throw l1Fault('BLOB_UNAVAILABLE', {
      endpoint: endpoint.name,
      slot: wanted.slot,
      missing: missing.length,
      asked: wanted.hashes.size,
    })
  }

  return {
    async blobs(block, hashes, signal): Promise<Blobs | undefined> {
      if (deps.failover.size === 0) throw l1Fault('L1_NO_BEACON', { block: block.number })
      return deps.failover.find(signal, async (endpoint) => {
        let slot = -1
        try {
          slot = await slotOf(endpoint, block.timestamp, signal)
          return await fromEndpoint(endpoint, { slot, hashes: new Set(hashes) }, signal)
        } catch (error) {
          if (error instanceof BlobError) throw l1Fault('BLOB_MISMATCH', { endpoint: endpoint.name, slot, reason: error.message })
          if (error instanceof ShapeError) {
            throw l1Fault('L1_BAD_ANSWER', { endpoint: endpoint.name, asked: `blobs of slot ${slot}`, reason: error.message })
          }
          throw error
        }
      })
    },
  }
}
