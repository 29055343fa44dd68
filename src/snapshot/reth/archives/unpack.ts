import { closeSync, existsSync, fsyncSync, ftruncateSync, mkdirSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdDecompress } from 'node:zlib'
import { createBLAKE3, type IHasher } from 'hash-wasm'
import { errorMessage, Fault } from '#lib/fault'
import { rethFault } from '../../faults.ts'
import { isZero } from '../zeros.ts'
import type { Archive, ArchivedFile } from './manifest.ts'
import { TarReader, type TarSink } from './tarReader.ts'

/** Bytes that the decompressor returns at once. */
const chunkBytes = 1 << 20
/** Largest window of a frame: 128 MB of memory. */
const maxWindowLog = 27
/** Runs of zeros of this length are not written: a database file ends in gigabytes of unused pages. */
const holeBytes = 65_536

/** Returns whether an archive was unpacked before: its files have the listed sizes. They get their names after their hashes are verified. */
export const isUnpacked = (dir: string, { files }: Pick<Archive, 'files'>): boolean =>
  files.every(({ path, sizeBytes }) => existsSync(join(dir, path)) && statSync(join(dir, path)).size === sizeBytes)

/**
 * Unpacks a tar.zst archive into a folder. Writes only the files that the manifest lists, never more than their listed sizes, and gives a file its
 * name when its size and its hash are right. An interrupted call is repeated from the start.
 * @param chunks the compressed bytes
 * @param onBytes called with the number of unpacked bytes, a chunk at a time
 * @throws Fault SNAPSHOT_FILE_DAMAGED, SNAPSHOT_DISK_FULL; the reason of an aborted signal
 */
export async function unpackArchive(
  {
    chunks,
    onBytes,
    signal,
  }: { readonly chunks: AsyncIterable<Uint8Array>; readonly onBytes: (count: number) => void; readonly signal: AbortSignal },
  archive: Archive,
  dir: string,
): Promise<void> {
  const damaged = (place: string, reason: string): Fault => rethFault('SNAPSHOT_FILE_DAMAGED', { file: archive.path, place, reason })
  using files = new ListedFiles(dir, archive, await createBLAKE3(), damaged)
  const tar = new TarReader(files, damaged)
  const decompress = createZstdDecompress({ chunkSize: chunkBytes, params: { [constants.ZSTD_d_windowLogMax]: maxWindowLog } })
  const write = async (unpacked: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of unpacked) {
      tar.push(chunk)
      onBytes(chunk.length)
    }
  }
  try {
    await pipeline(chunks, decompress, write, { signal })
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Fault) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw rethFault('SNAPSHOT_DISK_FULL', { dir }, error)
    throw damaged('its compressed bytes', errorMessage(error))
  }
  tar.end()
  files.requireAll()
}

/** Files of one archive while it is unpacked. */
class ListedFiles implements TarSink, Disposable {
  readonly #dir: string
  readonly #missing: Map<string, ArchivedFile>
  readonly #hasher: IHasher
  readonly #damaged: (place: string, reason: string) => Fault
  #open: { readonly file: ArchivedFile; readonly fd: number; at: number } | undefined

  constructor(dir: string, { files }: Archive, hasher: IHasher, damaged: (place: string, reason: string) => Fault) {
    this.#dir = dir
    this.#missing = new Map(files.map((file) => [file.path, file]))
    this.#hasher = hasher
    this.#damaged = damaged
  }

  open(name: string, sizeBytes: number): void {
    const file = this.#missing.get(name)
    if (!file) throw this.#damaged(name.slice(0, 200), 'the manifest does not list this file in the archive, or the archive has it twice')
    if (file.sizeBytes !== sizeBytes) throw this.#damaged(name, `its size is ${sizeBytes}, the manifest says ${file.sizeBytes}`)
    this.#missing.delete(name)
    const path = join(this.#dir, name)
    mkdirSync(dirname(path), { recursive: true })
    this.#open = { file, fd: openSync(`${path}.part`, 'w'), at: 0 }
    this.#hasher.init()
  }

  write(bytes: Uint8Array): void {
    const open = this.#open
    if (!open) throw new RangeError('no file is open')
    this.#hasher.update(bytes)
    for (let from = 0; from < bytes.length; from += holeBytes) {
      const part = bytes.subarray(from, from + holeBytes)
      if (!isZero(part)) writeWhole(open.fd, part, open.at + from)
    }
    open.at += bytes.length
  }

  close(): void {
    const open = this.#open
    if (!open) throw new RangeError('no file is open')
    const { path, sizeBytes, blake3 } = open.file
    const hash = this.#hasher.digest('hex')
    if (hash !== blake3) throw this.#damaged(path, `its BLAKE3 hash is ${hash}, the manifest says ${blake3}`)
    ftruncateSync(open.fd, sizeBytes)
    fsyncSync(open.fd)
    this[Symbol.dispose]()
    renameSync(join(this.#dir, `${path}.part`), join(this.#dir, path))
  }

  /** Checks that no listed file is missing. */
  requireAll(): void {
    const [first] = this.#missing.keys()
    if (first !== undefined) throw this.#damaged(first, 'the archive lacks this file')
  }

  [Symbol.dispose](): void {
    if (this.#open) closeSync(this.#open.fd)
    this.#open = undefined
  }
}

function writeWhole(fd: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, position + at)
}
