import {
  closeSync,
  copyFileSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { errorMessage, isFault } from '#lib/fault'
import { zstd } from '#lib/zstd'
import { storeFault } from '#store/faults'
import { segmentProblem } from '#store/segments/segmentCheck'
import { type SegmentRecord, segmentFileName } from '#store/segments/segmentRecords'
import { snapshotFault } from '../faults.ts'
import { type ChunkEntry, entryOf, fileOf, sha256 } from '../format/manifest.ts'

const temporaryEnd = '.tmp'

/** Files of a snapshot's directory. A file appears whole, under its final name, or not at all. */
export class ChunkFiles {
  readonly #dir: string
  /** files that were there already, and those written */
  reused = 0
  written = 0

  /** @throws Fault SNAPSHOT_UNWRITABLE */
  constructor(dir: string) {
    this.#dir = dir
    this.#guarded(() => {
      mkdirSync(dir, { recursive: true, mode: 0o755 })
      // a killed run left them
      for (const name of readdirSync(dir)) if (name.endsWith(temporaryEnd)) rmSync(join(dir, name), { recursive: true, force: true })
    })
  }

  /** Writes a chunk, unless an earlier snapshot has it whole. @param raw copied before the call returns */
  async add(raw: Uint8Array, place: Pick<ChunkEntry, 'kind' | 'prefix' | 'account' | 'first'>): Promise<ChunkEntry> {
    const rawSize = raw.length
    const bytes = await zstd(new Uint8Array(raw))
    const entry = { ...place, name: sha256(bytes), size: bytes.length, rawSize }
    const path = join(this.#dir, fileOf(entry))
    const isThere = this.#guarded(() => existsSync(path) && statSync(path).size === bytes.length && readFileSync(path).equals(bytes))
    if (isThere) this.reused++
    else this.write(fileOf(entry), bytes)
    return entry
  }

  /** Makes a directory for segment files that are built; disposing removes it. */
  scratch(): Disposable & { readonly dir: string } {
    const dir = join(this.#dir, `segments${temporaryEnd}`)
    return { dir, [Symbol.dispose]: (): void => rmSync(dir, { recursive: true, force: true }) }
  }

  /**
   * Adds a segment file of a chain, unless an earlier snapshot has it whole: as another name of the same file, or as a copy on another file system.
   * @param dir directory of the chain's segment files
   * @throws Fault SEGMENT_DAMAGED when the file has another hash than its record; SNAPSHOT_UNWRITABLE
   */
  addSegment(dir: string, record: SegmentRecord): ChunkEntry {
    return this.#segment(dir, record, (from, to) => {
      const reason = segmentProblem(from, record)
      if (reason !== undefined) throw storeFault('SEGMENT_DAMAGED', { path: from, reason })
      linkOrCopy(from, to)
    })
  }

  /** Adds a segment file that was built in a directory, and removes it there. @throws Fault SNAPSHOT_UNWRITABLE */
  takeSegment(dir: string, record: SegmentRecord): ChunkEntry {
    return this.#segment(dir, record, renameSync)
  }

  /** @param add gives a file a temporary name in the directory of the snapshot */
  #segment(dir: string, record: SegmentRecord, add: (from: string, to: string) => void): ChunkEntry {
    const name = segmentFileName(record)
    const to = join(this.#dir, name)
    if (segmentProblem(to, record) === undefined) {
      this.reused++
      return entryOf(record)
    }
    this.#guarded(() => {
      const temporary = `${to}${temporaryEnd}`
      add(join(dir, name), temporary)
      openToOthers(temporary)
      renameSync(temporary, to)
    })
    this.written++
    return entryOf(record)
  }

  /** Writes or replaces a file. @throws Fault SNAPSHOT_UNWRITABLE */
  write(name: string, bytes: Uint8Array): void {
    this.#guarded(() => {
      const temporary = join(this.#dir, `${name}${temporaryEnd}`)
      const file = openSync(temporary, 'w', 0o644)
      try {
        for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
        fsyncSync(file)
      } finally {
        closeSync(file)
      }
      renameSync(temporary, join(this.#dir, name))
    })
    this.written++
  }

  #guarded<T>(run: () => T): T {
    try {
      return run()
    } catch (error) {
      if (isFault(error)) throw error
      throw snapshotFault('SNAPSHOT_UNWRITABLE', { dir: this.#dir, reason: errorMessage(error) }, error)
    }
  }
}

/** Gives a file a second name. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch {
    // another file system, or one without links
    copyFileSync(from, to)
  }
}

/** Lets others read a file, as all chunks, and flushes it to the disk. */
function openToOthers(path: string): void {
  const file = openSync(path, 'r')
  try {
    fchmodSync(file, 0o644)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
