import { equalBytes } from '#lib/bytes'
import { isFault } from '#lib/fault'
import { fromHex } from '#lib/hex'
import { RlpError } from '#lib/rlp'
import { unzstd } from '#lib/zstd'
import { snapshotFault } from '../faults.ts'
import { FormatError } from '../format/byteReader.ts'
import { type ChunkEntry, nibblesOfText } from '../format/manifest.ts'
import type { TopNodes } from '../format/topNodes.ts'
import { StateBuilder } from '../load/stateBuilder.ts'

/** Root of the storage of each account whose slots are in chunks of their own, by its key in hex. Those in verified chunks of accounts only. */
export type StorageRoots = Map<string, Uint8Array>

export type Trusted = { readonly stateRoot: Uint8Array; readonly top: TopNodes; readonly storageRoots: StorageRoots }

/** Decompresses a chunk whose hash is verified. @throws Fault CHUNK_DAMAGED when it is no frame, or another size comes out than the manifest has */
export function contentOf(entry: ChunkEntry, bytes: Uint8Array, place: string): Uint8Array {
  const raw = unzstd(bytes, Math.max(1, entry.rawSize))
  if (raw?.length === entry.rawSize) return raw
  const reason = raw
    ? `it decompresses to ${raw.length} bytes, expected ${entry.rawSize}`
    : `it does not decompress to ${entry.rawSize} bytes`
  throw snapshotFault('CHUNK_DAMAGED', { chunk: entry.name, place, reason })
}

/** Calls a function that reads a chunk; errors in the chunk become a fault that names it. */
export function reading<T>(entry: ChunkEntry, place: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    const isBad =
      error instanceof FormatError ||
      error instanceof RlpError ||
      error instanceof RangeError ||
      isFault(error, 'STATE_UNSORTED') ||
      isFault(error, 'BAD_NODE')
    if (!isBad) throw error
    throw snapshotFault('CHUNK_DAMAGED', { chunk: entry.name, place, reason: (error as Error).message }, error)
  }
}

/**
 * Verifies a chunk of accounts or slots against the state root, by itself: its keys are all keys with the prefix, with these values. A chunk without prefix
 * is checked for its format only; the root of the whole state covers it.
 * @throws Fault CHUNK_DAMAGED
 */
export function checkChunk(entry: ChunkEntry, raw: Uint8Array, trusted: Trusted, place: string): void {
  reading(entry, place, () => {
    if (entry.kind === 'accounts') checkAccounts(entry, raw, trusted)
    else if (entry.kind === 'slots') checkSlots(entry, raw, trusted)
  })
}

function checkAccounts({ prefix }: ChunkEntry, raw: Uint8Array, { stateRoot, top, storageRoots }: Trusted): void {
  const nibbles = prefix === undefined ? undefined : nibblesOfText(prefix)
  const found: [string, Uint8Array][] = []
  const builder = new StateBuilder({ onStorageRoot: (key, root): void => void found.push([Buffer.from(key).toString('hex'), root]) })
  builder.addAccounts(raw, 0, nibbles)
  if (nibbles) {
    const part = top.partWith(stateRoot, nibbles)
    const own = nibbles.length === 0 ? fromHex(builder.end()) : builder.sealAccounts(nibbles.length)
    if (part === undefined || !equalBytes(own, part)) throw new FormatError('its accounts are not those of the state root')
  }
  for (const [key, root] of found) storageRoots.set(key, root)
}

function checkSlots({ prefix, account = '' }: ChunkEntry, raw: Uint8Array, { top, storageRoots }: Trusted): void {
  const storageRoot = storageRoots.get(account)
  if (storageRoot === undefined) throw new FormatError('no account before it has slots in chunks')
  if (prefix === undefined) return
  const nibbles = nibblesOfText(prefix)
  const builder = new StateBuilder()
  builder.account(Buffer.from(account, 'hex'), 0n, 0n, undefined)
  builder.addSlots(raw, nibbles)
  const part = top.partWith(storageRoot, nibbles)
  const own = nibbles.length === 0 ? builder.endAccount() : builder.sealSlots(nibbles.length)
  if (part === undefined || own === undefined || !equalBytes(own, part)) throw new FormatError('its slots are not those of the state root')
}
