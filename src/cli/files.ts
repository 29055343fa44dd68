import { readFileSync } from 'node:fs'
import { zstdDecompressSync } from 'node:zlib'
import { errorMessage } from '#lib/fault'
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
export function readFileText(path: string): string {
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
