import { type Carrier, framesOf } from '#derive/batchEncoder'
import { encodeBlob } from '#derive/codec/blob'
import { wrapChannel } from '#derive/codec/channel'
import { encodeFrames } from '#derive/codec/frame'
import { type CompressionEffort, compress } from '#lib/compress'
import { errorMessage } from '#lib/fault'
import { toHex } from '#lib/hex'
import { versionedHashOfCommitment } from '#lib/kzg/kzg'
import type { Random } from '#lib/retry'
import type { L2Ref } from '#types/blockRef'
import { type Hash, hashFromBytes } from '#types/ids'
import type { BlobSidecar } from '#types/signing'
import { carrierCosts } from './cost.ts'
import { batcherFault } from './faults.ts'
import type { CarrierKind } from './fees.ts'
import type { OpenChannel } from './openChannel.ts'
import type { BatcherSettings } from './options.ts'
import type { BlobProver, L1Tip, ProofKind } from './ports.ts'

/** Data of one L1 transaction. */
export type Content =
  | { readonly kind: 'calldata'; readonly data: Uint8Array }
  | { readonly kind: 'blobs'; readonly sidecar: BlobSidecar; readonly hashes: readonly Hash[] }

/** Part of a channel in one L1 transaction. The account sets `includedAt` to the number of its L1 block. */
export type Parcel = { readonly content: Content; readonly bytes: number; includedAt: number | undefined }

/** Closed channel: its first and last L2 block, its size, and its parcels in the order in which they must be included. */
export type ClosedChannel = {
  readonly first: L2Ref
  readonly last: L2Ref
  readonly blocks: number
  /** compressed size */
  readonly bytes: number
  readonly parcels: readonly Parcel[]
}

/** Returns the number of the L1 block with the last of a channel's parcels; undefined while a parcel is not included. */
export function includedAt({ parcels }: ClosedChannel): number | undefined {
  let last = 0
  for (const parcel of parcels) {
    if (parcel.includedAt === undefined) return undefined
    last = Math.max(last, parcel.includedAt)
  }
  return last
}

const channelIdBytes = 16
const byteOf = (random: Random): number => Math.floor(random() * 256)

/** Returns a copy with one wrong byte. */
function corrupted(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = bytes.slice()
  const at = Math.floor(random() * copy.length)
  copy[at] = (copy[at] ?? 0) ^ (1 + Math.floor(random() * 255))
  return copy
}

/** Returns the chosen carrier if it is allowed, or for `auto` the cheaper one. Pure. */
export function chooseCarrier(
  choice: BatcherSettings['carrier'],
  areBlobsAllowed: boolean,
  costs: Readonly<Record<CarrierKind, bigint>>,
): CarrierKind {
  if (!areBlobsAllowed || choice === 'calldata') return 'calldata'
  return choice === 'blobs' || costs.blobs <= costs.calldata ? 'blobs' : 'calldata'
}

async function proveBlobs(blobs: readonly Uint8Array[], kind: ProofKind, prover: BlobProver): Promise<Content> {
  try {
    const proved = await Promise.all(blobs.map((blob) => prover.prove(blob, kind)))
    const commitments = proved.map(({ commitment }) => commitment)
    const sidecar: BlobSidecar = { kind, blobs, commitments, proofs: proved.flatMap(({ proofs }) => proofs) }
    return { kind: 'blobs', sidecar, hashes: commitments.map((commitment) => hashFromBytes(versionedHashOfCommitment(commitment))) }
  } catch (cause) {
    throw batcherFault('BLOBS_NOT_PROVED', { blobs: blobs.length, reason: errorMessage(cause) }, cause)
  }
}

function* groupsOf<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}

export type EncodingDeps = { readonly prover?: BlobProver; readonly random: Random }
export type EncodingSettings = Pick<
  BatcherSettings,
  'carrier' | 'proofs' | 'maxCalldataBytes' | 'maxBlobsPerTransaction' | 'priorityFeeWei'
> & {
  readonly effort: CompressionEffort
  readonly areBlobsAllowed: boolean
  /** changes one byte of the first frame */
  readonly isCorrupt: boolean
}

/**
 * Compresses a channel, chooses the carrier, and cuts the channel into frames: one per transaction for calldata, one per blob. Compression and proofs
 * run in other threads. The channel can be closed again after a failure.
 * @throws Fault BLOBS_NOT_PROVED (retry)
 */
export async function closeChannel(
  deps: EncodingDeps,
  open: OpenChannel,
  tip: L1Tip,
  settings: EncodingSettings,
): Promise<{ readonly channel: ClosedChannel; readonly carrier: CarrierKind }> {
  const { prover, random } = deps
  const { compression } = open.form
  const channel = wrapChannel(compression, await compress(compression, open.finish(), settings.effort))
  const costs = carrierCosts(channel.length, tip, settings.priorityFeeWei, settings)
  const kind = chooseCarrier(settings.carrier, settings.areBlobsAllowed && prover !== undefined, costs)
  const carrier: Carrier = kind === 'blobs' ? { kind: 'blob' } : { kind, maxBytes: settings.maxCalldataBytes }
  const channelId = toHex(Uint8Array.from({ length: channelIdBytes }, () => byteOf(random)))
  const frames = framesOf(channelId, channel, carrier)
  const datas = frames.map((frame, at) => {
    const data = encodeFrames([frame])
    return settings.isCorrupt && at === 0 ? corrupted(data, random) : data
  })
  const contents: Content[] = []
  if (kind === 'calldata' || prover === undefined) contents.push(...datas.map((data) => ({ kind: 'calldata', data }) as const))
  else
    for (const group of groupsOf(datas, settings.maxBlobsPerTransaction))
      contents.push(await proveBlobs(group.map(encodeBlob), settings.proofs, prover))
  const parcels = contents.map((content) => ({ content, bytes: bytesOf(content), includedAt: undefined }))
  return { channel: { ...open.ends, blocks: open.blocks, bytes: channel.length, parcels }, carrier: kind }
}

function bytesOf(content: Content): number {
  return content.kind === 'calldata' ? content.data.length : content.sidecar.blobs.reduce((sum, { length }) => sum + length, 0)
}
