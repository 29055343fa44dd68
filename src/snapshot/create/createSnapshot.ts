import type { KeyObject } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { executionFault } from '#block/faults'
import { readGenesisId, readHeader, readHeads } from '#blockchain/chainStore'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { compareBytes } from '#lib/bytes'
import { isFault } from '#lib/fault'
import { readLoadMark } from '#state/loadMark'
import { requireWholeState } from '#state/partialState'
import { accountsTable, codeTable, storageTable } from '#state/rows'
import { openForeignChainReader } from '#store/chainTables'
import { environmentStats } from '#store/environmentStats'
import type { Row, SnapshotSource } from '#store/ports'
import { chainSchema, requireReadable } from '#store/schema'
import { tables } from '#store/tables'
import type { BlockId } from '#types/blockRef'
import type { Header } from '#types/header'
import { snapshotFault } from '../faults.ts'
import { ByteWriter } from '../format/byteReader.ts'
import { putBlob } from '../format/chunks.ts'
import {
  type ChunkEntry,
  type Flavour,
  type Manifest,
  manifestName,
  parseManifest,
  signManifest,
  snapshotFormat,
} from '../format/manifest.ts'
import { AccountChunks, type ChunkSizes, depthFor, inlineSlots, leavesOfChunk } from './accountChunks.ts'
import { blockChunks } from './blockChunks.ts'
import { ChunkFiles } from './chunkFiles.ts'
import { segmentChunks } from './segmentChunks.ts'
import { rowsAt } from './stateRows.ts'
import { blocksOfValues, chainValues, openProofsValues, valueChunks } from './valueChunks.ts'

export type CreateDeps = {
  readonly signal: AbortSignal
  /** Called some times a second. */
  readonly onProgress: (progress: { readonly leaves: number; readonly ofLeaves: number }) => void
}

export type CreateOptions = {
  /** directory of the chain's tables */
  readonly chainDir: string
  readonly out: string
  readonly config: RollupConfig
  readonly flavour: Flavour
  /** directory of recorded proofs, for flavour proofs; absent: `proofs` beside the chain's */
  readonly proofsDir?: string | undefined
  /** ed25519, private */
  readonly key: KeyObject
  /** absent: the usual ones */
  readonly sizes?: ChunkSizes
  /** blocks of a chunk of values, and of a segment file that is written; absent: the usual ones */
  readonly historyBlocks?: number
}

export type Created = {
  readonly manifest: Manifest
  readonly id: string
  readonly signer: string
  readonly written: number
  readonly reused: number
}

/** Codes of a chunk, at most. */
const codesOfChunk = 2_000
/** Rows between two looks at the signal. */
const rowsPerTurn = 4_096

/**
 * Writes a snapshot of the state of the finalized block, while a node may run. Effects, in order: 1 chunks, each whole under the name of its hash, 2 the
 * manifest by number, 3 `manifest.json`. A killed run leaves chunks, which the next one re-uses as far as they are equal.
 * @returns undefined when the signal ended it
 * @throws Fault HISTORY_INCOMPLETE, SEGMENT_DAMAGED, VALUES_MISSING, PROOFS_NOT_AT_BLOCK, those of recorded proofs, SNAPSHOT_UNWRITABLE, SNAPSHOT_STATE_WRONG, HISTORY_PRUNED, those of the store
 */
export async function createSnapshot(deps: CreateDeps, options: CreateOptions): Promise<Created | undefined> {
  const { chainDir, out, config, flavour, key, sizes = { leavesOfChunk, inlineSlots }, historyBlocks } = options
  await using source = openForeignChainReader(chainDir)
  const { block, header } = finalizedBlock(source, config)
  await using proofs =
    flavour === 'proofs' ? await openProofsValues(options.proofsDir ?? join(dirname(chainDir), 'proofs'), block) : undefined
  const readValues = flavour === 'archive' ? chainValues(source, block) : proofs?.read
  const files = new ChunkFiles(out)
  const rows = environmentStats(chainDir).tables
  const rowsIn = (name: string): number => rows.find((table) => table.name === name)?.rows ?? 0
  const ofLeaves = rowsIn(tables.accounts.name) + rowsIn(tables.storage.name)
  const accountDepth = earlierDepth(out, config, ofLeaves, sizes) ?? depthFor(ofLeaves, sizes.leavesOfChunk)
  const accounts = new AccountChunks(files, accountDepth, sizes)
  const codeEntries = await codeChunks(source, files, rowsIn(tables.code.name), (code) => accounts.code(code))
  const isWhole = await addAccounts(deps, source, block.number, accounts, ofLeaves)
  if (!isWhole) return undefined
  const { root, entries } = await accounts.end()
  if (root !== header.stateRoot)
    throw snapshotFault('SNAPSHOT_STATE_WRONG', { number: block.number, expected: header.stateRoot, found: root })
  const from = { source, files, config }
  const blocks = await blockChunks(from, block, flavour === 'minimal' ? 'needed' : 'all')
  const older = { chainDir, blocks: historyBlocks }
  const history = flavour === 'minimal' ? [] : await segmentChunks(from, older, blocks.first, deps.signal)
  const range = { number: block.number, window: historyBlocks ?? blocksOfValues, signal: deps.signal }
  const values = history && readValues ? await valueChunks(readValues, files, range) : []
  if (history === undefined || values === undefined) return undefined
  const top = new ByteWriter()
  for (const node of accounts.top.nodes) putBlob(top, node)
  const topEntry = await files.add(top.view(), { kind: 'top' })
  const manifest: Manifest = {
    format: snapshotFormat,
    chainId: config.l2ChainId,
    genesis: config.genesis.l2.hash,
    flavour,
    block: { ...block, stateRoot: header.stateRoot, timestamp: header.timestamp },
    ...accounts.counts,
    accountDepth,
    chunks: [topEntry, ...blocks.entries, ...codeEntries, ...entries, ...history, ...values],
  }
  const { file, id, signer } = signManifest(manifest, key)
  const { written, reused } = files
  files.write(`manifest-${block.number}.json`, Buffer.from(file))
  files.write(manifestName, Buffer.from(file))
  return { manifest, id, signer, written, reused }
}

