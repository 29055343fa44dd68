import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifyBaseBlocks } from '#blockchain/base/baseBlocks'
import { readBaseTrust } from '#blockchain/baseTrust'
import { readHeads } from '#blockchain/chainStore'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { latin1 } from '#lib/bytes'
import { isFault } from '#lib/fault'
import { readLoadMark } from '#state/loadMark'
import { openForeignChainReader } from '#store/chainTables'
import { dataFile } from '#store/environmentFiles'
import { freeBytes } from '#store/freeSpace'
import type { BlockId } from '#types/blockRef'
import { hashHeader } from '#types/header'
import type { Grade } from '#types/trust'
import { snapshotFault } from '../faults.ts'
import { hasValues, type Manifest, manifestName, parseManifest, rawBytes, type SignedManifest } from '../format/manifest.ts'
import { installState } from '../load/installState.ts'
import { type BuiltPosition, StateBuilder } from '../load/stateBuilder.ts'
import { openStateLoader } from '../load/stateLoader.ts'
import { loadChunks, type OnBytes, type StateSink } from './loadChunks.ts'
import { restoreOlder, verifyOlder } from './olderBlocks.ts'
import { markOlderValues, oldestStateOf, requireNoProofs, restoreOlderValues, verifyOlderValues, walkDirIn } from './olderValues.ts'
import { type PlaceDeps, placeOf, type SnapshotPlace } from './places.ts'
import { SnapshotReader, type TrustSource } from './snapshotReader.ts'

/** `bytesBefore`: those of `bytes` that earlier runs loaded. */
export type RestoreProgress = {
  readonly bytes: number
  readonly bytesBefore: number
  readonly ofBytes: number
  readonly leaves: number
}

export type RestoreDeps = PlaceDeps & {
  readonly signal: AbortSignal
  readonly onProgress: (progress: RestoreProgress) => void
}

export type RestoreOptions = TrustSource & {
  /** `DIR` or `URL[,URL]` */
  readonly from: string
  readonly config: RollupConfig
  /** public key, in hex, that must have signed the manifest; absent: any */
  readonly signer?: string | undefined
}

export type RestoreTarget = {
  readonly datadir: string
  /** of recorded proofs; absent: `proofs` in the data directory */
  readonly proofsDir?: string | undefined
  /** command that continues an interrupted restore, for the operator */
  readonly command: string
}

/** Facts of a snapshot that was restored or verified. */
export type Restored = {
  readonly block: number
  readonly hash: string
  readonly stateRoot: string
  readonly accounts: number
  readonly slots: number
  /** oldest block whose state can be read then; in proofs, that they have */
  readonly oldestState: number
  readonly trust: Grade
  readonly signer: string
}

const savedName = `snapshot-${manifestName}`
/** Bytes in the store for each byte of keys and values: trie nodes, and pages that are not full. */
const storeFactor = 2.2
/** The same for bytes of segment files: the rows that find blocks and transactions, and the index of logs. */
const segmentFactor = 1.7
/** The same for bytes of values of older blocks: keys, indices, trie nodes of proofs, and the rows of the oldest state while they are verified. */
const valuesFactor = 4
const isSegment = ({ kind }: Manifest['chunks'][number]): boolean => kind === 'segment'
const isValues = ({ kind }: Manifest['chunks'][number]): boolean => kind === 'values'
const bytesOf = (chunks: Manifest['chunks'], isMeant: (chunk: Manifest['chunks'][number]) => boolean): number =>
  chunks.reduce((sum, chunk) => sum + (isMeant(chunk) ? chunk.size : 0), 0)
const isState = ({ kind }: Manifest['chunks'][number]): boolean => kind === 'codes' || kind === 'accounts' || kind === 'slots'

/**
 * Restores a snapshot into the chain folder of a data directory, without a copy of the chunks on disk. Continues an interrupted restore of the same
 * snapshot. Effects, in order: 1 the store is marked, 2 the manifest is saved in the data directory, 3 rows, each transaction with a mark, 4 the base block
 * and the end of the mark in one transaction, 5 another mark, when values of older blocks follow, 6 older blocks of any but a minimal snapshot, downwards, 7 their
 * values, downwards, 8 the saved manifest is removed. A state with another root is removed, then its manifest.
 * @throws Fault MANIFEST_BAD, SNAPSHOT_OF_ANOTHER_CHAIN, SNAPSHOT_UNTRUSTED, SNAPSHOT_NO_ROOM, CHUNK_DAMAGED, SNAPSHOT_REPLACED, STATE_ROOT_WRONG,
 * LOAD_INTO_CHAIN, LOAD_INTO_PROOFS, LOAD_OF_ANOTHER, those of the store (fatal); MANIFEST_UNAVAILABLE, CHUNK_UNAVAILABLE, DISK_FULL (retry)
 */
