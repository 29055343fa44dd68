import { isZero } from '../zeros.ts'

const blockBytes = 512
/** Bytes after the last file that are read: two blocks, and the rest of a record. */
const maxTrailingBytes = 1 << 20

/** Receives the files of an archive, one after the other. `open` throws for a file that the archive must not have. */
export type TarSink = {
  open(name: string, sizeBytes: number): void
  write(bytes: Uint8Array): void
  close(): void
}

/**
 * Reads a tar archive from chunks of any size and keeps one block. Knows regular files in headers of the formats ustar and GNU, with sizes in octal or
 * binary digits. Everything else is refused: folders, links, devices, sparse files, long names, extended headers.
 */
export class TarReader {
  readonly #sink: TarSink
  readonly #damaged: (place: string, reason: string) => Error
  readonly #block = new Uint8Array(blockBytes)
  #filled = 0
  #read = 0
  #content = 0
  #padding = 0
  #hasEnded = false
  #trailing = 0

  constructor(sink: TarSink, damaged: (place: string, reason: string) => Error) {
    this.#sink = sink
    this.#damaged = damaged
  }

  /** Reads the next bytes of the archive. Throws the errors of `damaged` and of the sink. */
  push(chunk: Uint8Array): void {
    let at = 0
    while (at < chunk.length) at += this.#step(chunk.subarray(at))
  }

  /** Checks that the archive is complete. */
  end(): void {
    if (this.#hasEnded) return
    // an archive without the two blocks of zeros is complete when its last file is
    const isBetween = this.#content === 0 && this.#padding === 0 && this.#filled === 0
    if (!isBetween) throw this.#damaged(this.#place, 'it ends inside a file')
  }

  get #place(): string {
    return `byte ${this.#read} of the unpacked archive`
  }

  /** Reads bytes up to the end of the current part. @returns how many */
  #step(bytes: Uint8Array): number {
    const count = this.#hasEnded ? this.#skipTrailing(bytes) : this.#content > 0 ? this.#copy(bytes) : this.#collect(bytes)
    this.#read += count
    return count
  }

  #copy(bytes: Uint8Array): number {
    const count = Math.min(bytes.length, this.#content)
    this.#sink.write(bytes.subarray(0, count))
    this.#content -= count
    if (this.#content === 0) this.#sink.close()
    return count
  }

  /** Collects a header, or skips the bytes that fill the last block of a file. */
  #collect(bytes: Uint8Array): number {
    if (this.#padding > 0) {
      const count = Math.min(bytes.length, this.#padding)
      this.#padding -= count
      return count
    }
    const count = Math.min(bytes.length, blockBytes - this.#filled)
    this.#block.set(bytes.subarray(0, count), this.#filled)
    this.#filled += count
    if (this.#filled === blockBytes) {
      this.#filled = 0
      this.#readHeader(this.#block)
    }
    return count
  }

  #skipTrailing(bytes: Uint8Array): number {
    this.#trailing += bytes.length
    if (this.#trailing > maxTrailingBytes || !isZero(bytes)) throw this.#damaged(this.#place, 'bytes follow its end')
    return bytes.length
  }

  #readHeader(block: Uint8Array): void {
    if (isZero(block)) {
      this.#hasEnded = true
      return
    }
    const header = parseTarHeader(block)
    if (header === undefined) throw this.#damaged(this.#place, 'it has no header of a regular file there')
    this.#sink.open(header.name, header.sizeBytes)
    this.#content = header.sizeBytes
    this.#padding = (blockBytes - (header.sizeBytes % blockBytes)) % blockBytes
    if (this.#content === 0) this.#sink.close()
  }
}

const zero = 0x30
const space = 0x20
const regularKinds = [0, zero]

/** Decodes the header of a regular file. Returns undefined for any other block. */
function parseTarHeader(block: Uint8Array): { readonly name: string; readonly sizeBytes: number } | undefined {
  if (octal(block.subarray(148, 156)) !== checksum(block) || !regularKinds.includes(block[156] ?? 1)) return undefined
  const sizeBytes = (block[124] ?? 0) >= 0x80 ? binary(block.subarray(124, 136)) : octal(block.subarray(124, 136))
  const name = text(block.subarray(0, 100))
  const isPosix = text(block.subarray(257, 263)) === 'ustar' && block[262] === 0
  const prefix = isPosix ? text(block.subarray(345, 500)) : ''
  if (sizeBytes === undefined || name === undefined || name === '' || prefix === undefined) return undefined
  return { name: prefix === '' ? name : `${prefix}/${name}`, sizeBytes }
}

/** Sum of all bytes of a header, those of the checksum counted as spaces. */
function checksum(block: Uint8Array): number {
  let sum = 0
  for (let at = 0; at < blockBytes; at++) sum += at >= 148 && at < 156 ? space : (block[at] ?? 0)
  return sum
}

/** Decodes a field of octal digits, ended by a zero byte or a space. Returns undefined for other bytes. */
function octal(field: Uint8Array): number | undefined {
  const digits = String.fromCharCode(...field)
    .replace(/[\0 ]+$/, '')
    .trimStart()
  return /^[0-7]{1,12}$/.test(digits) ? Number.parseInt(digits, 8) : undefined
}

/** Decodes a field of a size of 8 GiB and more: the highest bit, then a big-endian number. */
function binary(field: Uint8Array): number | undefined {
  let value = (field[0] ?? 0) & 0x7f
  for (const byte of field.subarray(1)) value = value * 256 + byte
  return Number.isSafeInteger(value) ? value : undefined
}

/** Decodes a field of printable ASCII, ended by a zero byte. */
function text(field: Uint8Array): string | undefined {
  const end = field.indexOf(0)
  const bytes = end < 0 ? field : field.subarray(0, end)
  return bytes.every((byte) => byte >= space && byte < 0x7f) ? String.fromCharCode(...bytes) : undefined
}
