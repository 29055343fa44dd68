import { isActive } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Log } from '#lib/log'
import type { L1Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { decodeBlob } from '../codec/blob.ts'
import type { Answer, L1Block, Step } from '../ports.ts'
import { batcherData, type Carried } from '../rules/batcherTransaction.ts'
import { item, reset, type Stage } from '../stage.ts'
import type { L1Traversal } from './l1Traversal.ts'

export type L1Retrieval = Stage<Uint8Array> & {
  /** Provides the blobs of the block being read; ignored when none are needed. */
  provide(answer: Extract<Answer, { kind: 'blobs' }>): void
}

/** Blobs that are needed, and the answer once it is provided. */
type Pending = { readonly block: L1Ref; readonly hashes: readonly Hash[]; blobs?: readonly Uint8Array[] | 'missing' }

/**
 * Creates the stage that returns the data of batcher transactions, in L1 order.
 * @see specs protocol/derivation.md, "L1 Retrieval"; ecotone/derivation.md, "Ecotone: Blob Retrieval"
 */
export function createL1Retrieval(config: RollupConfig, below: L1Traversal, log: Log): L1Retrieval {
  let carried: readonly Carried[] = []
  let at = 0
  let pending: Pending | undefined
  let blobs: readonly Uint8Array[] = []
  let blobAt = 0

  const open = (block: L1Block): void => {
    const readsBlobs = isActive(config.schedule, 'ecotone', block.ref.timestamp)
    carried = batcherData(block.transactions, { inbox: config.batchInbox, batcher: below.systemConfig.batcher, readsBlobs })
    at = 0
    blobs = []
    blobAt = 0
    const hashes = carried.flatMap((entry) => (entry.kind === 'blob' ? [entry.hash] : []))
    if (hashes.length > 0) pending = { block: block.ref, hashes }
  }

  /** Takes the blobs of the answer. Returns a step when they are needed still, missing or of the wrong number. */
  const settle = ({ block, hashes, blobs: given }: Pending): Step<Uint8Array> | undefined => {
    if (given === undefined) return { kind: 'need', want: { kind: 'blobs', block, hashes } }
    if (given === 'missing') return reset(`blobs of L1 block ${block.number} are missing: it is no longer canonical, or they have expired`)
    if (given.length !== hashes.length) return reset(`${given.length} blobs for ${hashes.length} hashes of L1 block ${block.number}`)
    blobs = given
    pending = undefined
    return undefined
  }

  const dataOf = (entry: Carried): Uint8Array | undefined => {
    if (entry.kind === 'calldata') return entry.data
    const decoded = decodeBlob(blobs[blobAt++] ?? new Uint8Array(0))
    if (decoded.kind === 'decoded') return decoded.value
    log.warn('malformed blob ignored', { l1: below.origin.number, hash: entry.hash, reason: decoded.reason })
    return undefined
  }

  return {
    provide(answer): void {
      if (pending !== undefined) pending = { ...pending, blobs: answer.blobs }
    },
    next(): Step<Uint8Array> {
      for (;;) {
        const blocked = pending && settle(pending)
        if (blocked !== undefined) return blocked
        const entry = carried[at++]
        const data = entry && dataOf(entry)
        if (data !== undefined) return item(data)
        if (entry !== undefined) continue
        const step = below.next()
        if (step.kind !== 'item') return step
        open(step.item)
      }
    },
  }
}