export async function restoreSnapshot(deps: RestoreDeps, options: RestoreOptions & RestoreTarget): Promise<Restored> {
  const { datadir, config, command, proofsDir = join(datadir, 'proofs') } = options
  const place = placeOf(deps, options.from)
  const saved = join(datadir, savedName)
  const chainDir = join(datadir, 'chain')
  // without tables nothing of its state is loaded: a kill kept the file of a refused snapshot
  const begun = hasTables(chainDir) ? readSaved(saved) : undefined
  const known = begun ? requireChain(begun, options, place.name) : await fetchManifest(place, options, deps.signal)
  const { manifest } = known
  mkdirSync(datadir, { recursive: true, mode: 0o700 })
  const reader = new SnapshotReader(place, known, deps.signal)
  const progress = progressOf(deps, manifest)
  const before = begun && (await loadedBefore(chainDir, manifest))
  if (before) progress(bytesOf(manifest.chunks, isState), 'before', before.accounts + before.slots)
  const loaded = before ?? (await loadState(reader, progress))
  const genesis = config.genesis.l2
  const [values, into] = [
    { reader, manifest, id: known.id, genesis },
    { datadir, chainDir, proofsDir, command },
  ]
  const needsValues = hasValues(manifest) && (await markOlderValues(values, into))
  const source = { reader, entries: manifest.chunks.filter(isSegment), genesis, signal: deps.signal }
  if (manifest.flavour !== 'minimal') await restoreOlder(source, chainDir, progress)
  const work = { signal: deps.signal, onBytes: progress }
  if (needsValues) await restoreOlderValues(values, into, work)
  rmSync(walkDirIn(datadir), { recursive: true, force: true })
  rmSync(saved, { force: true })
  return { ...idOf(known), ...loaded }

  async function loadState(from: SnapshotReader, onProgress: Progress): Promise<Loaded> {
    const { blocks, trust } = await from.blocks(options)
    verifyBaseBlocks(blocks, manifest.block.hash, config.genesis.l2)
    if (begun === undefined) {
      // a chain is refused below
      if (!hasTables(chainDir)) requireNoProofs(manifest, proofsDir)
      requireRoom(datadir, manifest)
    }
    await using loader = await openStateLoader({ dir: chainDir, source: known.id, command }, { writes: 'at commit' })
    // a directory that the loader refuses stays as it is
    if (begun === undefined) writeSaved(saved, known)
    await loadChunks(from, manifest.chunks.filter(isState), await from.top(), loader, (size, when) => {
      onProgress(size, when, loader.counts.accounts + loader.counts.slots)
    })
    // the last account counts once it is ended
    loader.endAccount()
    const { accounts, slots } = loader.counts
    try {
      await installState(loader, chainDir, { hash: manifest.block.hash, blocks, genesis: config.genesis.l2, trust })
    } catch (error) {
      // the state is removed, so the next restore begins with another manifest
      if (isFault(error, 'STATE_ROOT_WRONG')) rmSync(saved, { force: true })
      throw error
    }
    return { accounts, slots, trust: trust.grade }
  }
}

type Loaded = Pick<Restored, 'accounts' | 'slots' | 'trust'>

const hasTables = (chainDir: string): boolean => existsSync(dataFile(chainDir))

/** Returns the counts of an interrupted restore of the same snapshot, when its chain has begun. */
async function loadedBefore(chainDir: string, { block, accounts, slots }: Manifest): Promise<Loaded | undefined> {
  await using source = openForeignChainReader(chainDir)
  using reader = source.snapshot()
  // the transaction that begins the chain ends the load of its state
  if (readHeads(reader) === undefined) return undefined
  const { block: base, grade: trust } = readBaseTrust(reader)
  return base.hash === block.hash ? { accounts, slots, trust } : undefined
}

type Progress = (size: number, when: Parameters<OnBytes>[1], leaves?: number) => void

/** Returns a function that adds up the bytes of chunks of a state and of older blocks. */
function progressOf({ onProgress }: RestoreDeps, { chunks }: Manifest): Progress {
  const ofBytes = bytesOf(chunks, (chunk) => isState(chunk) || isSegment(chunk) || isValues(chunk))
  let [bytes, bytesBefore, last] = [0, 0, 0]
  return (size, when, leaves = last): void => {
    bytes += size
    if (when === 'before') bytesBefore += size
    last = leaves
    onProgress({ bytes, bytesBefore, ofBytes, leaves })
  }
}

/**
 * Verifies a snapshot without a store: all chunks, each by itself, and the state root of all of them.
 * @throws as `restoreSnapshot`
 */
