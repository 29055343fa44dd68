import { existsSync } from 'node:fs'
import type { Fault } from '#lib/fault'
import { rethFault } from '../../faults.ts'
import { DataFile } from '../dataFile.ts'
import { u64Le } from '../littleEndian.ts'
import { decodeLz4Block } from './lz4.ts'
import { parseStaticConfig, type StaticConfig } from './staticConfig.ts'

/** Most bytes of one row, whatever the file's configuration says. */
const maxRowBytes = 1 << 20
const maxConfigBytes = 4_096

/**
 * Rows of one segment file: `<path>` has the bytes of all columns, row by row, `<path>.off` their ends, `<path>.conf` the numbers of rows and columns.
 */
export class StaticFile implements Disposable {
  readonly config: StaticConfig
  readonly #data: DataFile
  readonly #offsets: DataFile
  readonly #offsetBytes: number

  /** Opens a segment file of blocks. Throws Fault SNAPSHOT_FILE_MISSING, SNAPSHOT_FILE_DAMAGED, SNAPSHOT_FORMAT_UNSUPPORTED. */
  constructor(path: string) {
    this.config = readConfig(`${path}.conf`)
    this.#data = new DataFile(path)
    try {
      this.#offsets = new DataFile(`${path}.off`)
    } catch (error) {
      this.#data[Symbol.dispose]()
      throw error
    }
    try {
      this.#offsetBytes = this.#offsets.read(0, 1)[0] ?? 0
      const { rows, columns } = this.config
      if (this.#offsetBytes === 0 || this.#offsetBytes > 8) throw this.#offsets.damaged('byte 0', `offsets of ${this.#offsetBytes} bytes`)
      if (this.#offsets.sizeBytes < 1 + (rows * columns + 1) * this.#offsetBytes)
        throw this.#offsets.damaged(`byte ${this.#offsets.sizeBytes}`, `it is too short for ${rows} rows of ${columns} columns`)
    } catch (error) {
      this[Symbol.dispose]()
      throw error
    }
  }

  /** Returns the columns of a row, decompressed. Throws RangeError beyond the last row, Fault SNAPSHOT_FILE_DAMAGED. */
  row(index: number): readonly Uint8Array[] {
    const { rows, columns } = this.config
    if (index < 0 || index >= rows) throw new RangeError(`row ${index} of ${rows}`)
    const width = this.#offsetBytes
    const offsets = this.#offsets.read(1 + index * columns * width, (columns + 1) * width)
    return Array.from({ length: columns }, (_, column) => {
      const from = offsetAt(offsets, column * width, width)
      const to = offsetAt(offsets, (column + 1) * width, width)
      return this.#column(index, from, to)
    })
  }

  #column(row: number, from: number, to: number): Uint8Array {
    if (to < from || to - from > maxRowBytes || to > this.#data.sizeBytes)
      throw this.#offsets.damaged(`row ${row}`, `it is at ${from} to ${to} of ${this.#data.sizeBytes} bytes`)
    const stored = this.#data.read(from, to - from)
    if (!this.config.isCompressed) return stored
    const bytes = decodeLz4Block(stored, Math.min(this.config.maxRowBytes, maxRowBytes))
    if (!bytes) throw this.damaged(row, 'it cannot be decompressed')
    return bytes
  }

  damaged(row: number, reason: string): Fault {
    return this.#data.damaged(`row ${row}`, reason)
  }

  [Symbol.dispose](): void {
    this.#data[Symbol.dispose]()
    this.#offsets[Symbol.dispose]()
  }
}

function offsetAt(bytes: Uint8Array, at: number, width: number): number {
  const padded = new Uint8Array(8)
  padded.set(bytes.subarray(at, at + width))
  return u64Le(padded, 0)
}

function readConfig(path: string): StaticConfig {
  if (!existsSync(path)) throw rethFault('SNAPSHOT_FILE_MISSING', { file: path, reason: 'there is no such file' })
  using file = new DataFile(path)
  const config = file.sizeBytes > maxConfigBytes ? undefined : parseStaticConfig(file.read(0, file.sizeBytes))
  if (config === undefined) throw file.damaged('its fields', 'they are not the configuration of a segment')
  if (config === 'unknown') throw rethFault('SNAPSHOT_FORMAT_UNSUPPORTED', { file: file.name, reason: 'its version or compression' })
  return config
}
