import { toHex } from '#lib/hex'
import type { Hash } from '#types/ids'
import type { Reply } from '../recordedL1.ts'
import type { MemoryChain } from './memoryChain.ts'

const reply = (status: number, body: unknown): Reply => ({ status, body: JSON.stringify(body) })

function blobHashes(chain: MemoryChain, slot: number): readonly Hash[] | undefined {
  return chain.block(slot)?.mined.flatMap(({ tx }) => (tx.type === 3 ? tx.blobVersionedHashes : []))
}

function sidecars(chain: MemoryChain, hashes: readonly Hash[]): readonly unknown[] | undefined {
  const list = hashes.map((hash, index) => {
    const kept = chain.blob(hash)
    if (!kept?.proof) return undefined
    const { blob, commitment, proof } = kept
    return { index: String(index), blob: toHex(blob), kzg_commitment: toHex(commitment), kzg_proof: toHex(proof) }
  })
  return list.includes(undefined) ? undefined : list
}

/**
 * Answers requests to the beacon API that blobs require. The slot of a block is its number.
 * @see beacon-APIs: getGenesis, getSpec, getBlobs, getBlobSidecars
 */
export function beaconReply(chain: MemoryChain, { pathname, searchParams }: URL): Reply {
  const { slotSec, genesisTimeSec, chainId } = chain.options
  if (pathname === '/eth/v1/config/spec') {
    return reply(200, { data: { SECONDS_PER_SLOT: String(slotSec), DEPOSIT_CHAIN_ID: String(chainId) } })
  }
  if (pathname === '/eth/v1/beacon/genesis') return reply(200, { data: { genesis_time: String(genesisTimeSec) } })
  const [, kind, slot] = /^\/eth\/v1\/beacon\/(blobs|blob_sidecars)\/(\d{1,15})$/.exec(pathname) ?? []
  const hashes = slot === undefined ? undefined : blobHashes(chain, Number(slot))
  if (!hashes) return reply(404, { code: 404, message: 'not found' })
  if (kind === 'blobs') {
    const wanted = new Set(searchParams.getAll('versioned_hashes').flatMap((value) => value.split(',')))
    const blobs = hashes.filter((hash) => wanted.size === 0 || wanted.has(hash)).map((hash) => chain.blob(hash)?.blob)
    if (blobs.some((blob) => blob === undefined)) return reply(404, { code: 404, message: 'these blobs are no longer available' })
    return reply(200, { data: blobs.map((blob) => blob && toHex(blob)) })
  }
  const list = sidecars(chain, hashes)
  return list ? reply(200, { data: list }) : reply(410, { code: 410, message: 'no proofs, request blobs instead' })
}
