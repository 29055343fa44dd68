import { rollupDataOfBlob } from './blob.ts'
import { joined, readChannel, type SeenChannel } from './channel.ts'
import { SpecError } from './cursor.ts'
import { framesOfPayload, type SeenFrame } from './frames.ts'

/** Content of one batcher transaction: its calldata, or its blobs in order (131,072 bytes each). */
export type Carried =
  | { readonly kind: 'calldata'; readonly data: Uint8Array }
  | { readonly kind: 'blobs'; readonly blobs: readonly Uint8Array[] }

export type InboxChannel = SeenChannel & {
  /** 32 hex digits. */
  readonly id: string
  readonly carrier: Carried['kind']
  readonly frames: readonly SeenFrame[]
  readonly compressedBytes: number
}

export type InboxContents = {
  /** Complete channels, in the order of their first frames. */
  readonly channels: readonly InboxChannel[]
  /** Ids of channels with missing frames. */
  readonly incomplete: readonly string[]
  /** Reasons why a calldata or blob was rejected. */
  readonly refused: readonly string[]
}

/**
 * Reads the transactions to the inbox in L1 order, without derivation's rules about time. Repeated frames are skipped.
 * @throws SpecError when a complete channel cannot be read to its last byte
 */
export function readInbox(transactions: readonly Carried[]): InboxContents {
  const refused: string[] = []
  const frames = transactions.flatMap((carried) =>
    payloadsOf(carried, refused).flatMap((payload) => {
      const read = attempt(() => framesOfPayload(payload), refused) ?? []
      return read.map((frame) => ({ ...frame, carrier: carried.kind }))
    }),
  )
  const channels: InboxChannel[] = []
  const incomplete: string[] = []
  for (const [id, all] of Map.groupBy(frames, ({ channel }) => channel)) {
    const distinct = [...new Map(all.map((frame) => [frame.number, frame])).values()]
    const data = joined(distinct)
    if (data === undefined) incomplete.push(id)
    else channels.push({ id, carrier: all[0]?.carrier ?? 'calldata', frames: distinct, compressedBytes: data.length, ...readChannel(data) })
  }
  return { channels, incomplete, refused }
}

function payloadsOf(carried: Carried, refused: string[]): readonly Uint8Array[] {
  if (carried.kind === 'calldata') return [carried.data]
  return carried.blobs.flatMap((blob) => attempt(() => rollupDataOfBlob(blob), refused) ?? [])
}

function attempt<T>(read: () => T, refused: string[]): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof SpecError)) throw error
    refused.push(error.message)
    return undefined
  }
}