export async function verifySnapshot(deps: RestoreDeps, options: RestoreOptions): Promise<Restored> {
  const place = placeOf(deps, options.from)
  const known = await fetchManifest(place, options, deps.signal)
  const { manifest } = known
  const reader = new SnapshotReader(place, known, deps.signal)
  const { blocks, trust } = await reader.blocks(options)
  const header = (blocks.at(-1) as (typeof blocks)[number]).header
  verifyBaseBlocks(blocks, manifest.block.hash, options.config.genesis.l2)
  const { builder, sink } = rootOnly()
  const progress = progressOf(deps, manifest)
  await loadChunks(reader, manifest.chunks.filter(isState), await reader.top(), sink, (size, when) => {
    progress(size, when, builder.counts.accounts + builder.counts.slots)
  })
  const found = builder.end()
  if (found !== header.stateRoot) throw snapshotFault('STATE_ROOT_WRONG', { number: header.number, expected: header.stateRoot, found })
  const source = { reader, entries: manifest.chunks.filter(isSegment), genesis: options.config.genesis.l2, signal: deps.signal }
  const lowest = blocks[0]?.header ?? header
  const above = { number: lowest.number, hash: hashHeader(lowest), parentHash: lowest.parentHash }
  if (manifest.flavour !== 'minimal') await verifyOlder(source, above, progress)
  await verifyOlderValues({ reader, manifest }, progress)
  const { accounts, slots } = builder.counts
  return { ...idOf(known), accounts, slots, trust: trust.grade }
}

/** Returns the manifest of a place, verified but not trusted. @throws Fault MANIFEST_UNAVAILABLE (retry), MANIFEST_BAD (fatal) */
export async function listSnapshot(deps: PlaceDeps & { readonly signal: AbortSignal }, from: string): Promise<SignedManifest> {
  return await placeOf(deps, from).manifest(parseManifest, deps.signal)
}

/**
 * Returns whether a data directory needs `restoreSnapshot` before it can be opened: it is missing or empty, or a restore was interrupted. One that cannot be read does
 * not: opening it has the fault.
 */
export function needsRestore(datadir: string): boolean {
  const chainDir = join(datadir, 'chain')
  // older blocks are missing
  if (existsSync(join(datadir, savedName))) return true
  try {
    // LMDB's lock file is missing after a compaction
    accessSync(dataFile(chainDir), constants.R_OK)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
  const source = openForeignChainReader(chainDir)
  try {
    using reader = source.snapshot()
    return readLoadMark(reader) !== undefined || readHeads(reader) === undefined
  } finally {
    void source[Symbol.asyncDispose]()
  }
}

const idOf = ({ manifest, signer }: SignedManifest): Omit<Restored, 'accounts' | 'slots' | 'trust'> => ({
  block: manifest.block.number,
  hash: manifest.block.hash,
  stateRoot: manifest.block.stateRoot,
  oldestState: oldestStateOf(manifest),
  signer,
})

async function fetchManifest(place: SnapshotPlace, options: RestoreOptions, signal: AbortSignal): Promise<SignedManifest> {
  return await place.manifest((file, name) => requireChain(parseManifest(file, name), options, name), signal)
}

function requireChain(known: SignedManifest, { config, signer }: RestoreOptions, place: string): SignedManifest {
  const expected: BlockId['hash'] = config.genesis.l2.hash
  if (known.manifest.genesis !== expected) throw snapshotFault('SNAPSHOT_OF_ANOTHER_CHAIN', { found: known.manifest.genesis, expected })
  if (signer !== undefined && signer !== known.signer) {
    throw snapshotFault('MANIFEST_BAD', { place, reason: `${known.signer} signed it, expected ${signer}` })
  }
  return known
}

function requireRoom(datadir: string, { bytes, chunks }: Manifest): void {
  const older = Math.ceil(bytesOf(chunks, isSegment) * segmentFactor) + rawBytes(chunks, 'values') * valuesFactor
  const [neededBytes, free] = [Math.ceil(bytes * storeFactor) + older, freeBytes(datadir)]
  if (free < neededBytes) throw snapshotFault('SNAPSHOT_NO_ROOM', { dir: datadir, neededBytes, freeBytes: free })
}

/** The manifest of the restore under way: its chunks keep their names when a newer snapshot replaces it. */
function readSaved(path: string): SignedManifest | undefined {
  try {
    return parseManifest(readFileSync(path), path)
  } catch {
    return undefined
  }
}

function writeSaved(path: string, { file }: SignedManifest): void {
  writeFileSync(`${path}.new`, file, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

/** Computes the root of a state without a store. */
function rootOnly(): { readonly builder: StateBuilder; readonly sink: StateSink } {
  const codes = new Set<string>()
  const builder = new StateBuilder({ hasCode: (hash): boolean => codes.has(latin1(hash)) })
  const sink: StateSink = {
    code(code): Uint8Array {
      const hash = builder.code(code)
      codes.add(latin1(hash))
      return hash
    },
    addAccounts: (raw, from, prefix): number | undefined => builder.addAccounts(raw, from, prefix),
    addSlots: (raw, prefix): void => builder.addSlots(raw, prefix),
    endAccount: (): Uint8Array | undefined => builder.endAccount(),
    sealAccounts: (depth): Uint8Array => builder.sealAccounts(depth),
    sealSlots: (depth): Uint8Array => builder.sealSlots(depth),
    commit: (): void => {},
    cursor: new Uint8Array(0),
    get position(): BuiltPosition | undefined {
      return builder.position
    },
    isDue: false,
  }
  return { builder, sink }
}
