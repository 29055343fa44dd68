import { once } from 'node:events'
import { createReadStream, createWriteStream, fstatSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { type Readable, pipeline as startPipeline } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress, zstdDecompressSync } from 'node:zlib'
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
export const readJsonFile = (path: string): unknown => parseJson(path, readFileText(path))

/** Reads JSON of at most `maxChars` characters; `-` is the standard input. @throws Fault UNREADABLE_FILE, BAD_FILE (fatal) */
export async function readJsonInput(path: string, maxChars: number): Promise<unknown> {
  let text = ''
  for await (const line of readFileLines(path).lines) {
    text += `${line}\n`
    if (text.length > maxChars)
      throw cliFault('BAD_FILE', { path, expected: 'JSON of that size', reason: `more than ${maxChars} characters` })
  }
  return parseJson(path, text)
}

function parseJson(path: string, text: string): unknown {
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
  /** Returns the part of the file that has been read, from 0 to 1; undefined: its size is unknown. */
  readShare(): number | undefined
}

/**
 * Opens a UTF-8 file of lines, which may be larger than memory; a file named .zst is decompressed. `-` is the standard input, not compressed.
 * @throws Fault UNREADABLE_FILE (fatal)
 */
export function readFileLines(path: string): FileLines {
  const unreadable = (error: unknown): Error => cliFault('UNREADABLE_FILE', { path, reason: errorMessage(error) }, error)
  let fd: number
  try {
    fd = path === '-' ? process.stdin.fd : openSync(path, 'r')
  } catch (error) {
    throw unreadable(error)
  }
  const file = createReadStream(path, { fd, highWaterMark: pieceBytes })
  const facts = fstatSync(fd)
  const sizeBytes = facts.isFile() ? facts.size : undefined
  let fileError: Error | undefined
  file.once('error', (error) => {
    fileError = error
  })
  const text: Readable = path.endsWith('.zst') ? startPipeline(file, createZstdDecompress(), () => {}) : file
  async function* lines(): AsyncGenerator<string> {
    try {
      yield* linesOf(path, text.setEncoding('utf8'))
      if (text !== file && file.bytesRead === 0) throw new Error('no bytes')
    } catch (error) {
      if (isFault(error)) throw error
      throw fileError ? unreadable(fileError) : cliFault('BAD_FILE', { path, expected: 'a zstd file', reason: errorMessage(error) }, error)
    }
  }
  return { lines: lines(), readShare: () => (sizeBytes === undefined ? undefined : Math.min(1, file.bytesRead / Math.max(1, sizeBytes))) }
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

/** A text file that appears with its whole content, or not at all. */
export interface TextFile extends AsyncDisposable {
  /** Waits until there is room for more. @throws Fault UNWRITABLE_FILE (fatal) */
  write(text: string): Promise<void>
  /** Completes the file and puts it in place of an older one. Without it, disposing removes what was written. @throws Fault UNWRITABLE_FILE (fatal) */
  finish(): Promise<void>
}

/**
 * Creates a UTF-8 file; a file named .zst is compressed. `-` is the standard output, not compressed.
 * @throws Fault UNWRITABLE_FILE (fatal)
 */
export function createTextFile(path: string): TextFile {
  const isOutput = path === '-'
  const begun = `${path}.part`
  const unwritable = (error: unknown): Error => cliFault('UNWRITABLE_FILE', { path, reason: errorMessage(error) }, error)
  let fd: number
  try {
    fd = isOutput ? process.stdout.fd : openSync(begun, 'w', 0o644)
  } catch (error) {
    throw unwritable(error)
  }
  const file = createWriteStream(path, { fd, autoClose: !isOutput, flush: !isOutput })
  const compressor = path.endsWith('.zst') ? createZstdCompress() : undefined
  const ended = compressor ? pipeline(compressor, file) : finished(file)
  // a failure is thrown by the next write, or at the end
  ended.catch(() => {})
  const target = compressor ?? file
  let isInPlace = isOutput
  return {
    async write(text): Promise<void> {
      if (target.write(text)) return
      const failed = ended.then(() => Promise.reject(new Error('the file is closed')))
      await Promise.race([once(target, 'drain'), failed]).catch((error: unknown) => Promise.reject(unwritable(error)))
    },
    async finish(): Promise<void> {
      target.end()
      try {
        await ended
        if (!isInPlace) renameSync(begun, path)
        isInPlace = true
      } catch (error) {
        throw unwritable(error)
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      if (isInPlace) return
      target.destroy()
      await ended.catch(() => {})
      rmSync(begun, { force: true })
    },
  }
}
