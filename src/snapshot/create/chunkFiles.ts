import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '#lib/fault'
import { zstd } from '#lib/zstd'
import { snapshotFault } from '../faults.ts'
import { type ChunkEntry, fileOf, sha256 } from '../format/manifest.ts'

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
