import { createReadStream, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileNameOf } from '#lib/endpoint'
import { failureReason, requestJson } from '#lib/jsonHttp'
import { rethFault } from '../../faults.ts'
import { type DownloadDeps, downloadFile } from './download.ts'
import { type Archive, type Manifest, maxManifestBytes, parseManifest } from './manifest.ts'
import { isUnpacked, unpackArchive } from './unpack.ts'

/** Part of the preparation: bytes of `totalBytes` that are downloaded or unpacked. */
export type FilesProgress = { readonly phase: 'download' | 'unpack'; readonly bytes: number; readonly totalBytes: number }

export type FilesDeps = DownloadDeps & { onProgress(progress: FilesProgress): void }

/** The files of a snapshot of the other client, fetched and unpacked when they are asked for. */
export interface SnapshotFiles {
  /** Number of the block and id of the chain, as the manifest says; undefined for an unpacked data directory. */
  readonly claims: { readonly block: number; readonly chainId: number } | undefined
  /** Bytes that the missing files take on the disk of the work folder while they are fetched and unpacked. */
  neededBytes(): number
  /** Bytes of the unpacked database. */
  databaseBytes(): number
  /** Returns the folder of the header files. */
  headersDir(): Promise<string>
  /** Returns the path of the database file. */
  databasePath(): Promise<string>
}

const manifestName = 'manifest.json'
const manifestTimeoutMs = 30_000
export const isUrl = (source: string): boolean => /^https?:\/\//.test(source)

/**
 * Opens a snapshot: an unpacked data directory, a folder with a manifest and its archives, or the URL of a manifest or of its folder.
 * @param ancestors headers needed below the block
 * @param workDir folder of this import's files; nothing is written there for an unpacked data directory
 * @throws Fault SNAPSHOT_FILE_MISSING, SNAPSHOT_FILE_DAMAGED, SNAPSHOT_FORMAT_UNSUPPORTED, SNAPSHOT_UNREACHABLE, SNAPSHOT_CHANGED
 */
export async function openSnapshotFiles(
  deps: FilesDeps,
  { source, workDir, ancestors }: { readonly source: string; readonly workDir: string; readonly ancestors: number },
): Promise<SnapshotFiles> {
  if (isUrl(source)) {
    const url = new URL(source)
    if (!url.pathname.endsWith('.json')) url.pathname = `${url.pathname.replace(/\/*$/, '')}/${manifestName}`
    const text = await fetchManifest(deps, url.href)
    const manifest = parseManifest(text, manifestName)
    keepManifest(workDir, fileNameOf(url.href), text)
    return new ArchivedSnapshot(deps, manifest, { workDir, ancestors, place: { kind: 'url', base: baseOf(manifest, url) } })
  }
  const manifestPath = join(source, manifestName)
  if (existsSync(manifestPath)) {
    if (statSync(manifestPath).size > maxManifestBytes)
      throw rethFault('SNAPSHOT_FILE_DAMAGED', { file: manifestPath, place: 'its size', reason: `more than ${maxManifestBytes} bytes` })
    const text = readFileSync(manifestPath, 'utf8')
    const manifest = parseManifest(text, manifestPath)
    keepManifest(workDir, manifestPath, text)
    return new ArchivedSnapshot(deps, manifest, { workDir, ancestors, place: { kind: 'dir', dir: source } })
  }
  const databasePath = join(source, 'db', 'mdbx.dat')
  if (!existsSync(databasePath))
    throw rethFault('SNAPSHOT_FILE_MISSING', { file: source, reason: 'it has neither manifest.json nor db/mdbx.dat' })
  return {
    claims: undefined,
    neededBytes: () => 0,
    databaseBytes: () => statSync(databasePath).size,
    headersDir: async () => join(source, 'static_files'),
    databasePath: async () => databasePath,
  }
}

/** Returns the URL of the archives' folder, with the query of the manifest's URL, which may be a secret: only the manifest's own server gets it. */
function baseOf({ baseUrl }: Manifest, url: URL): URL {
  const base = new URL(`${(baseUrl ?? new URL('.', url).href).replace(/\/*$/, '')}/`)
  if (base.origin === url.origin) base.search = url.search
  return base
}

