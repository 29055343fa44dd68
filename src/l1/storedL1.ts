import type { L1Block } from '#derive/ports'
import { concatBytes } from '#lib/bytes'
import type { Log } from '#lib/log'
import { decodeRlp, encodeRlp, RlpError, rlpBytes, rlpList } from '#lib/rlp'
import { unzstd, zstd } from '#lib/zstd'
import { decodeHeader, encodeHeader, hashHeader } from '#types/header'
import type { Hash } from '#types/ids'
import { decodeReceipt, encodeReceipt } from '#types/receipt'
import { blobBytes, type CheckedBlob, isBlobOf } from './beaconBlobs.ts'
import type { BlobChecks } from './blobChecks.ts'
import type { L1Cache, L1CacheKind } from './cache.ts'
import { verifyBody } from './verifyBlock.ts'

/** Blocks and blobs in the cache on disk. They are compressed when written and verified against their hashes when read. */
export interface Kept {
  hashAt(number: number): Hash | undefined
  block(hash: Hash): L1Block | undefined
  blob(hash: Hash): Promise<Uint8Array | undefined>
  keepBlock(block: L1Block): void
  keepBlob(number: number, hash: Hash, blob: CheckedBlob): void
  /** Resolves when all pending writes have reached the cache. */
  settled(): Promise<void>
}

/** Maximum size of a block before compression; larger blocks are not cached. */
const maxBlockBytes = 64 * 1_048_576
/** Maximum size of entries that wait for compression; entries beyond it are not cached. */
const maxWaitingBytes = 32 * 1_048_576
const openingBytes = 96

const blockBytes = ({ header, transactions, receipts }: L1Block): Uint8Array =>
  encodeRlp([encodeHeader(header), [...transactions], receipts.map(encodeReceipt)])

/** Decodes and verifies a cached block, including all its roots; undefined when it does not match the hash. */
function blockFrom(bytes: Uint8Array, hash: Hash): L1Block | undefined {
  try {
    const [first, second, third] = rlpList(decodeRlp(bytes), 'cached block')
    const header = decodeHeader(rlpBytes(first, 'header'))
    if (hashHeader(header) !== hash) return undefined
    const transactions = rlpList(second, 'transactions').map((raw) => rlpBytes(raw, 'transaction'))
    const receipts = rlpList(third, 'receipts').map((raw) => decodeReceipt(rlpBytes(raw, 'receipt')))
    const { number, parentHash, timestamp } = header
    const verdict = verifyBody({ ref: { hash, number, parentHash, timestamp }, header }, transactions, receipts)
    return verdict.kind === 'verified' ? verdict.value : undefined
  } catch (error) {
    if (error instanceof RlpError || error instanceof RangeError) return undefined
    throw error
  }
}

function blobFrom(bytes: Uint8Array): CheckedBlob {
  const blob = bytes.subarray(0, blobBytes)
  if (bytes.length !== blobBytes + openingBytes) return { blob: bytes }
  return { blob, opening: { commitment: bytes.subarray(blobBytes, blobBytes + 48), proof: bytes.subarray(blobBytes + 48) } }
}

/** Implementation without a cache. */
const keepsNothing: Kept = {
  hashAt: () => undefined,
  block: () => undefined,
  blob: async (): Promise<undefined> => undefined,
  keepBlock: () => {},
  keepBlob: () => {},
  settled: async (): Promise<void> => {},
}

export function createKept(deps: { readonly cache?: L1Cache; readonly checks: BlobChecks; readonly log: Log }): Kept {
  const { cache, checks, log } = deps
  if (cache === undefined) return keepsNothing
  return keptIn(cache, checks, log)
}

function keptIn(cache: L1Cache, checks: BlobChecks, log: Log): Kept {
  const underWay = new Set<Promise<void>>()
  let waitingBytes = 0

  function begin(keeping: Promise<void>): void {
    underWay.add(keeping)
    void keeping.then(() => underWay.delete(keeping))
  }

  async function keep(kind: L1CacheKind, number: number, hash: Hash, bytes: Uint8Array): Promise<void> {
    if (bytes.length > maxBlockBytes || waitingBytes + bytes.length > maxWaitingBytes) return
    waitingBytes += bytes.length
    try {
      cache.keep({ kind, number, hash, bytes: await zstd(bytes) })
    } catch (error) {
      log.warn('L1 cache write failed', { kind, hash, error })
    } finally {
      waitingBytes -= bytes.length
    }
  }

  function damaged(kind: L1CacheKind, hash: Hash): undefined {
    log.warn('damaged L1 cache entry dropped', { kind, hash })
    cache.drop(kind, hash)
    return undefined
  }

  return {
    hashAt: (number) => cache.hashAt(number),
    block(hash): L1Block | undefined {
      const frame = cache.read('block', hash)
      if (frame === undefined) return undefined
      const bytes = unzstd(frame, maxBlockBytes)
      return (bytes && blockFrom(bytes, hash)) ?? damaged('block', hash)
    },
    async blob(hash): Promise<Uint8Array | undefined> {
      const frame = cache.read('blob', hash)
      if (frame === undefined) return undefined
      const bytes = unzstd(frame, blobBytes + openingBytes)
      const kept = bytes && blobFrom(bytes)
      return kept && (await isBlobOf(checks, hash, kept)) ? kept.blob : damaged('blob', hash)
    },
    keepBlock: (block) => begin(keep('block', block.ref.number, block.ref.hash, blockBytes(block))),
    keepBlob(number, hash, { blob, opening }): void {
      begin(keep('blob', number, hash, opening ? concatBytes(blob, opening.commitment, opening.proof) : blob))
    },
    async settled(): Promise<void> {
      await Promise.all(underWay)
    },
  }
}
