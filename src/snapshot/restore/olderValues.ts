import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { readHeads } from '#blockchain/chainStore'
import { u64Bytes, u64FromBytes } from '#lib/bytes'
import { openProofs } from '#proofs/openProofs'
import { dropLoadMark, loadMarkRow, readLoadMark } from '#state/loadMark'
import { firstChanges } from '#state/pruneHistory'
import { endRestoredHistory, indexRestored } from '#state/restoredHistory'
import { openChainKv } from '#store/chainTables'
import { dataFile } from '#store/environmentFiles'
import type { Kv } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import { snapshotFault } from '../faults.ts'
import { FormatError } from '../format/byteReader.ts'
import { valueRowsOf } from '../format/chunks.ts'
import type { ChunkEntry, Manifest } from '../format/manifest.ts'
import { chainHistory, recordedProofs } from '../values/olderChanges.ts'
import { parseValues } from '../values/undoBlock.ts'
import { type OlderChanges, ValueWalk } from '../values/valueWalk.ts'
import { reading } from './checkChunk.ts'
import type { OnBytes } from './loadChunks.ts'
import type { SnapshotReader } from './snapshotReader.ts'

export type ValuesSource = {
  readonly reader: SnapshotReader
  readonly manifest: Manifest
  /** identity of the snapshot */
  readonly id: string
  readonly genesis: BlockId
}

export type ValuesTarget = {
  readonly datadir: string
  readonly chainDir: string
  readonly proofsDir: string
  /** command that continues an interrupted restore */
  readonly command: string
}

type Work = { readonly signal: AbortSignal; readonly onBytes: OnBytes }

const isValues = ({ kind }: ChunkEntry): boolean => kind === 'values'
/** Blocks whose index is written in one transaction. */
const indexedAtOnce = 64

/**
 * Marks a chain that begins with the block of a snapshot: no node opens it before the values of older blocks are loaded, because its writer would prune them.
 * @returns whether they are not loaded yet
 * @throws Fault LOAD_INTO_CHAIN (fatal) when a node has gone on from that block without them
 */
export async function markOlderValues(
  { manifest: { block, flavour }, id }: ValuesSource,
  { chainDir, proofsDir, command }: ValuesTarget,
): Promise<boolean> {
  await using kv = openChainKv(chainDir)
  return kv.write((tx) => {
    if (readLoadMark(tx) !== undefined) return true
    // nothing of them is written before the mark, and the mark stays until all of them are
    if (flavour === 'archive' ? firstChanges(tx) <= block.number : hasProofs(proofsDir)) return false
    if (readHeads(tx)?.unsafe.hash !== block.hash) throw snapshotFault('LOAD_INTO_CHAIN', { dir: chainDir })
    putMark(tx, { source: id, command, progress: new Uint8Array(0) })
    return true
  })
}

const hasProofs = (dir: string): boolean => existsSync(dataFile(dir))

/** Checks that a place for recorded proofs is empty. @throws Fault LOAD_INTO_PROOFS (fatal) */
export function requireNoProofs({ flavour }: Manifest, dir: string): void {
  if (flavour === 'proofs' && hasProofs(dir)) throw snapshotFault('LOAD_INTO_PROOFS', { dir })
}

/** Directory of the rows of the oldest state while values are loaded. */
export const walkDirIn = (datadir: string): string => join(datadir, 'restore-values')

/** Returns the oldest block whose state the values of a snapshot lead to. */
export const oldestStateOf = ({ block, chunks }: Manifest): number =>
  chunks.reduce((oldest, { kind, first = 0 }) => (kind === 'values' ? Math.min(oldest, first - 1) : oldest), block.number)

function putMark(tx: Parameters<Parameters<Kv['write']>[0]>[0], mark: Parameters<typeof loadMarkRow>[0]): void {
  const { table, key, value } = loadMarkRow(mark)
  tx.put(table, key, value)
}

/**
 * Loads the values of older blocks into a chain that begins with the block of the snapshot and is marked: as history of its values (flavour archive), or as
 * recorded proofs (proofs). Each block is verified by the state root of its parent. Continues an interrupted load. Effects, in order: 1 blocks, newest first,
 * 2 their index (archive), 3 the mark is removed, in one transaction with those of the history.
 * @throws Fault CHUNK_DAMAGED, LOAD_INTO_PROOFS, those of the reader and of the store
 */