async function fetchManifest(deps: FilesDeps, url: string): Promise<string> {
  const outcome = await requestJson(deps, { timeoutMs: manifestTimeoutMs, maxBodyBytes: maxManifestBytes }, { url }, deps.signal)
  if (outcome.kind === 'answer' && outcome.status === 200) return JSON.stringify(outcome.json)
  const reason = outcome.kind === 'answer' ? `HTTP ${outcome.status}` : failureReason(outcome)
  throw rethFault('SNAPSHOT_UNREACHABLE', { url: fileNameOf(url), reason })
}

/** Keeps the manifest beside the files that were fetched for it, so that files of two snapshots are never mixed. */
function keepManifest(workDir: string, name: string, text: string): void {
  const path = join(workDir, manifestName)
  mkdirSync(workDir, { recursive: true })
  if (existsSync(path) && readFileSync(path, 'utf8') !== text)
    throw rethFault('SNAPSHOT_CHANGED', { url: name, reason: 'another manifest is there than at the start of this import' })
  writeFileSync(path, text)
}

type Place = { readonly kind: 'url'; readonly base: URL } | { readonly kind: 'dir'; readonly dir: string }

class ArchivedSnapshot implements SnapshotFiles {
  readonly #deps: FilesDeps
  readonly #manifest: Manifest
  readonly #workDir: string
  readonly #place: Place
  readonly #headers: readonly Archive[]

  constructor(
    deps: FilesDeps,
    manifest: Manifest,
    { workDir, ancestors, place }: { readonly workDir: string; readonly ancestors: number; readonly place: Place },
  ) {
    this.#deps = deps
    this.#manifest = manifest
    this.#workDir = workDir
    this.#place = place
    this.#headers = manifest.headers.filter(({ first, last }) => first <= manifest.block && last >= manifest.block - ancestors)
  }

  get claims(): { readonly block: number; readonly chainId: number } {
    return this.#manifest
  }

  neededBytes(): number {
    const missing = [...this.#headers, this.#manifest.state].filter((archive) => !isUnpacked(this.#workDir, archive))
    return missing.reduce((sum, archive) => sum + unpackedBytes(archive) + (this.#place.kind === 'url' ? archive.sizeBytes : 0), 0)
  }

  databaseBytes(): number {
    return unpackedBytes(this.#manifest.state)
  }

  async headersDir(): Promise<string> {
    for (const archive of this.#headers) await this.#prepare(archive)
    return join(this.#workDir, 'static_files')
  }

  async databasePath(): Promise<string> {
    await this.#prepare(this.#manifest.state)
    return join(this.#workDir, 'db', 'mdbx.dat')
  }

  /** Fetches an archive, unless it is in a folder, and unpacks it, unless it was unpacked before. */
  async #prepare(archive: Archive): Promise<void> {
    if (isUnpacked(this.#workDir, archive)) return
    const path = this.#place.kind === 'dir' ? join(this.#place.dir, archive.path) : await this.#download(archive, this.#place.base)
    if (!existsSync(path)) throw rethFault('SNAPSHOT_FILE_MISSING', { file: path, reason: 'the manifest names it, and it is not there' })
    const onBytes = this.#counter('unpack', unpackedBytes(archive), 0)
    const chunks = createReadStream(path, { highWaterMark: 1 << 20 })
    await unpackArchive({ chunks, onBytes, signal: this.#deps.signal }, archive, this.#workDir)
    if (this.#place.kind === 'url') rmSync(path)
  }

  async #download(archive: Archive, base: URL): Promise<string> {
    const path = join(this.#workDir, 'archives', archive.path)
    const have = existsSync(path) ? statSync(path).size : 0
    const onBytes = this.#counter('download', archive.sizeBytes, have)
    mkdirSync(dirname(path), { recursive: true })
    const url = new URL(archive.path, base)
    url.search = base.search
    await downloadFile(this.#deps, { url: url.href, path, sizeBytes: archive.sizeBytes, onBytes })
    return path
  }

  #counter(phase: FilesProgress['phase'], totalBytes: number, startBytes: number): (count: number) => void {
    let bytes = startBytes
    return (count): void => {
      bytes += count
      this.#deps.onProgress({ phase, bytes, totalBytes })
    }
  }
}

const unpackedBytes = ({ files }: Archive): number => files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
