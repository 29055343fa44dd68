import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ancestorsNeeded, type GivenBlock, verifyBaseBlocks } from '#blockchain/base/baseBlocks'
import { freeBytes } from '#store/freeSpace'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Grade } from '#types/trust'
import { rethFault, snapshotFault } from '../faults.ts'
import { installState } from '../load/installState.ts'
import { openStateLoader } from '../load/stateLoader.ts'
import { evidenceFor, type TrustSource } from '../restore/snapshotReader.ts'
import { type FilesDeps, isUrl, openSnapshotFiles, type SnapshotFiles } from './archives/snapshotFiles.ts'
import { type LoadDeps, loadState } from './loadState.ts'
import { Database } from './mdbx/database.ts'
import { type HashedHeader, readHeaders } from './staticFiles/headers.ts'
import { readHeadNumber, requireHeaderNumber } from './tables/headTables.ts'

export type ImportProgress = Parameters<FilesDeps['onProgress']>[0] | ({ readonly phase: 'load' } & Parameters<LoadDeps['onProgress']>[0])

export type ImportDeps = Omit<FilesDeps, 'onProgress'> & {
  onProgress(progress: ImportProgress): void
  /**
   * Returns the transactions of a block, EIP-2718 bytes, from any source: they are compared with the header. The snapshot has them too, but compressed with a
   * dictionary that is a part of the other client's program and not of the snapshot.
   */
  fetchTransactions(block: BlockId): Promise<readonly Uint8Array[]>
}

export type ImportOptions = TrustSource & {
  /** folder or URL */
  readonly source: string
  /** directory of the chain's tables, empty or with an interrupted import of the same state */
  readonly dir: string
  /** folder of fetched and unpacked files, which is removed at the end */
  readonly workDir: string
  /** command that continues an interrupted import, for the operator */
  readonly command: string
  readonly chainId: number
  readonly genesis: BlockId
}

export type Imported = BlockId & {
  readonly stateRoot: Hash
  readonly accounts: number
  readonly slots: number
  readonly codes: number
  readonly trust: Grade
}

/**
 * Imports a snapshot of the other client into a chain's empty directory. Effects, in order: 1 header archives are fetched, unpacked, and the header of the
 * snapshot's block is verified, 2 the state archive is fetched and unpacked, 3 rows are loaded, 4 the root is compared and the chain begins, 5 the files of 1 and
 * 2 are removed. After a kill the same call continues: a download at its last byte, unpacking at the archive, loading at the last transaction.
 * @throws Fault SNAPSHOT_*, STATE_ROOT_WRONG, BASE_BLOCK_REFUSED, those of the loader; the reason of an aborted signal
 */
export async function importReth(deps: ImportDeps, options: ImportOptions): Promise<Imported> {
  const { source, dir, workDir, command, chainId, genesis } = options
  const files = await openSnapshotFiles(deps, { source, workDir, ancestors: ancestorsNeeded })
  if (files.claims && files.claims.chainId !== chainId) {
    const place = isUrl(source) ? new URL(source).host : source
    throw rethFault('SNAPSHOT_CHAIN_ID', { source: place, found: files.claims.chainId, expected: chainId })
  }
  mkdirSync(workDir, { recursive: true, mode: 0o700 })
  requireSpace(files, options)
  const headers = await readChainHeaders(files)
  const { header, hash } = headers.at(-1) as HashedHeader
  const ancestors = headers.slice(0, -1).map((ancestor) => ancestor.header)
  const trust = await evidenceFor(header, options, deps.signal)
  const transactions = await deps.fetchTransactions({ number: header.number, hash })
  const blocks: readonly GivenBlock[] = [...ancestors.map((ancestor) => ({ header: ancestor })), { header, transactions }]
  verifyBaseBlocks(blocks, hash, genesis)

  using database = new Database(await files.databasePath())
  const number = readHeadNumber(database)
  if (number !== header.number)
    throw database.damaged('table StageCheckpoints', `its state is of block ${number}, the headers end at ${header.number}`)
  requireHeaderNumber(database, hash, number)
  await using loader = await openStateLoader({ dir, source: `block ${number} ${hash} of reth`, command })
  await loadState({ signal: deps.signal, onProgress: (progress) => deps.onProgress({ phase: 'load', ...progress }) }, database, loader)
  const { accounts, slots, codes } = loader.counts
  await installState(loader, dir, { hash, blocks, genesis, trust })
  rmSync(workDir, { recursive: true, force: true })
  return { number, hash, stateRoot: header.stateRoot, accounts, slots, codes, trust: trust.grade }
}

/** Reads the headers of the snapshot's block and of the blocks before it. */
async function readChainHeaders(files: SnapshotFiles): Promise<readonly HashedHeader[]> {
  const dir = await files.headersDir()
  if (files.claims) return readHeaders(dir, files.claims.block, ancestorsNeeded)
  using database = new Database(await files.databasePath())
  return readHeaders(dir, readHeadNumber(database), ancestorsNeeded)
}

/** Rows of the chain's tables for each byte of the other client's database, whose indices and tries are not loaded: at most as many bytes. */
const bytesPerDatabaseByte = 1

/** Throws Fault SNAPSHOT_NO_ROOM when the files and the rows made of them, apart from those of an interrupted import, will not fit the disk. */
function requireSpace(files: SnapshotFiles, { dir, workDir }: Pick<ImportOptions, 'dir' | 'workDir'>): void {
  const storePath = join(dir, 'data.mdb')
  const storedBytes = existsSync(storePath) ? statSync(storePath).size : 0
  const neededBytes = files.neededBytes() + Math.max(0, bytesPerDatabaseByte * files.databaseBytes() - storedBytes)
  const free = freeBytes(workDir)
  if (free < neededBytes) throw snapshotFault('SNAPSHOT_NO_ROOM', { dir: workDir, neededBytes, freeBytes: free })
}