export async function restoreOlderValues(source: ValuesSource, target: ValuesTarget, work: Work): Promise<void> {
  const { manifest, genesis } = source
  await using chain = openChainKv(target.chainDir)
  const walkDir = walkDirIn(target.datadir)
  const base = manifest.block
  const oldest = await (async (): Promise<number> => {
    if (manifest.flavour === 'archive') return await walk(source, { chain, dir: walkDir, into: chainHistory(chain, base) }, work)
    const dir = target.proofsDir
    await using proofs = openProofs(dir)
    return await walk(source, { chain, dir: walkDir, into: recordedProofs(proofs, chain, { base, genesis, dir }) }, work)
  })()
  if (manifest.flavour === 'archive')
    await indexHistory(chain, { source: source.id, command: target.command }, base.number, oldest, work.signal)
  chain.write((tx) => {
    if (manifest.flavour === 'archive') endRestoredHistory(tx, oldest)
    dropLoadMark(tx)
  })
}

/** Undoes all blocks of a snapshot. @returns the oldest block whose state is known then */
async function walk(
  { reader, manifest }: ValuesSource,
  deps: { readonly chain: Kv; readonly dir: string; readonly into: OlderChanges },
  { signal, onBytes }: Work,
): Promise<number> {
  await using state = await ValueWalk.open(deps)
  const isLeft = ({ first = 0 }: ChunkEntry): boolean => first <= state.number
  const chunks = manifest.chunks.filter(isValues)
  for (const { size } of chunks.filter((entry) => !isLeft(entry))) onBytes(size, 'before')
  for await (const { entry, raw } of reader.contents(chunks.filter(isLeft))) {
    const rows = reading(entry, reader.place, () => valueRowsOf(raw))
    for (let isDone = false; !isDone; await nextTurn()) {
      signal.throwIfAborted()
      isDone = reading(entry, reader.place, () => state.step(entry.first ?? 0, rows))
    }
    onBytes(entry.size, 'now')
  }
  return state.number
}

/** Writes the index of the restored blocks, ascending, and how far it is. */
async function indexHistory(
  chain: Kv,
  { source, command }: { readonly source: string; readonly command: string },
  last: number,
  oldest: number,
  signal: AbortSignal,
): Promise<void> {
  for (let next = nextToIndex(chain, oldest); next <= last; await nextTurn()) {
    signal.throwIfAborted()
    const end = Math.min(last, next + indexedAtOnce - 1)
    chain.write((tx) => {
      for (let number = next; number <= end; number++) indexRestored(tx, number)
      putMark(tx, { source, command, progress: u64Bytes(end) })
    })
    next = end + 1
  }
}

function nextToIndex(chain: Kv, oldest: number): number {
  using reader = chain.snapshot()
  const progress = readLoadMark(reader)?.progress
  return progress?.length ? u64FromBytes(progress) + 1 : oldest + 1
}

/**
 * Verifies the form of the values of a snapshot: consecutive blocks from its block down. Whether they are those of the chain is verified by a restore alone,
 * which has the states.
 * @throws Fault CHUNK_DAMAGED, those of the reader
 */
export async function verifyOlderValues({ reader, manifest }: Pick<ValuesSource, 'reader' | 'manifest'>, onBytes: OnBytes): Promise<void> {
  let next = manifest.block.number
  for await (const { entry, raw } of reader.contents(manifest.chunks.filter(isValues))) {
    next = reading(entry, reader.place, () => checkValues(entry, raw, next))
    onBytes(entry.size, 'now')
  }
}

function checkValues({ first = 0 }: ChunkEntry, raw: Uint8Array, next: number): number {
  const rows = valueRowsOf(raw)
  const last = first + rows.length - 1
  if (rows.length === 0 || last !== next) throw new FormatError(`it has blocks ${first} to ${last}, and block ${next} is expected`)
  for (const [index, row] of rows.entries()) parseValues(first + index, row)
  return first - 1
}
