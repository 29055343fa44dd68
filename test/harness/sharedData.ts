import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'

/** Folder of the recorded data, beside the repository; `BASALT_DATA` names another. */
export const sharedDataDir: string = resolve(process.env['BASALT_DATA'] ?? resolve(import.meta.dirname, '../../../shared/data'))

/** Bytes of a file of the recorded data, decompressed when its name ends in `.zst`. */
export function readShared(path: string): Buffer {
  if (!existsSync(sharedDataDir)) {
    throw new Error(`the recorded data is missing: ${sharedDataDir} (set BASALT_DATA to its folder; npm test needs none of it)`)
  }
  const bytes = readFileSync(resolve(sharedDataDir, path))
  return path.endsWith('.zst') ? zstdDecompressSync(bytes) : bytes
}

export function readSharedJson<T>(path: string): T {
  return JSON.parse(readShared(path).toString('utf8')) as T
}