function finalizedBlock(source: SnapshotSource, config: RollupConfig): { readonly block: BlockId; readonly header: Header } {
  using reader = source.snapshot()
  requireReadable(reader, chainSchema)
  const unfinished = readLoadMark(reader)
  if (unfinished) throw executionFault('STATE_UNFINISHED', { command: unfinished.command })
  requireWholeState(reader)
  const [heads, genesis] = [readHeads(reader), readGenesisId(reader)]
  if (heads === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: 'its heads' })
  if (genesis?.hash !== config.genesis.l2.hash) {
    throw executionFault('GENESIS_MISMATCH', { stored: genesis?.hash ?? 'none', configured: config.genesis.l2.hash })
  }
  const header = readHeader(reader, heads.finalized)
  if (header === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: `the header of block ${heads.finalized.number}` })
  return { block: { number: heads.finalized.number, hash: heads.finalized.hash }, header }
}

/** Returns the depth of the last snapshot in the directory, while its chunks still have a sensible size: chunks can then be re-used. */
function earlierDepth(out: string, config: RollupConfig, leaves: number, sizes: ChunkSizes): number | undefined {
  const path = join(out, manifestName)
  if (!existsSync(path)) return undefined
  const manifest = readEarlier(path)
  if (manifest === undefined) return undefined
  if (manifest.genesis !== config.genesis.l2.hash) {
    throw snapshotFault('SNAPSHOT_OF_ANOTHER_CHAIN', { found: manifest.genesis, expected: config.genesis.l2.hash })
  }
  const ofChunk = leaves / 16 ** manifest.accountDepth
  const isSensible = ofChunk <= 2 * sizes.leavesOfChunk && (manifest.accountDepth === 0 || ofChunk * 32 >= sizes.leavesOfChunk)
  return isSensible ? manifest.accountDepth : undefined
}

/** Returns the manifest of a file; undefined when it is damaged or of another version: the next one replaces it. */
function readEarlier(path: string): Manifest | undefined {
  try {
    return parseManifest(readFileSync(path), path).manifest
  } catch (error) {
    if (isFault(error, 'MANIFEST_BAD')) return undefined
    throw error
  }
}

/** Adds all accounts. @returns false when the signal ended it */
async function addAccounts(
  deps: CreateDeps,
  source: SnapshotSource,
  number: number,
  into: AccountChunks,
  ofLeaves: number,
): Promise<boolean> {
  const slots = new Peekable(rowsAt(source, number, storageTable))
  let rows = 0
  for (const account of rowsAt(source, number, accountsTable)) {
    if (++rows % rowsPerTurn === 0) {
      const { accounts, slots: slotCount } = into.counts
      deps.onProgress({ leaves: accounts + slotCount, ofLeaves })
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (deps.signal.aborted) return false
    await into.add(account, slotsOf(slots, account.key))
  }
  return true
}

/** The rows of one account from those of all; leaves the rows of later accounts. */
function* slotsOf(rows: Peekable, account: Uint8Array): Generator<Row> {
  for (let row = rows.peek(); row && compareBytes(row.key.subarray(0, 32), account) === 0; row = rows.peek()) {
    rows.next()
    yield row
  }
}

class Peekable {
  readonly #rows: Iterator<Row>
  #next: Row | undefined

  constructor(rows: Iterator<Row>) {
    this.#rows = rows
  }

  peek(): Row | undefined {
    if (this.#next === undefined) {
      const next = this.#rows.next()
      this.#next = next.done ? undefined : next.value
    }
    return this.#next
  }

  next(): void {
    this.#next = undefined
  }
}

/** Writes the codes by the first nibbles of their hashes. Codes of later blocks may be among them. */
async function codeChunks(
  source: SnapshotSource,
  files: ChunkFiles,
  count: number,
  onCode: (code: Uint8Array) => void,
): Promise<ChunkEntry[]> {
  const depth = depthFor(count, codesOfChunk)
  const entries: ChunkEntry[] = []
  const out = new ByteWriter()
  let open: string | undefined
  for (let from: Uint8Array | undefined = new Uint8Array(1); from; ) {
    using reader = source.snapshot()
    const rows: Row[] = [...reader.range(codeTable, { from, limit: 65 })]
    from = rows[64]?.key
    for (const { key, value } of rows.slice(0, 64)) {
      const prefix = Buffer.from(key).toString('hex').slice(0, depth)
      if (open !== undefined && open !== prefix) {
        entries.push(await files.add(out.view(), { kind: 'codes' }))
        out.clear()
      }
      open = prefix
      putBlob(out, value)
      onCode(value)
    }
  }
  if (open !== undefined) entries.push(await files.add(out.view(), { kind: 'codes' }))
  return entries
}
