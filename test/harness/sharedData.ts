import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'

/** Folder of the recorded data, next to the repository; `BASALT_DATA` overrides it. */
export const sharedDataDir: string = resolve(process.env['BASALT_DATA'] ?? resolve(import.meta.dirname, '../../../shared/data'))

/** Returns the bytes of a file of the recorded data, decompressed when its name ends in `.zst`. */
export function readShared(path: string): Buffer {
  if (!existsSync(sharedDataDir)) {
    throw new Error(`recorded data not found in ${sharedDataDir}; set BASALT_DATA to its folder (npm test does not need it)`)
  }
  const bytes = readFileSync(resolve(sharedDataDir, path))
  return path.endsWith('.zst') ? zstdDecompressSync(bytes) : bytes
}

export function readSharedJson<T>(path: string): T {
  return JSON.parse(readShared(path).toString('utf8')) as T
}
