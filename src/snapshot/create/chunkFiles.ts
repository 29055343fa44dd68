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
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '#lib/fault'
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
      for (const name of readdirSync(dir)) if (name.endsWith(temporaryEnd)) rmSync(join(dir, name), { force: true })
    })
  }

  /** Writes a chunk, unless an earlier snapshot has it. @param raw copied before the call returns */
  async add(raw: Uint8Array, place: Pick<ChunkEntry, 'kind' | 'prefix' | 'account' | 'first'>): Promise<ChunkEntry> {
    const rawSize = raw.length
    const bytes = await zstd(new Uint8Array(raw))
    const entry = { ...place, name: sha256(bytes), size: bytes.length, rawSize }
    const path = join(this.#dir, fileOf(entry))
    if (existsSync(path) && statSync(path).size === bytes.length) this.reused++
    else this.write(fileOf(entry), bytes)
    return entry
  }

  /**
   * Adds a segment file of a chain, unless an earlier snapshot has it: as another name of the same file, or as a copy on another file system.
   * @param dir directory of the chain's segment files
   * @throws Fault SEGMENT_DAMAGED when the file has another hash than its record; SNAPSHOT_UNWRITABLE
   */
  addSegment(dir: string, record: SegmentRecord): ChunkEntry {
    const name = segmentFileName(record)
    const [from, to] = [join(dir, name), join(this.#dir, name)]
    if (existsSync(to) && statSync(to).size === record.fileBytes) {
      this.reused++
      return entryOf(record)
    }
    const problem = segmentProblem(from, record)
    if (problem !== undefined) throw storeFault('SEGMENT_DAMAGED', { path: from, reason: problem })
    this.#guarded(() => linkOrCopy(from, to))
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

  #guarded(run: () => void): void {
    try {
      run()
    } catch (error) {
      throw snapshotFault('SNAPSHOT_UNWRITABLE', { dir: this.#dir, reason: errorMessage(error) }, error)
    }
  }
}

/** Gives a file a second name, whole or not at all. */
function linkOrCopy(from: string, to: string): void {
  const temporary = `${to}${temporaryEnd}`
  try {
    linkSync(from, temporary)
  } catch {
    // another file system, or one without links
    copyFileSync(from, temporary)
  }
  const file = openSync(temporary, 'r')
  try {
    // as other chunks: the directory of the chain stays closed to others
    fchmodSync(file, 0o644)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, to)
}
