import { createReadStream, fstatSync, openSync, readFileSync } from 'node:fs'
import { pipeline, type Readable } from 'node:stream'
import { createZstdDecompress, zstdDecompressSync } from 'node:zlib'
import { errorMessage, isFault } from '#lib/fault'
import { cliFault } from './faults.ts'

/** Bound of zstd output; expected files are far below it. */
const maxOutputBytes = 2 ** 31 - 1

/**
 * Reads a whole file; a file named .zst is decompressed.
 * @throws Fault UNREADABLE_FILE, BAD_FILE (fatal)
 */
function readFileBytes(path: string): Uint8Array {
  let bytes: Uint8Array
  try {
    bytes = readFileSync(path)
  } catch (error) {
    throw cliFault('UNREADABLE_FILE', { path, reason: errorMessage(error) }, error)
  }
  if (!path.endsWith('.zst')) return bytes
  try {
    return zstdDecompressSync(bytes, { maxOutputLength: maxOutputBytes })
  } catch (error) {
    throw cliFault('BAD_FILE', { path, expected: 'a zstd file', reason: errorMessage(error) }, error)
  }
}

/** Reads a file as UTF-8. @throws Fault UNREADABLE_FILE, BAD_FILE (fatal) */
function readFileText(path: string): string {
  return Buffer.from(readFileBytes(path)).toString('utf8')
}

/** @throws Fault UNREADABLE_FILE, BAD_FILE (fatal) */
export function readJsonFile(path: string): unknown {
  const text = readFileText(path)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw cliFault('BAD_FILE', { path, expected: 'JSON', reason: errorMessage(error) }, error)
  }
}

/** Maximum characters of a line of `readFileLines`. */
const maxLineChars = 2 ** 28
/** Size of the pieces in which a file of lines is read. */
const pieceBytes = 2 ** 18

/** Lines of a file. A consumer that stops closes the file. */
export type FileLines = {
  /** Reading throws Fault UNREADABLE_FILE, BAD_FILE (fatal). */
  readonly lines: AsyncIterable<string>
  /** Returns the part of the file that has been read, from 0 to 1. */
  readShare(): number
}

/**
 * Opens a UTF-8 file of lines, which may be larger than memory; a file named .zst is decompressed.
 * @throws Fault UNREADABLE_FILE (fatal)
 */
export function readFileLines(path: string): FileLines {
  const unreadable = (error: unknown): Error => cliFault('UNREADABLE_FILE', { path, reason: errorMessage(error) }, error)
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    throw unreadable(error)
  }
  const file = createReadStream(path, { fd, highWaterMark: pieceBytes })
  const sizeBytes = fstatSync(fd).size
  let fileError: Error | undefined
  file.once('error', (error) => {
    fileError = error
  })
  const text: Readable = path.endsWith('.zst') ? pipeline(file, createZstdDecompress(), () => {}) : file
  async function* lines(): AsyncGenerator<string> {
    try {
      yield* linesOf(path, text.setEncoding('utf8'))
      if (text !== file && file.bytesRead === 0) throw new Error('no bytes')
    } catch (error) {
      if (isFault(error)) throw error
      throw fileError ? unreadable(fileError) : cliFault('BAD_FILE', { path, expected: 'a zstd file', reason: errorMessage(error) }, error)
    }
  }
  return { lines: lines(), readShare: () => Math.min(1, file.bytesRead / Math.max(1, sizeBytes)) }
}

/** @throws Fault BAD_FILE (fatal) when a line is too long */
async function* linesOf(path: string, pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let begun: string[] = []
  let chars = 0
  for await (const piece of pieces) {
    const [first = '', ...rest] = piece.split('\n')
    begun.push(first)
    chars += first.length
    if (chars > maxLineChars)
      throw cliFault('BAD_FILE', { path, expected: 'a file of lines', reason: `a line exceeds ${maxLineChars} characters` })
    const next = rest.pop()
    if (next === undefined) continue
    yield begun.join('')
    yield* rest
    begun = [next]
    chars = next.length
  }
  if (chars > 0) yield begun.join('')
}
